"""What the names of rows begin with, and which library and licence that stands for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

NAME_KEYS = ("library", "licence")


def prefix_of(name: str) -> str:
    """`timm` of `timm:resnet50`; empty where there is none."""
    prefix, colon, _ = name.partition(":")
    return prefix if colon else ""


def distributions(table: pa.Table) -> dict[str, str]:
    """The distribution of each prefix of names; empty where several share the prefix."""
    prefixes = [prefix_of(name) for name in table["name"].to_pylist()]
    found = only_ones(prefixes, table["library"].to_pylist())
    return {prefix: library for prefix, library in found.items() if prefix}


def licences(table: pa.Table) -> dict[str, str]:
    """The licence of each distribution; empty where its rows say several."""
    return only_ones(*(table[key].to_pylist() for key in NAME_KEYS))


def only_ones(keys: Iterable[str], values: Iterable[str]) -> dict[str, str]:
    """The value that stands beside each key; empty where it is not always the same."""
    found: dict[str, set[str]] = {}
    for key, value in set(zip(keys, values, strict=True)):
        found.setdefault(key, set()).add(value)
    return {key: min(of) if len(of) == 1 else "" for key, of in found.items()}
