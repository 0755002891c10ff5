"""Modules that answer odd questions with errors, as some people's do."""

import weakref

import torch
from torch import nn


class Raising:
    """Nothing about it can be read."""

    def __getattribute__(self, name):
        raise RuntimeError(f"hands off {name}")

    def __eq__(self, other):
        raise RuntimeError("never compare")

    __hash__ = None

    def __bool__(self):
        raise RuntimeError("neither true nor false")

    def __len__(self):
        raise RuntimeError("no length")

    def __repr__(self):
        raise RuntimeError("no words")


class Exiting:
    def __getattr__(self, name):
        raise SystemExit(name)


class NoClass:
    @property
    def __class__(self):
        raise ValueError("classless")


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 4)

    def forward(self, x):
        return self.second(self.first(x).relu())


def holding(make):
    def made():
        model = Plain()
        vars(model)["held"] = make()  # torch itself asks some of them too much
        model.listed = [make(), {"key": make()}]
        return model

    return made


def dead():
    return weakref.proxy(nn.Linear(2, 2))


def dead_reference():
    return weakref.ref(nn.Linear(2, 2))


class Parent(Plain):
    """Its part calls back through a weak reference, a proxy and a weak method."""

    def __init__(self):
        super().__init__()
        self.part = nn.Module()
        self.part.proxy = weakref.proxy(self)
        self.part.parent = weakref.ref(self)
        self.part.method = weakref.WeakMethod(self.back)

    def back(self, x):
        return x.relu()

    def forward(self, x):
        hidden = self.part.method()(self.part.parent().first(x))
        return self.part.proxy.second(hidden)


def refuse(*_, **__):
    raise RuntimeError("not that way")


def overriding(*names):
    return type("Odd", (Plain,), {name: refuse for name in names})


class ExitingArray(Plain):
    @property
    def example_input_array(self):
        raise SystemExit(3)


class RaisingGetattr(Plain):
    def __getattr__(self, name):
        if name in ("first", "second"):
            return super().__getattr__(name)
        raise RuntimeError(f"no {name}")


class Oddities(Plain):
    """Attributes under the names that a guess looks for."""

    config = property(refuse)
    input_shape = property(refuse)
    image_size = property(refuse)
    params = Exiting()


ANSWERED = {
    "an object that raises": holding(Raising),
    "an object that exits": holding(Exiting),
    "an object without a class": holding(NoClass),
    "a dead proxy": holding(dead),
    "a dead reference": holding(dead_reference),
    "a living proxy": Parent,
    "its own iteration": overriding("__iter__", "__len__", "__contains__"),
    "its own truth": type("Odd", (Plain,), {"__bool__": refuse}),
    "its own length": type("Odd", (Plain,), {"__len__": lambda self: 0}),
    "its own words": overriding("__repr__", "__str__", "extra_repr", "__dir__"),
    "its own parameters": overriding("parameters", "named_parameters", "buffers", "state_dict"),
    "its own modules": overriding("modules", "named_modules", "children", "named_children"),
    "an exiting example": ExitingArray,
    "attributes that raise": Oddities,
    "a getattr that raises": RaisingGetattr,
    "a module that is no text": type("Odd", (Plain,), {"__module__": 5}),
    "a name with markup": type("[red]<b>\x1b[2J\u202e", (Plain,), {}),
}


class NotInitialised(nn.Module):
    def __init__(self):
        pass


class Unhashable(Plain):
    def __eq__(self, other):
        raise RuntimeError("never compare")


class RaisingCall(nn.Module):
    def __call__(self, *args):
        raise RuntimeError("never call")


class Speechless(Exception):
    def __str__(self):
        raise RuntimeError("no words")


class RaisingSpeechless(nn.Module):
    def forward(self, x):
        raise Speechless


REFUSED = {
    "no init": NotInitialised,
    "a lazy layer": lambda: nn.Sequential(nn.LazyLinear(4)),
}

UNFOLLOWED = {"no call": RaisingCall, "an error without words": RaisingSpeechless}


def inputs():
    return torch.ones(1, 8)
