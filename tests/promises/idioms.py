"""How people's forwards write to what is not the module: a small model for each way.

Each function makes everything afresh, classes and caches too, and returns the model and the
arguments of its forward.
"""

import collections
import contextlib
import copy
import dataclasses
import functools
import itertools
import os
import random
import threading
import types
import warnings
import weakref

import numpy as np
import torch
from torch import nn

X = torch.linspace(-1, 1, 8).reshape(2, 4)


def calls(*arguments):
    """An idiom: a model of one linear layer whose forward is the decorated function."""

    def decorated(write):
        @functools.wraps(write)
        def make():
            forward = write()

            class Idiom(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layer = nn.Linear(4, 4)

                def forward(self, *args):
                    return forward(self, *args)

            return Idiom(), tuple(copy.deepcopy(arguments)) or (X.clone(),)

        IDIOMS[write.__name__] = make
        return make

    return decorated


def made(make):
    """An idiom that makes the model and the arguments itself."""
    IDIOMS[make.__name__] = make
    return make


IDIOMS = {}

# Caches of functions, classes and modules.


@calls()
def lru_cached_mask():
    @functools.lru_cache
    def mask(size):
        return torch.ones(size, size).tril()

    return lambda self, x: self.layer(x) @ mask(4)


@calls()
def lru_cached_mask_like_the_input():
    @functools.lru_cache
    def mask(size, device, dtype):
        return torch.ones(size, size, device=device, dtype=dtype).tril()

    return lambda self, x: self.layer(x) @ mask(4, x.device, x.dtype)


@calls()
def cached_statistic_of_the_input():
    @functools.lru_cache
    def mean(name):
        return values[name].mean()

    values = {}

    def forward(self, x):
        values["x"] = x
        return self.layer(x) * mean("x")

    return forward


@calls()
def rotary_table_in_a_class_attribute():
    class Rotary:
        table = None

        @classmethod
        def get(cls, x):
            if cls.table is None or cls.table.device != x.device:
                cls.table = torch.arange(4, device=x.device).float().cos()
            return cls.table

    return lambda self, x: self.layer(x) * Rotary.get(x)


@calls()
def class_attribute_that_is_made_once():
    class Table:
        values = None

    def forward(self, x):
        if Table.values is None:
            Table.values = x.new_ones(4) * 2
        return self.layer(x) * Table.values

    return forward


@calls()
def dictionary_of_a_module():
    module = types.ModuleType("tables")
    module.CACHE = {}

    def forward(self, x):
        if x.shape not in module.CACHE:
            module.CACHE[x.shape] = torch.zeros_like(x) + 3
        return self.layer(x) + module.CACHE[x.shape]

    return forward


@calls()
def mutable_default():
    def forward(self, x, cache={}):  # noqa: B006
        if "scale" not in cache:
            cache["scale"] = x.abs().max()
        return self.layer(x) * cache["scale"]

    return forward


@calls()
def mutable_default_list():
    def forward(self, x, seen=[]):  # noqa: B006
        seen.append(x)
        return self.layer(x) + sum(seen)

    return forward


@calls()
def closure_with_nonlocal():
    last = None

    def forward(self, x):
        nonlocal last
        last = self.layer(x) if last is None else last + self.layer(x)
        return last

    return forward


@calls()
def attribute_of_a_function():
    def forward(self, x):
        forward.calls = getattr(forward, "calls", 0) + 1
        forward.last = x
        return self.layer(x) * forward.calls

    return forward


@made
def cache_on_a_method():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        @functools.cache  # noqa: B019
        def bias(self, size):
            return self.layer.weight.sum(0)[:size] * 2

        def forward(self, x):
            return self.layer(x) + self.bias(4)

    return Net(), (X,)


@made
def cached_property_of_a_helper():
    class Helper:
        @functools.cached_property
        def table(self):
            return torch.arange(4.0)

    class Net(nn.Module):
        helper = Helper()

        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            return self.layer(x) + self.helper.table

    return Net(), (X,)


@calls()
def single_instance():
    class Registry:
        instance = None

        def __new__(cls):
            if cls.instance is None:
                cls.instance = super().__new__(cls)
                cls.instance.tensors = []
            return cls.instance

    def forward(self, x):
        Registry().tensors.append(x)
        return self.layer(x) * len(Registry().tensors)

    return forward


@calls()
def weak_dictionary():
    cache = weakref.WeakKeyDictionary()

    def forward(self, x):
        if self not in cache:
            cache[self] = x.detach() * 2
        return self.layer(x) + cache[self]

    return forward


@calls()
def thread_local():
    local = threading.local()

    def forward(self, x):
        if not hasattr(local, "table"):
            local.table = torch.ones_like(x)
        return self.layer(x) + local.table

    return forward


# Counters and lists of classes and modules.


@calls()
def counter_of_a_class():
    class Count:
        calls = 0

    def forward(self, x):
        Count.calls += 1
        return self.layer(x) * Count.calls

    return forward


@calls()
def itertools_count_beside():
    numbers = itertools.count(1)
    return lambda self, x: self.layer(x) * next(numbers)


@calls()
def counter_in_a_collection():
    counter = collections.Counter()

    def forward(self, x):
        counter["calls"] += 1
        return self.layer(x) * counter["calls"]

    return forward


@calls()
def bounded_queue():
    queue = collections.deque(maxlen=3)

    def forward(self, x):
        queue.append(self.layer(x))
        return torch.stack(list(queue)).mean(0)

    return forward


@calls()
def statistics_logged_in_a_global_list():
    log = []

    def forward(self, x):
        log.append(float(x.mean()) + len(log))
        return self.layer(x) * log[-1]

    return forward


# Objects that the module holds.


@made
def simple_namespace():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.state = types.SimpleNamespace(step=0, last=None)

        def forward(self, x):
            self.state.step += 1
            self.state.last = x if self.state.last is None else self.state.last + x
            return self.layer(self.state.last) * self.state.step

    return Net(), (X,)


@made
def slots_dataclass():
    @dataclasses.dataclass(slots=True)
    class State:
        step: int = 0
        hidden: torch.Tensor | None = None

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.state = State()

        def forward(self, x):
            self.state.step += 1
            before = 0 if self.state.hidden is None else self.state.hidden
            self.state.hidden = self.layer(x) + before
            return self.state.hidden * self.state.step

    return Net(), (X,)


@made
def object_with_its_own_reduce():
    class State:
        def __init__(self):
            self.cache = {}

        def __reduce__(self):
            raise TypeError("not to be copied")

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.state = State()

        def forward(self, x):
            self.state.cache.setdefault("scale", x.sum() + 1)
            return self.layer(x) * self.state.cache["scale"]

    return Net(), (X,)


@made
def object_with_its_own_new():
    class State:
        def __new__(cls, size):
            self = super().__new__(cls)
            self.size, self.seen = size, []
            return self

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.state = State(4)

        def forward(self, x):
            self.state.seen.append(self.layer(x))
            return sum(self.state.seen)

    return Net(), (X,)


@made
def iterator_that_is_held():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.scales = iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])

        def forward(self, x):
            return self.layer(x) * next(self.scales)

    return Net(), (X,)


@made
def generator_that_is_held():
    def doubling():
        scale = 1.0
        while True:
            yield scale
            scale *= 2

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.scales = doubling()

        def forward(self, x):
            return self.layer(x) * next(self.scales)

    return Net(), (X,)


@made
def numpy_array_that_is_held():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.counts = np.zeros(4)

        def forward(self, x):
            self.counts += 1
            return self.layer(x) + torch.from_numpy(self.counts).float()

    return Net(), (X,)


@made
def submodule_out_of_sight():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.hidden = (lambda: hidden,)

        def forward(self, x):
            hidden.steps += 1
            return hidden(self.layer(x)) * hidden.steps

    hidden = nn.Linear(4, 4)
    hidden.register_buffer("steps", torch.zeros(()))
    return Net(), (X,)


@made
def weakref_proxy_of_a_parent():
    class Part(nn.Module):
        def forward(self, x):
            self.parent.calls += 1
            return x * self.parent.calls

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.part, self.calls = nn.Linear(4, 4), Part(), 0
            self.part.__dict__["parent"] = weakref.proxy(self)

        def forward(self, x):
            return self.part(self.layer(x))

    return Net(), (X,)


@made
def attention_that_keeps_its_keys():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.keys = {}

        def forward(self, x):
            self.keys.setdefault("past", []).append(self.layer(x))
            past = torch.cat(self.keys["past"])
            return (x @ past.T).softmax(-1) @ past

    return Net(), (X,)


# Objects that are given as inputs.


@made
def dynamic_cache_that_is_given():
    from transformers import DynamicCache, GPT2Config, GPT2Model

    model = GPT2Model(GPT2Config(n_embd=16, n_layer=2, n_head=2, vocab_size=50, n_positions=64))
    cache = DynamicCache(config=model.config)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = model.eval()

        def forward(self, ids, past):
            return self.inner(ids, past_key_values=past, use_cache=True).last_hidden_state

    return Net(), (torch.arange(5)[None], cache)


@made
def dynamic_cache_with_values():
    model, (ids, cache) = dynamic_cache_that_is_given()
    with torch.no_grad():
        model(ids, cache)
    return model, (ids, cache)


@calls(types.SimpleNamespace(x=X, seen=[]))
def namespace_that_is_given():
    def forward(self, batch):
        batch.seen.append(batch.x)
        batch.x = batch.x + 1
        return self.layer(batch.x) * len(batch.seen)

    return forward


@calls({"x": X, "log": []})
def dictionary_that_is_given():
    def forward(self, batch):
        batch["log"].append(1)
        batch["x"] += 1
        return self.layer(batch["x"]) * len(batch["log"])

    return forward


@calls(np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4))
def numpy_array_that_is_given():
    def forward(self, array):
        array += 1
        return self.layer(torch.from_numpy(array.copy()))

    return forward


@calls(X)
def tensor_that_is_written_to():
    def forward(self, x):
        x.add_(1)
        return self.layer(x)

    return forward


@made
def batch_encoding_in_a_tuple():
    from transformers import BatchEncoding

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(10, 4)

        def forward(self, pair):
            batch, scale = pair
            batch["input_ids"] = (batch["input_ids"] + 1) % 10
            return self.embed(batch["input_ids"]) * scale

    return Net(), ((BatchEncoding({"input_ids": torch.arange(5)[None]}), 2.0),)


@made
def iterator_that_is_given():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, batches):
            return self.layer(next(batches))

    return Net(), (iter([X, X + 1, X + 2, X + 3]),)


@made
def object_of_the_users_own():
    class Sample:
        def __init__(self, x):
            self.x, self.uses = x, 0

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, sample):
            sample.uses += 1
            sample.x = self.layer(sample.x)
            return sample.x * sample.uses

    return Net(), (Sample(X),)


@made
def state_that_is_given():
    @dataclasses.dataclass(slots=True)
    class State:
        h: torch.Tensor

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x, state):
            state.h = torch.tanh(self.layer(x) + state.h)
            return state.h

    return Net(), (X, State(torch.zeros(2, 4)))


# What belongs to the process.


@calls()
def global_seed():
    def forward(self, x):
        torch.manual_seed(7)
        return self.layer(x) + torch.rand(4)

    return forward


@calls()
def random_draws():
    def forward(self, x):
        return self.layer(x) + torch.rand(4) + random.random() + np.random.rand()

    return forward


@calls()
def draws_of_a_generator_beside():
    generator = torch.Generator().manual_seed(3)
    return lambda self, x: self.layer(x) + torch.rand(4, generator=generator)


@calls()
def draws_of_a_numpy_generator_beside():
    generator = np.random.default_rng(3)
    return lambda self, x: self.layer(x) * generator.random()


@made
def draws_of_a_generator_that_is_given():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x, generator):
            return self.layer(x) + torch.rand(4, generator=generator)

    return Net(), (X, torch.Generator().manual_seed(5))


@calls()
def default_dtype():
    def forward(self, x):
        scale = torch.ones(()) * torch.get_default_dtype().itemsize
        torch.set_default_dtype(torch.float64)
        return self.layer(x) * scale.float()

    return forward


@calls()
def gradients_switched_on():
    def forward(self, x):
        before = torch.is_grad_enabled()
        torch.set_grad_enabled(True)
        return self.layer(x) * (1 + before)

    return forward


@calls()
def warnings_filters():
    def forward(self, x):
        warnings.simplefilter("error", category=BytesWarning)
        return self.layer(x) * len(warnings.filters)

    return forward


@calls()
def environment_variable():
    def forward(self, x):
        os.environ["NAR_TEST_CALLS"] = "1" + os.environ.get("NAR_TEST_CALLS", "")
        return self.layer(x) * len(os.environ["NAR_TEST_CALLS"])

    return forward


@calls()
def patched_module():
    module = types.ModuleType("layers")
    module.activation = torch.relu

    def forward(self, x):
        out = module.activation(self.layer(x))
        module.activation = torch.sigmoid
        return out

    return forward


@calls()
def class_of_a_submodule_is_changed():
    class Layer(nn.Linear):
        scale = 1.0

    layer = Layer(4, 4)

    def forward(self, x):
        Layer.scale *= 2
        return layer(x) * Layer.scale

    return forward


@calls()
def module_hooks_of_all_modules():
    seen = []

    def forward(self, x):
        with contextlib.closing(_Removed(nn.modules.module.register_module_forward_hook)) as hooks:
            hooks.add(lambda *_: seen.append(1))
            return self.layer(x) * (1 + len(seen))

    return forward


class _Removed:
    def __init__(self, register):
        self.register, self.handles = register, []

    def add(self, hook):
        self.handles.append(self.register(hook))

    def close(self):
        for handle in self.handles:
            handle.remove()
