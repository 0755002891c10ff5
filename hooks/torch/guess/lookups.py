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
    return isinstance(value, str | int)


def candidates(variable: ast.expr, name: str) -> list[Any]:
    """What a loop's variable may be for a key, or for a part of one."""
    if not isinstance(variable, ast.Tuple):
        return [name]
    parts = (name.split(separator) for separator in _SEPARATORS)
    return [tuple(words) for words in parts if len(words) == len(variable.elts)]


def length_of(value: Any) -> int | None:
    """How many modules or values a container holds, where that is known."""
    if isinstance(value, nn.ModuleList | nn.Sequential | nn.ModuleDict | list):
        return len(value)
    return None


def part_of(value: Any, place: int) -> Any:
    """One of several values to which an unpacked one comes."""
    if isinstance(value, Slot):
        return value.at(place)
    if isinstance(value, Sizes):
        return Size(value.of, place)
    if isinstance(value, list | tuple | range | nn.ModuleList | nn.Sequential):
        return value[place] if place < len(value) else None
    if isinstance(value, nn.ModuleDict):
        return list(value.keys())[place]
    return None


def attribute_of(owner: Any, name: str) -> Any:
    """A part, a plain value or a method of a module; the shape or a method of an input."""
    if isinstance(owner, nn.Module):
        found = dict(named_children(owner)).get(name, vars(owner).get(name))
        if found is not None:
            return found if isinstance(found, nn.Module | int | str | list | tuple) else None
        return Method(owner, name)
    slot = owner.of if isinstance(owner, Computed) else owner
    if isinstance(slot, Slot) and name == "shape":
        return Sizes(slot)
    if isinstance(owner, Slot | Computed | str):
        return Method(owner, name)
    return None


def value_at(owner: Any, place: Any) -> Any:
    """What stands at a key or a place."""
    if isinstance(place, list):
        place = tuple(place)
    if isinstance(owner, Sizes) and type(place) is int:
        return Size(owner.of, place)
    if isinstance(owner, Slot):
        if isinstance(place, str) or (isinstance(place, tuple) and _are_words(place)):
            return owner.at_key(place)
        return owner.at(place) if type(place) is int and place >= 0 else None
    if isinstance(owner, nn.ModuleDict) and isinstance(place, str):
        return owner[place] if place in owner else None
    if isinstance(owner, nn.ModuleList | nn.Sequential | list | tuple) and type(place) is int:
        return owner[place] if -len(owner) <= place < len(owner) else None
    return None


def _are_words(place: tuple[Any, ...]) -> bool:
    return bool(place) and all(isinstance(word, str) for word in place)


def of_container(owner: Any, name: str, args: list[Any]) -> Any:
    """A method of an input, of a dict of modules, or of a text."""
    if isinstance(owner, str):
        words = args[0] if name == "join" and args else None
        if isinstance(words, list | tuple) and all(map(is_word, words)):
            return owner.join(map(str, words))
        return None
    slot = owner.of if isinstance(owner, Computed) else owner
    if name == "size":
        return Size(slot, args[0]) if args and type(args[0]) is int else Sizes(slot)
    if not isinstance(owner, Slot):
        return None
    if name in ("items", "keys", "values"):
        return Entries(owner, name)
    if name in ("get", "pop") and args and isinstance(args[0], str):
        return owner.at_key(args[0])
    return owner if name in _SAME else None
