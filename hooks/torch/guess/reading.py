"""Reads the source of a forward: which of its inputs are dicts and lists, and who reads them.

What a name stands for is followed as far as modules, inputs and plain values go; all else is not
known. Loops over modules are gone through, so that `zip(self.nets, xs)` tells how many there are.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from torch import nn

from nar_plugin.tracing.twin.parts import module_name

from .lookups import (
    attribute_of,
    candidates,
    is_word,
    length_of,
    of_container,
    part_of,
    value_at,
)
from .slots import Computed, Entries, Method, Size, Slot

_DEEPEST = 4  # forwards and methods inside one another
_MOST = 4_000  # expressions
_ROUNDS = 32  # of a loop over modules

Names = dict[str, Any]


def read(model: nn.Module) -> dict[str, Slot]:
    """The inputs of a forward by the names of its arguments; empty where its source is gone."""
    reader = _Reader()
    with suppress(Exception):  # somebody else's classes, properties and sources
        function = _definition(type(model).forward)
        slots = {name: Slot(name) for name in _arguments(function)[1:]}
        reader.follow(function, {_arguments(function)[0]: model, **slots})
        return slots
    return {}


def _definition(function: Any) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise ValueError("a forward that is no function")
    return tree


def _arguments(function: ast.FunctionDef) -> list[str]:
    arguments = function.args
    return [item.arg for item in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


class _Reader:
    """Goes through functions, and notes in the slots how they are read."""

    def __init__(self) -> None:
        self._depth = 0
        self._left = _MOST

    def follow(self, function: ast.FunctionDef, names: Names) -> None:
        """Read the body of a function, with values for its arguments."""
        if self._depth >= _DEEPEST:
            return
        self._depth += 1
        try:
            for statement in function.body:
                self._run(statement, names)
        finally:
            self._depth -= 1

    def _run(self, statement: ast.stmt, names: Names) -> None:
        match statement:
            case ast.Assign(targets=targets, value=value):
                found = self._value(value, names)
                for target in targets:
                    self._bind(target, found, names)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, self._value(value, names), names)
            case ast.For(target=target, iter=iterated, body=body):
                for _ in self._rounds(target, iterated, body, names):
                    for inner in body:
                        self._run(inner, names)
            case ast.FunctionDef(name=name):
                names[name] = None
            case _:
                for part in ast.iter_child_nodes(statement):
                    if isinstance(part, ast.stmt):
                        self._run(part, names)
                    elif isinstance(part, ast.expr):
                        self._value(part, names)
                    elif isinstance(part, ast.withitem):
                        self._value(part.context_expr, names)

    def _bind(self, target: ast.expr, found: Any, names: Names) -> None:
        if isinstance(target, ast.Name):
            names[target.id] = found
        elif isinstance(target, ast.Tuple | ast.List):
            plain = not any(isinstance(item, ast.Starred) for item in target.elts)
            for place, item in enumerate(target.elts):
                self._bind(item, part_of(found, place) if plain else None, names)

    def _rounds(
        self, target: ast.expr, iterated: ast.expr, body: list[Any], names: Names
    ) -> Iterator[None]:
        """Bind the target of a loop for each round that is told apart; once where none is."""
        found = self._value(iterated, names)
        match iterated:
            case ast.Call(func=ast.Name(id="zip" | "enumerate" as kind), args=args):
                columns = [self._value(item, names) for item in args if _is_plain(item)]
                count = min((n for n in map(length_of, columns) if n is not None), default=None)
                if kind == "enumerate" and isinstance(target, ast.Tuple) and target.elts:
                    count = self._indexed(target.elts[0], body, names) if count is None else count
                    columns = [range(_ROUNDS), *columns]
                if count is None:
                    rows: Any = [[None] * len(columns)]
                else:
                    rows = [[part_of(item, i) for item in columns] for i in range(count)]
            case ast.Call(func=ast.Name(id="range"), args=args):
                sizes = [self._value(item, names) for item in args]
                for size in sizes:
                    if issubclass(type(size), Size) and size.place == 0:
                        size.of.is_walked = True
                count = self._indexed(target, body, names)
                known = [size for size in sizes if type(size) is int]
                if len(known) == len(sizes) > 0:
                    rows = range(*known)
                else:
                    rows = [None] if count is None else range(count)
            case _:
                rows = self._entries(found, target, body, names)
        for row in islice(rows, _ROUNDS):
            self._bind(target, row, names)
            yield

    def _entries(self, found: Any, target: ast.expr, body: list[Any], names: Names) -> list[Any]:
        """What a loop goes through that names no function of Python's."""
        if issubclass(type(found), nn.ModuleDict):
            return list(found.keys())
        if issubclass(type(found), list | tuple | nn.ModuleList | nn.Sequential):
            return list(found)
        if issubclass(type(found), Slot):
            found = Entries(found, "itself")
        if not issubclass(type(found), Entries):
            return [None]
        variable = target
        if found.what == "items" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            variable = target.elts[0]
        keys = self._keys(variable, body, names) if found.what != "values" else []
        if not keys:
            keys = list(found.of.keys)
        if found.what == "items":
            return [(key, found.of.at_key(key)) for key in keys] or [None]
        return keys or [None]

    def _keys(self, variable: ast.expr, body: list[Any], names: Names) -> list[Any]:
        """The keys of a dict of modules that are made of a loop's variable, as the variable is."""
        for key in _subscripts(body):
            holder = self._value(key.value, dict(names))
            if not issubclass(type(holder), nn.ModuleDict):
                continue
            found = []
            for name in holder.keys():
                for candidate in candidates(variable, name):
                    bound = dict(names)
                    self._bind(variable, candidate, bound)
                    if self._value(key.slice, bound) == name:
                        found.append(candidate)
                        break
            if found:
                return found
        return []

    def _indexed(self, variable: ast.expr, body: list[Any], names: Names) -> int | None:
        """How many modules a list has that a loop's variable is a place of."""
        for key in _subscripts(body):
            if isinstance(variable, ast.Name) and isinstance(key.slice, ast.Name):
                if key.slice.id == variable.id:
                    length = length_of(self._value(key.value, dict(names)))
                    if length is not None:
                        return length
        return None

    def _value(self, node: ast.expr, names: Names) -> Any:
        """What an expression stands for, None where nobody knows; notes what it reads."""
        self._left -= 1
        if self._left < 0:
            return None
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return names.get(name)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return [self._value(item, names) for item in items]
            case ast.JoinedStr(values=parts):
                words = [self._value(part, names) for part in parts]
                return "".join(map(str, words)) if all(map(is_word, words)) else None
            case ast.FormattedValue(value=value):
                return self._value(value, names)
            case ast.Attribute(value=owner, attr=name):
                return attribute_of(self._value(owner, names), name)
            case ast.Subscript(value=owner, slice=ast.Constant(value=int(place))):
                found = self._value(owner, names)
                row = issubclass(type(found), Slot) and place >= 0
                return found.perhaps_at(place) if row else value_at(found, place)
            case ast.Subscript(value=owner, slice=place):
                return value_at(self._value(owner, names), self._value(place, names))
            case ast.Call():
                return self._called(node, names)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                self._comprehended(node, node.generators, names)
                return None
            case ast.IfExp(body=one, orelse=other):
                first, second = self._value(one, names), self._value(other, names)
                return second if first is None else first
            case ast.NamedExpr(target=target, value=value):
                found = self._value(value, names)
                self._bind(target, found, names)
                return found
            case _:
                for part in ast.iter_child_nodes(node):
                    if isinstance(part, ast.expr):
                        self._value(part, names)
                return None

    def _comprehended(self, node: Any, loops: list[ast.comprehension], names: Names) -> None:
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        if not loops:
            for item in results:
                self._value(item, names)
            return
        inner = dict(names)
        first, *rest = loops
        body = [*results, *(loop.iter for loop in rest)]
        for _ in self._rounds(first.target, first.iter, body, inner):
            self._comprehended(node, rest, inner)

    def _called(self, node: ast.Call, names: Names) -> Any:
        function = self._value(node.func, names)
        args = [self._value(item, names) for item in node.args]
        kwargs = {item.arg: self._value(item.value, names) for item in node.keywords}
        match function:
            case nn.Module():
                return self._module(function, args, kwargs)
            case Method(owner=nn.Module() as owner, name=name):
                self._inside(owner, getattr(type(owner), name, None), args, kwargs)
                return None
            case Method(owner=owner, name=name):
                return of_container(owner, name, args)
        if isinstance(node.func, ast.Name) and node.func.id == "len" and len(args) == 1:
            owner = args[0].of if issubclass(type(args[0]), Computed) else args[0]
            return Size(owner, 0) if issubclass(type(owner), Slot) else length_of(owner)
        return None

    def _module(self, module: nn.Module, args: list[Any], kwargs: dict[Any, Any]) -> Any:
        for value in (*args, *kwargs.values()):
            for slot in value if issubclass(type(value), list) else (value,):
                if issubclass(type(slot), Slot):
                    slot.readers.append(module)
        if not module_name(type(module)).startswith("torch.nn."):
            self._inside(module, type(module).forward, args, kwargs)
        first: Any = args[0] if args else None
        of = first.of if issubclass(type(first), Computed) else first
        return Computed(of) if issubclass(type(of), Slot) else None

    def _inside(self, owner: Any, function: Any, args: list[Any], kwargs: dict[Any, Any]) -> None:
        """Read a method, or the forward of a part, where an input is handed to it."""
        if not any(issubclass(type(item), Slot | Computed) for item in (*args, *kwargs.values())):
            return
        with suppress(OSError, TypeError, ValueError, SyntaxError):
            definition = _definition(function)
            known = _arguments(definition)
            bound = dict(zip(known, (owner, *args), strict=False))
            self.follow(definition, bound | {k: v for k, v in kwargs.items() if k in known})


def _subscripts(body: list[Any]) -> list[ast.Subscript]:
    nodes = (node for part in body for node in ast.walk(part))
    return [node for node in nodes if isinstance(node, ast.Subscript)]


def _is_plain(node: ast.expr) -> bool:
    return not isinstance(node, ast.Starred)
