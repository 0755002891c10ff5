"""What a filter asks of a number: the least and the greatest that it accepts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from math import ceil, floor, isfinite
from numbers import Integral
from typing import Any

from nar_plugin.errors import NarError, in_words

Bounds = tuple[int | None, int | None]

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "B": 10**9, "T": 10**12}
NUMBER = r"(\d[\d_]*(?:\.\d+)?(?:e\+?\d{1,2})?)\s*([KMGBT]?)"
SIZE = re.compile(rf"\s*{NUMBER}\s*", re.IGNORECASE)
RANGE = re.compile(rf"\s*{NUMBER}\s*-\s*{NUMBER}\s*", re.IGNORECASE)
LIMIT = re.compile(rf"\s*(<=|>=|<|>)\s*{NUMBER}\s*", re.IGNORECASE)
MINE = re.compile(r"\bmine\b", re.IGNORECASE)


def with_own_sizes(where: Any, sizes: Mapping[str, int | None]) -> Any:
    """The conditions with the sizes of the model asked about for the word `mine`.

    Example:
        `with_own_sizes({"params": "<mine"}, {"params": 25_557_032})` gives
        `{"params": "<25557032"}`.

    Args:
        where: Conditions; what is no dict is returned as it is.
        sizes: By key; None where the model's is not known.

    Raises:
        NarError: The size is not known.
    """
    if not issubclass(type(where), Mapping):
        return where
    return {
        key: _with_size(key, value, sizes[key]) if key in sizes else value
        for key, value in where.items()
    }


def _with_size(key: str, value: Any, size: int | None) -> Any:
    if issubclass(type(value), list | tuple):
        return [_with_size(key, each, size) for each in value]
    if not issubclass(type(value), str) or not MINE.search(value):
        return value
    if size is None:
        raise NarError(
            f"where={{{in_words(key)}: {in_words(value)}}}: the {key} of the model are not known, "
            "since its forward was not followed. Give a number instead of 'mine'."
        )
    return MINE.sub(str(size), value)


def bounds(key: str, value: Any) -> Bounds:
    """The least and the greatest whole number that a condition accepts, None for no bound.

    Args:
        key: Of the condition.
        value: A whole number, a pair (low, high), a text such as `<10M`, or a list of such texts,
            which must all hold.

    Raises:
        NarError: It is none of these, or no number meets it.
    """
    limits = read_bounds(value)
    if limits is None:
        raise NarError(
            f"where={{{in_words(key)}: {in_words(value)}}}: expected a whole number, a pair (low, "
            "high) of numbers or None, or a text such as '<10M', '>=1G', '10M-50M' or '<mine'."
        )
    low, high = limits
    if low is not None and high is not None and low > high:
        raise NarError(
            f"where={{{in_words(key)}: {in_words(value)}}}: the lower bound is above the upper one."
        )
    return limits


def read_bounds(value: Any) -> Bounds | None:
    """The bounds in a value of `bounds`, or None if it is no such value."""
    if issubclass(type(value), str):
        return read_text(value)
    if not issubclass(type(value), list | tuple):
        exact = read_whole(value)
        return None if exact is None else (exact, exact)
    if len(value) == 2 and all(is_end(end) for end in value):
        low, high = map(read_end, value)
        return None if low is None else ceil(low), None if high is None else floor(high)
    every = [read_text(each) if issubclass(type(each), str) else None for each in value]
    known = [each for each in every if each is not None]
    if not known or len(known) < len(every):
        return None
    lows = [low for low, _ in known if low is not None]
    highs = [high for _, high in known if high is not None]
    return max(lows, default=None), min(highs, default=None)


def read_text(text: str) -> Bounds | None:
    """The bounds in a text such as `<10M`, `10M-50M` or `2023`, or None if it is no such text."""
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
    exact = text.strip().replace("_", "")  # `10M` alone would be met by no model
    return (int(exact), int(exact)) if exact.isdecimal() and len(exact) < 30 else None


def is_end(value: Any) -> bool:
    """Whether it is an end of a pair: None, a number, or a text such as `10M`."""
    if issubclass(type(value), str):
        return SIZE.fullmatch(value) is not None
    if issubclass(type(value), float):
        return isfinite(value)
    return value is None or read_whole(value) is not None


def read_end(value: Any) -> Any:
    """The number of an end of a pair, None for no bound."""
    if issubclass(type(value), str):
        match = SIZE.fullmatch(value)
        assert match, "see is_end"
        return size(*match.groups())
    return value


def read_whole(value: Any) -> int | None:
    """A whole number, numpy's too; None for anything else, True and False among it."""
    whole = issubclass(type(value), Integral) and type(value) is not bool
    return int(value) if whole else None


def size(number: str, unit: str) -> Decimal:
    """The number that `1.5` and `M` mean: 1,500,000."""
    return Decimal(number) * UNITS[unit.upper()]
