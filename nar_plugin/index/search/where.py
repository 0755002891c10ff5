"""Filters: which rows a search may find."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from difflib import get_close_matches
from math import ceil, floor, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nar_plugin.errors import NarError, in_words
from nar_plugin.index.search.row_names import NameFilter, libraries_of_rows
from nar_plugin.index.store.columns import BoolArray, one_of, whole_numbers
from nar_plugin.index.store.prefixes import NAME_KEYS

if TYPE_CHECKING:
    import pyarrow as pa

Bounds = tuple[int | None, int | None]

TEXT_KEYS = ("task", "family", "library", "licence", "weights_license", "paper", "runtimes")
NUMBER_KEYS = ("params", "flops", "year")
OTHER_WORDS = {"code_license": "licence"}  # keys by the names that hits have for them
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "B": 10**9, "T": 10**12}
NUMBER = r"(\d+(?:\.\d+)?)\s*([KMGBT]?)"
RANGE = re.compile(rf"\s*{NUMBER}\s*-\s*{NUMBER}\s*", re.IGNORECASE)
LIMIT = re.compile(rf"\s*(<=|>=|<|>)\s*{NUMBER}\s*", re.IGNORECASE)


def conditions(where: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The conditions, or None where there are none.

    Raises:
        NarError: They are no dict.
    """
    if where is None:
        return None
    if not issubclass(type(where), Mapping):
        raise NarError(f"where={in_words(where)}: expected a dict such as {{'task': 'fill-mask'}}.")
    if not any(key in where for key in OTHER_WORDS):
        return where if len(where) else None
    return {OTHER_WORDS.get(key, key): value for key, value in where.items()}


def allowed_rows(table: pa.Table, where: Mapping[str, Any]) -> BoolArray:
    """Which rows meet every condition.

    Example:
        `{"task": "image-classification", "library": ["timm", "torchvision"], "params": "<10M"}`

    Args:
        table: Of the schema of `nar_plugin.index.store.rows`.
        where: `task`, `family`, `library`, `code_license`, `weights_license`, `paper` and
            `runtimes` take a text or a list of texts; `params`, `flops` and `year` take a pair
            (low, high), both included and None for no bound, or a text such as `<10M`, `>=1G`,
            `10M-50M` or `>=2023`. A row that lacks the fact meets no condition on it.

    Raises:
        NarError: A key is unknown or a value cannot be read.

    Shapes:
        [n], true where allowed.
    """
    where = conditions(where) or {}
    allowed = name_filter(table, where).rows()
    for key, value in where.items():
        if key in NUMBER_KEYS:
            allowed &= numbers_within(table[key], bounds(key, value))
        elif key not in TEXT_KEYS:
            raise NarError(f"where has the unknown key {in_words(key)}; {keys_near(key)}.")
        elif key not in NAME_KEYS:
            allowed &= texts_among(table[key], texts(key, value))
    return allowed


def numbers_within(column: pa.ChunkedArray, limits: Bounds) -> BoolArray:
    """Where the column has a number between the limits, both included."""
    import pyarrow.compute as pc

    known = whole_numbers(pc.indices_nonzero(column.is_valid()))
    found = np.zeros(len(column), dtype=np.bool_)
    found[known] = within(whole_numbers(pc.drop_null(column).combine_chunks()), limits)
    return found


def texts_among(column: pa.ChunkedArray, values: list[str]) -> BoolArray:
    """Where the column, or one element of its list, is one of the values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_list(column.type):
        return one_of(column, values)
    lists = column.combine_chunks()
    owners = whole_numbers(pc.list_parent_indices(lists))
    elements = pa.chunked_array([pc.list_flatten(lists)])
    found = np.zeros(len(column), dtype=np.bool_)
    found[owners[one_of(elements, values)]] = True
    return found


def texts_of(column: pa.ChunkedArray) -> list[str]:
    """The different texts in the column, or in its lists."""
    import pyarrow as pa
    import pyarrow.compute as pc

    flat = pc.list_flatten(column) if pa.types.is_list(column.type) else column
    return [text for text in flat.unique().to_pylist() if text]


def keys_near(key: Any) -> str:
    """The keys that there are, and which of them was perhaps meant."""
    keys = (*(key for key in TEXT_KEYS if key != "licence"), *OTHER_WORDS, *NUMBER_KEYS)
    near = get_close_matches(in_words(key).strip("'").lower(), keys, n=1)
    meant = f"did you mean {near[0]!r}? The" if near else "the"
    return f"{meant} keys are {', '.join(keys)}"


def name_filter(table: pa.Table, where: Mapping[str, Any]) -> NameFilter:
    """What the conditions ask of the names of rows.

    Raises:
        NarError: A value cannot be read.
    """
    where = conditions(where) or {}
    return NameFilter(table, {key: texts(key, where[key]) for key in NAME_KEYS if key in where})


def unknown_texts(table: pa.Table, where: Mapping[str, Any]) -> Iterator[str]:
    """Say of each text in valid conditions that no row has it, and which was perhaps meant."""
    where = conditions(where) or {}
    for key in TEXT_KEYS:
        if key not in where:
            continue
        column = libraries_of_rows(table)[1] if key == "library" else table[key]
        known = {text.lower(): text for text in texts_of(column)}
        for text in texts(key, where[key]):
            if text not in known.values():
                near = get_close_matches(text.lower(), known, n=1)
                meant = f"; did you mean {known[near[0]]!r}?" if near else "."
                yield f"No architecture in the index has {key} {text!r}{meant}"


def within(values: NDArray[np.int64], limits: Bounds) -> BoolArray:
    """Where the values lie between the limits, both included."""
    low, high = limits
    inside = np.ones(len(values), dtype=np.bool_)
    if low is not None:
        inside &= values >= low
    if high is not None:
        inside &= values <= high
    return inside


def texts(key: str, value: Any) -> list[str]:
    """The texts that a condition accepts."""
    values = [value] if issubclass(type(value), str) else value
    if issubclass(type(values), list | tuple | set | frozenset):
        # No row has half a surrogate, and Arrow takes none.
        accepted = [
            str(text).encode("utf-8", "replace").decode()
            for text in values
            if issubclass(type(text), str)
        ]
        if accepted and len(accepted) == len(values):
            return accepted
    raise NarError(
        f"where={{{in_words(key)}: {in_words(value)}}}: expected a text or a list of texts."
    )


def bounds(key: str, value: Any) -> Bounds:
    """The least and the greatest whole number that a condition accepts, None for no bound."""
    limits = read_bounds(value) if issubclass(type(value), str) else read_pair(value)
    if limits is None:
        raise NarError(
            f"where={{{in_words(key)}: {in_words(value)}}}: expected a pair (low, high) of numbers "
            "or None, or a text such as '<10M', '>=1G' or '10M-50M'."
        )
    low, high = limits
    if low is not None and high is not None and low > high:
        raise NarError(
            f"where={{{in_words(key)}: {in_words(value)}}}: the lower bound is above the upper one."
        )
    return limits


def read_pair(value: Any) -> Bounds | None:
    """The bounds in a pair of numbers, or None if it is no such pair."""
    if not issubclass(type(value), list | tuple) or len(value) != 2:
        return None
    low, high = value
    for bound in value:
        if type(bound) is bool or not issubclass(type(bound), int | float | type(None)):
            return None
        if isinstance(bound, float) and not isfinite(bound):
            return None
    return None if low is None else ceil(low), None if high is None else floor(high)


def read_bounds(text: str) -> Bounds | None:
    """The bounds in a text such as `<10M` or `10M-50M`, or None if it is no such text."""
    if match := RANGE.fullmatch(text):
        low, low_unit, high, high_unit = match.groups()
        return ceil(size(low, low_unit)), floor(size(high, high_unit))
    if match := LIMIT.fullmatch(text):
        sign, number, unit = match.groups()
        limit = size(number, unit)
        return {
            "<": (None, ceil(limit) - 1),
            "<=": (None, floor(limit)),
            ">": (floor(limit) + 1, None),
            ">=": (ceil(limit), None),
        }[sign]
    return None


def size(number: str, unit: str) -> Decimal:
    """The number that `1.5` and `M` mean: 1,500,000."""
    return Decimal(number) * UNITS[unit.upper()]
