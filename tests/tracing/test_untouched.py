"""The user's model is bit for bit what it was, also when the trace fails or a thread runs it."""

import gc
import random
import threading
from collections import Counter, OrderedDict, deque

import numpy as np
import pytest
import torch
from models import ConvNet, NanoGPT
from torch import nn

from nar_plugin.errors import NarError
from nar_plugin.tracing import trace

IMAGE = torch.randn(1, 3, 32, 32)


def frozen(value, depth=8):
    """A value that compares equal only to an unchanged copy of itself, identities included."""
    if isinstance(value, torch.Tensor):
        content = None if value.is_meta else value.detach().clone()
        facts = (id(value), value.dtype, value.device, value.requires_grad, value._version)
        return (*facts, frozen(value.grad, depth - 1), content)
    if depth == 0 or isinstance(value, nn.Module):
        return id(value)
    if isinstance(value, dict):
        return (type(value), [(key, frozen(item, depth - 1)) for key, item in value.items()])
    if isinstance(value, list | tuple | deque):
        return (type(value), [frozen(item, depth - 1) for item in value])
    if isinstance(value, set):
        return set(value)
    if hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):
        return (id(value), frozen(vars(value), depth - 1))
    return (id(value), value) if isinstance(value, int | float | str | bool) else id(value)


def same(a, b):
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return torch.equal(a, b)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return a == b


def snapshot(model):
    return [frozen(module.__dict__) for module in model.modules()]


class Restless(nn.Module):
    """Changes itself whenever it runs: caches, counters, lists, attributes, batch statistics."""

    def __init__(self, fail=False):
        super().__init__()
        self.net = ConvNet()
        self.cache = {}
        self.nested = OrderedDict(a=[1, {"deep": deque([1])}], b={1, 2})
        self.counts = Counter()
        self.calls = 0
        self.fail = fail
        self.register_buffer("steps", torch.zeros(1))

    def forward(self, x):
        self.calls += 1
        self.counts["calls"] += 1
        self.cache[str(x.device)] = x * 2
        self.nested["a"].append(x)
        self.nested["a"][1]["deep"].append(2)
        self.nested["b"].add(3)
        self.steps += 1
        self.new_attribute = torch.rand(3) + random.random() + np.random.rand()
        self.net.train()
        out = self.net(x)
        if self.fail:
            raise RuntimeError("half-way")
        return out


def random_state():
    return torch.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist()


@pytest.mark.parametrize("fail", [False, True], ids=["traced", "failed half-way"])
def test_nothing_changes(fail):
    model = Restless(fail)
    model.net.stem.weight.grad = torch.ones_like(model.net.stem.weight)
    model.net.head.requires_grad_(False)
    model.net.conv.eval()
    before, randomness = snapshot(model), random_state()
    if fail:
        with pytest.raises((NarError, RuntimeError), match="half-way"):
            trace(model, IMAGE)
    else:
        trace(model, IMAGE)
    assert same(before, snapshot(model))
    assert random_state() == randomness


def test_the_snapshot_itself_sees_a_change():
    model = Restless()
    before = snapshot(model)
    model(IMAGE)
    assert not same(before, snapshot(model))


def test_efficientformer_keeps_its_bias_cache():
    timm = pytest.importorskip("timm")
    model = timm.create_model("efficientformer_l1").eval()
    with torch.no_grad():
        model(torch.randn(1, 3, 224, 224))
    before = snapshot(model)
    trace(model)
    assert same(before, snapshot(model))


def test_a_thread_that_runs_the_model_meanwhile_gets_its_own_results():
    model = NanoGPT(layers=2, vocabulary=100, width=48).eval()
    ids = torch.arange(16)[None]
    with torch.no_grad():
        expected = model(ids)
    stop, wrong = threading.Event(), []

    def run():
        with torch.no_grad():
            while not stop.is_set():
                out = model(ids)
                if out.is_meta or not torch.equal(out, expected):
                    wrong.append(out)

    thread = threading.Thread(target=run)
    thread.start()
    for _ in range(20):
        trace(model, ids)
    stop.set()
    thread.join()
    assert not wrong


def test_observers_are_not_run_and_needed_hooks_are():
    seen = []
    model = nn.Sequential(
        nn.utils.weight_norm(nn.Linear(4, 4)),
        nn.utils.parametrizations.weight_norm(nn.Linear(4, 4)),
        nn.utils.parametrizations.spectral_norm(nn.Linear(4, 4)),
        nn.utils.spectral_norm(nn.Linear(4, 4)),
    )
    model[0].register_forward_hook(lambda *_: seen.append("forward"))
    model[1].register_forward_pre_hook(lambda *_: seen.append("before"))
    before = snapshot(model)
    graph = trace(model, torch.empty(1, 4))
    assert [op.kind for op in graph.ops].count("linear") == 4
    assert seen == []
    assert same(before, snapshot(model))
    model(torch.empty(1, 4))
    assert seen == ["forward", "before"]


def test_a_model_that_keeps_what_its_own_hooks_collect():
    class Collector:
        def __init__(self):
            self.outputs = []

        def __call__(self, module, inputs, output):
            self.outputs.append(output)

        def collect(self, module, inputs, output):
            self.outputs.append(output)

    class Hooked(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
            self.collector = Collector()
            self.a.register_forward_hook(self.collector.collect)

        def forward(self, x):
            self.b(self.a(x))
            return self.collector.outputs.pop()

    assert [op.kind for op in trace(Hooked(), torch.empty(1, 4)).ops] == ["linear"]


ACTIVATIONS = {}


def kept_as(name):
    def hook(module, inputs, output):
        ACTIVATIONS[name] = output

    return hook


def kept_in(store):
    return lambda module, inputs, output, *, key="last": store.update({key: output})


class ReadsBack(nn.Module):
    """As in MiDaS: hooks write into a dict that the forward finds as an attribute."""

    def __init__(self, store, hook):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        self.store = store
        self.a.register_forward_hook(hook)

    def forward(self, x):
        self.a(x)
        return self.b(self.store["last"])


@pytest.mark.parametrize("through", ["global", "closure"])
def test_a_dict_that_hooks_of_the_model_write_into(through):
    store = ACTIVATIONS if through == "global" else {}
    hook = kept_as("last") if through == "global" else kept_in(store)
    graph = trace(ReadsBack(store, hook), torch.empty(1, 4))
    assert [op.kind for op in graph.ops] == ["linear", "linear"]
    assert store == {}


class Entries(dict):
    """yacs' CfgNode and its like."""

    def __getattr__(self, name):
        return self[name]

    __setattr__ = dict.__setitem__


class OwnEntries(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


class Described(dict):
    def __init__(self, text, **entries):
        super().__init__(**entries)
        self.text = text


@pytest.mark.parametrize(
    "config",
    [
        Entries(width=4, inner=Entries(bias=True)),
        OwnEntries(width=4, inner=OwnEntries(bias=True)),
        Described("small", width=4, inner={"bias": True}),
    ],
    ids=lambda config: type(config).__name__,
)
def test_a_config_keeps_its_class(config):
    class Configured(nn.Module):
        def __init__(self):
            super().__init__()
            self.config = config
            self.layer = nn.Linear(config["width"], 4)

        def forward(self, x):
            assert type(self.config) is type(config)
            assert type(self.config["inner"]) is type(config["inner"])
            if isinstance(self.config, Described):
                return self.layer(x) if self.config.text == "small" else x
            self.config.width = 5
            return self.layer(x) if self.config["width"] == 5 and self.config.inner.bias else x

    before = frozen(config)
    graph = trace(Configured(), torch.empty(1, 4))
    assert [op.kind for op in graph.ops] == ["linear"]
    assert same(before, frozen(config))


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_it_was(enabled):
    class Asks(nn.Linear):
        def forward(self, x):
            inside.append(gc.isenabled())
            return super().forward(x)

    inside = []
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        trace(Asks(4, 2), torch.empty(1, 4))
        assert inside == [False]
        assert gc.isenabled() == enabled
        with pytest.raises(NarError):
            trace(nn.Linear(4, 2), torch.empty(1, 5))
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()
