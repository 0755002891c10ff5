"""Random modules: recipes of layers, control flow and topologies, and what is made of them.

A recipe is plain data whose repr can be pasted into a test: `build(Recipe(...))` is the module.
"""

from typing import NamedTuple

import torch
from fuzzed_effects import ENDINGS
from fuzzed_layers import LAYERS, SHAPE, fit, layer
from fuzzed_steps import STEPS
from hypothesis import strategies as st
from torch import nn
from torch.utils.checkpoint import checkpoint

JOINS = ("add", "cat", "mul", "stack", "nested")


class Layer(NamedTuple):
    kind: str
    n: int


class Step(NamedTuple):
    kind: str
    n: int


class Chain(NamedTuple):
    parts: list


class Residual(NamedTuple):
    part: object


class Branches(NamedTuple):
    parts: list
    join: str


class Shared(NamedTuple):
    """One module, called again and again."""

    part: object
    times: int


class Wrapped(NamedTuple):
    part: object
    how: str


class Recipe(NamedTuple):
    part: object
    wrapping: str
    ending: str
    inputs: str


def _look(module, inputs, output):
    """A hook that changes nothing."""


class Stepping(nn.Module):
    """One step, with all the state that a step may use."""

    def __init__(self, kind, n):
        super().__init__()
        self.kind, self.n = kind, n
        self.scale = nn.Parameter(torch.rand(8, 1))
        self.register_buffer("running", torch.zeros(1))
        self.register_buffer("seen", torch.tensor(0))
        self.cache, self.log, self.calls = {}, [], 0
        self.handle = self.register_forward_hook(_look)

    def forward(self, x):
        return fit(STEPS[self.kind](self, x, self.n))


class Residually(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x + self.inner(x)


class Branching(nn.Module):
    def __init__(self, parts, join):
        super().__init__()
        self.parts, self.join = nn.ModuleList(parts), join

    def forward(self, x):
        found = [part(x) for part in self.parts]
        if self.join == "mul":
            return found[0] * found[-1].sigmoid()
        if self.join in ("cat", "stack"):
            return fit(getattr(torch, self.join)(found, 1))
        if self.join == "nested":
            return fit({"a": [found[0]], "b": found[1:]})
        return sum(found)


class Repeating(nn.Module):
    def __init__(self, inner, times):
        super().__init__()
        self.inner, self.times = inner, times
        self.also = [inner]  # held twice, once where PyTorch does not look

    def forward(self, x):
        for _ in range(self.times):
            x = self.inner(x)
        return self.also[0](x)


class Whole(nn.Module):
    def __init__(self, inner, ending):
        super().__init__()
        self.inner, self.ending = inner, ending

    def forward(self, x):
        return ENDINGS[self.ending](self.inner(x))


class Checkpointed(Residually):
    def forward(self, x):
        return checkpoint(self.inner, x, use_reentrant=False)


def _observed(inner):
    inner.register_forward_hook(_look)
    inner.register_forward_pre_hook(lambda module, inputs: None)
    inner.register_full_backward_hook(_look)
    return inner


def _sized(inner):
    return [item for item in inner.parameters() if not nn.parameter.is_lazy(item)]


def _is_lazy(inner):
    return any(map(nn.parameter.is_lazy, inner.parameters()))


def _in(dtype):
    """In another precision; lazy parameters refuse the change."""
    return lambda inner: inner if _is_lazy(inner) else inner.to(dtype)


def _tied(inner):
    outer = Residually(inner)
    outer.tied = nn.ParameterList(_sized(inner)[:1])
    return outer


def _with_own_forward(inner):
    forward = inner.forward
    inner.forward = lambda *args: forward(*args)
    return inner


def _partly_on_meta(inner):
    for module in list(inner.modules())[::2]:
        for name, item in module._parameters.items():
            if item is not None and not nn.parameter.is_lazy(item):
                module._parameters[name] = nn.Parameter(item.detach().to("meta"))
    return inner


def _compiled(inner):
    """Twice compiled is no module any more."""
    return inner if hasattr(inner, "_orig_mod") else torch.compile(inner, backend="eager")


def _partly_frozen(inner):
    for item in _sized(inner)[::2]:
        item.requires_grad_(False)
    return inner.eval()


WRAPPINGS = {
    "plain": lambda inner: inner,
    "checkpoint": Checkpointed,
    "observed": _observed,
    "tied": _tied,
    "own forward": _with_own_forward,
    "partly on meta": _partly_on_meta,
    "partly frozen": _partly_frozen,
    "half": _in(torch.float16),
    "bfloat16": _in(torch.bfloat16),
    "double": _in(torch.float64),
    "meta": lambda inner: inner.to("meta"),
    "complex": _in(torch.complex64),
    "sequential": nn.Sequential,
    "DataParallel": nn.DataParallel,
    "compiled": _compiled,
}

NESTED = ("checkpoint", "observed", "own forward", "sequential", "tied", "compiled")

INPUTS = {
    "guessed": lambda: None,
    "right": lambda: torch.rand(SHAPE) - 0.5,
    "requires grad": lambda: torch.rand(SHAPE, requires_grad=True),
    "on meta": lambda: torch.empty(SHAPE, device="meta"),
    "tuple": lambda: (torch.rand(SHAPE),),
    "dict": lambda: {"x": torch.rand(SHAPE)},
    "wrong name": lambda: {"image": torch.rand(SHAPE)},
    "wrong shape": lambda: torch.rand(3, 5),
    "too many": lambda: (torch.rand(SHAPE), torch.rand(SHAPE)),
    "integers": lambda: torch.ones(SHAPE, dtype=torch.int64),
    "booleans": lambda: torch.ones(SHAPE, dtype=torch.bool),
    "half": lambda: torch.rand(SHAPE, dtype=torch.float16),
    "complex": lambda: torch.rand(SHAPE, dtype=torch.complex64),
    "nan": lambda: torch.full(SHAPE, float("nan")),
    "zero-size": lambda: torch.rand(0, 8, 16),
    "scalar": lambda: torch.tensor(1.0),
    "expanded": lambda: torch.rand(2, 1, 1).expand(SHAPE),
    "sparse": lambda: torch.rand(SHAPE).to_sparse(),
    "huge": lambda: torch.empty(1 << 20, 1 << 20, device="meta"),
    "none": lambda: (None,),
    "no arguments": lambda: (),
    "text": lambda: "image.png",
    "list": lambda: [torch.rand(8, 16), torch.rand(8, 16)],
    "number": lambda: 3,
    "lost": object,
}


def build(recipe):
    """The module of a recipe, and its example inputs; the same each time."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = Whole(WRAPPINGS[recipe.wrapping](_part(recipe.part)), recipe.ending)
        return model, INPUTS[recipe.inputs]()


def _part(part):
    if isinstance(part, Layer):
        return layer(*part)
    if isinstance(part, Step):
        return Stepping(*part)
    if isinstance(part, Chain):
        return nn.Sequential(*map(_part, part.parts))
    if isinstance(part, Residual):
        return Residually(_part(part.part))
    if isinstance(part, Branches):
        return Branching(list(map(_part, part.parts)), part.join)
    if isinstance(part, Shared):
        return Repeating(_part(part.part), part.times)
    return WRAPPINGS[part.how](_part(part.part))


_NUMBERS = st.integers(0, 3)
_LEAVES = st.one_of(
    st.builds(Layer, st.sampled_from(LAYERS), _NUMBERS),
    st.builds(Step, st.sampled_from(sorted(STEPS)), _NUMBERS),
)


def _larger(inner):
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.builds(Chain, several),
        st.builds(Residual, inner),
        st.builds(Branches, several, st.sampled_from(JOINS)),
        st.builds(Shared, inner, st.integers(0, 3)),
        st.builds(Wrapped, inner, st.sampled_from(NESTED)),
    )


def _mostly(usual, others):
    """The usual choice in half of the recipes, so that most of what they hold is reached."""
    return st.one_of(st.just(usual), st.sampled_from(sorted(others)))


recipes = st.builds(
    Recipe,
    part=st.recursive(_LEAVES, _larger, max_leaves=8),
    wrapping=_mostly("plain", WRAPPINGS),
    ending=_mostly("tensor", ENDINGS),
    inputs=_mostly("right", INPUTS),
)
