"""What an attribute, a subscript or a method of an input, a module or a container stands for."""

from __future__ import annotations

import ast
from typing import Any

from torch import nn

from nar_plugin.tracing.twin.parts import named_children

from .slots import Computed, Entries, Method, Size, Sizes, Slot

_SEPARATORS = ("__", "_", "->", "-", "/", ",", ".", "|")
_SAME = frozenset("to float double half long int cuda cpu clone contiguous detach type".split())


def is_word(value: Any) -> bool:
    """Whether a value can stand in a text."""
    return issubclass(type(value), str | int)


def candidates(variable: ast.expr, name: str) -> list[Any]:
    """What a loop's variable may be for a key, or for a part of one."""
    if not isinstance(variable, ast.Tuple):
        return [name]
    parts = (name.split(separator) for separator in _SEPARATORS)
    return [tuple(words) for words in parts if len(words) == len(variable.elts)]


def length_of(value: Any) -> int | None:
    """How many modules or values a container holds, where that is known."""
    if issubclass(type(value), nn.ModuleList | nn.Sequential | nn.ModuleDict | list):
        return len(value)
    return None


def part_of(value: Any, place: int) -> Any:
    """One of several values to which an unpacked one comes."""
    if issubclass(type(value), Slot):
        return value.at(place)
    if issubclass(type(value), Sizes):
        return Size(value.of, place)
    if issubclass(type(value), list | tuple | range | nn.ModuleList | nn.Sequential):
        return value[place] if place < len(value) else None
    if issubclass(type(value), nn.ModuleDict):
        return list(value.keys())[place]
    return None


def attribute_of(owner: Any, name: str) -> Any:
    """A part, a plain value or a method of a module; the shape or a method of an input."""
    if issubclass(type(owner), nn.Module):
        found = dict(named_children(owner)).get(name, vars(owner).get(name))
        if found is not None:
            return found if issubclass(type(found), nn.Module | int | str | list | tuple) else None
        return Method(owner, name)
    slot = owner.of if issubclass(type(owner), Computed) else owner
    if issubclass(type(slot), Slot) and name == "shape":
        return Sizes(slot)
    if issubclass(type(owner), Slot | Computed | str):
        return Method(owner, name)
    return None


def value_at(owner: Any, place: Any) -> Any:
    """What stands at a key or a place."""
    if issubclass(type(place), list):
        place = tuple(place)
    if issubclass(type(owner), Sizes) and type(place) is int:
        return Size(owner.of, place)
    if issubclass(type(owner), Slot):
        if issubclass(type(place), str) or (issubclass(type(place), tuple) and _are_words(place)):
            return owner.at_key(place)
        return owner.at(place) if type(place) is int and place >= 0 else None
    if issubclass(type(owner), nn.ModuleDict) and issubclass(type(place), str):
        return owner[place] if place in owner else None
    if issubclass(type(owner), nn.ModuleList | nn.Sequential | list | tuple) and type(place) is int:
        return owner[place] if -len(owner) <= place < len(owner) else None
    return None


def _are_words(place: tuple[Any, ...]) -> bool:
    return bool(place) and all(issubclass(type(word), str) for word in place)


def of_container(owner: Any, name: str, args: list[Any]) -> Any:
    """A method of an input, of a dict of modules, or of a text."""
    if issubclass(type(owner), str):
        words: Any = args[0] if name == "join" and args else None
        if issubclass(type(words), list | tuple) and all(map(is_word, words)):
            return owner.join(map(str, words))
        return None
    slot = owner.of if issubclass(type(owner), Computed) else owner
    if name == "size":
        return Size(slot, args[0]) if args and type(args[0]) is int else Sizes(slot)
    if not issubclass(type(owner), Slot):
        return None
    if name in ("items", "keys", "values"):
        return Entries(owner, name)
    if name in ("get", "pop") and args and issubclass(type(args[0]), str):
        return owner.at_key(args[0])
    return owner if name in _SAME else None
