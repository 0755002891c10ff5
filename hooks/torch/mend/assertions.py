"""Refusals by an assertion, whose line they quote: what it asks of the sizes of the inputs."""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from torch import Tensor, nn

from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.tracing.twin.parts import modules

from . import edits as edit
from .arguments import place_of

_MOST_VALUES = 3  # of an attribute that several modules have
_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}


def asserted(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """`words` are the line, of which three kinds of equations are read.

    These are `x.shape[1:] == (3, self.size, self.size)`, `(height - 1) % 8 == 0` and
    `len(x) == self.num_pathways`.
    """
    for left, right in _equations(words[0]):
        for wanted in _values(right, model):
            match left, wanted:
                case ast.BinOp(op=ast.Mod()), int():
                    yield from _divided(model, inputs, left, wanted)
                case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]), int():
                    yield from _listed(model, inputs, name, wanted)
                case _:
                    yield from _shaped(model, inputs, left, wanted)


def _equations(line: str) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The sides of each equation, in both orders; the line may end within its message."""
    tree = None
    while line and tree is None:
        with suppress(SyntaxError), warnings.catch_warnings(action="ignore"):
            tree = ast.parse(line)
        line = line.rpartition(",")[0]
    for node in ast.walk(tree) if tree else ():
        match node:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                yield left, right
                yield right, left


def _values(node: ast.expr, model: nn.Module) -> Iterator[Any]:
    """What an expression is, with the model or one of its parts as `self`: sizes, or one."""
    found: dict[Any, None] = {}
    for owner in modules(model):
        with suppress(Exception):  # attributes are somebody else's
            value = _value(node, owner)
            sizes = value if isinstance(value, tuple) else (value,)
            if all(type(size) is int and size >= 0 for size in sizes):
                found[value] = None
    yield from islice(found, _MOST_VALUES)


def _value(node: ast.expr | None, owner: Any) -> Any:
    match node:
        case None:
            return None
        case ast.Constant(value=value):
            return value
        case ast.Name(id="self"):
            return owner
        case ast.Attribute(value=inner, attr=name):
            return getattr(_value(inner, owner), name)
        case ast.Subscript(value=inner, slice=place):
            return _value(inner, owner)[_value(place, owner)]
        case ast.Slice(lower=lower, upper=upper, step=None):
            return slice(_value(lower, owner), _value(upper, owner))
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return tuple(_value(item, owner) for item in items)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner, owner)
        case ast.BinOp(left=left, op=operation, right=right):
            return _OPERATIONS[type(operation)](_value(left, owner), _value(right, owner))
    raise ValueError(f"{ast.unparse(node)} is not known")


def _divided(
    model: nn.Module, inputs: ExampleInputs, left: ast.BinOp, rest: int
) -> Iterator[ExampleInputs]:
    """Sides that leave a rest when they are divided, perhaps after something was added."""
    match left.left:
        case ast.BinOp(op=ast.Sub(), right=ast.Constant(value=int(less))):
            rest += less
        case ast.BinOp(op=ast.Add(), right=ast.Constant(value=int(more))):
            rest -= more
    for by in _values(left.right, model):
        for factor in (1, 2, 4) if by else ():
            yield from edit.each_float(inputs, edit.multiples(by * factor, rest))


def _listed(
    model: nn.Module, inputs: ExampleInputs, name: str, count: int
) -> Iterator[ExampleInputs]:
    """A list of so many clips, one for each pathway."""
    place = place_of(name, model, inputs)
    value = None if place is None else edit.value_at(inputs, place)
    if place is not None and isinstance(value, Tensor) and 0 < count < 10:
        for clips in edit.as_pathways(value, count):
            yield edit.put(inputs, place, clips)


def _shaped(
    model: nn.Module, inputs: ExampleInputs, left: ast.expr, wanted: Any
) -> Iterator[ExampleInputs]:
    """The dimensions of one argument; a part of the model may call another one so."""
    with suppress(ValueError):
        name, which = _dimensions(left)
        place = place_of(name, model, inputs)
        change = edit.sized(which, wanted)
        if place is not None and (made := edit.changed(inputs, place, change)):
            yield made
        yield from edit.each(inputs, change)


def _dimensions(node: ast.expr) -> tuple[str, Any]:
    """Of `x.shape[1:]` the name and what is taken of its shape.

    Raises:
        ValueError: It is nothing like that.
    """
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr="shape"):
            return name, slice(None)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="size"), args=[]):
            return name, slice(None)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="size"), args=[place]):
            return name, _value(place, None)
        case ast.Subscript(value=inner, slice=place) if _dimensions(inner)[1] == slice(None):
            return _dimensions(inner)[0], _value(place, None)
    raise ValueError(f"{ast.unparse(node)} is no shape")
