"""An input of a forward as its source reads it: a tensor, or a dict or list of such inputs."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from torch import nn


@dataclass
class Slot:
    """An input, or what stands at a key or a place of one.

    Attributes:
        name: Of the argument, or the key.
        keys: What is read by a key: the input is a dict.
        items: What is read by its place: the input is a list.
        perhaps: What is read by a number, as of a list or of a tensor.
        readers: Modules that are called with it, and under which argument.
        is_walked: Whether a loop goes along its first dimension.
    """

    name: str
    keys: dict[Hashable, Slot] = field(default_factory=dict)
    items: dict[int, Slot] = field(default_factory=dict)
    perhaps: dict[int, Slot] = field(default_factory=dict)
    readers: list[nn.Module] = field(default_factory=list)
    is_walked: bool = False

    def at_key(self, key: Hashable) -> Slot:
        """What stands at a key."""
        return self.keys.setdefault(
            key, Slot(str(key) if issubclass(type(key), str) else self.name)
        )

    def at(self, place: int) -> Slot:
        """What stands at a place of a list."""
        if place not in self.items:
            self.items[place] = self.perhaps.get(place) or Slot(self.name)
        return self.items[place]

    def perhaps_at(self, place: int) -> Slot:
        """What stands at a number, which may be a row of a tensor as well."""
        known = self.items.get(place)
        return known or self.perhaps.setdefault(place, Slot(self.name))

    def has_parts(self) -> bool:
        """Whether it is a dict or a list."""
        return bool(self.keys or self.items)


@dataclass(frozen=True)
class Sizes:
    """The shape of an input."""

    of: Slot


@dataclass(frozen=True)
class Size:
    """One dimension of an input."""

    of: Slot
    place: int


@dataclass(frozen=True)
class Computed:
    """What a module made of an input, step for step."""

    of: Slot


@dataclass(frozen=True)
class Entries:
    """`items()`, `keys()` or `values()` of an input."""

    of: Slot
    what: str


@dataclass(frozen=True)
class Method:
    """A method of the model or of a part of it, or of an input or of one of its containers."""

    owner: Any
    name: str
