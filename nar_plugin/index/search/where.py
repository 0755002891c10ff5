"""Filters: which rows a search may find."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nar_plugin.errors import NarError, in_words
from nar_plugin.index.search.limits import Bounds, bounds
from nar_plugin.index.search.row_names import NameFilter, libraries_of_rows
from nar_plugin.index.search.wanted_texts import read_texts
from nar_plugin.index.store.columns import BoolArray, whole_numbers
from nar_plugin.index.store.prefixes import NAME_KEYS

if TYPE_CHECKING:
    import pyarrow as pa

TEXT_KEYS = ("task", "family", "library", "licence", "weights_license", "paper", "runtimes")
NUMBER_KEYS = ("params", "flops", "year")
OTHER_WORDS = {"code_license": "licence", "license": "licence"}  # the licence is the code's


def conditions(where: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The conditions under the keys of rows, or None where there are none.

    Raises:
        NarError: They are no dict, or two keys mean the same.
    """
    if where is None:
        return None
    if not issubclass(type(where), Mapping):
        raise NarError(f"where={in_words(where)}: expected a dict such as {{'task': 'fill-mask'}}.")
    found: dict[str, Any] = {}
    for key, value in where.items():
        word = OTHER_WORDS.get(key, key) if issubclass(type(key), str) else key
        if word in found:
            raise NarError(
                f"where has {in_words(key)} twice: code_license, license and licence are the same."
            )
        found[word] = value
    return found or None


def allowed_rows(table: pa.Table, where: Mapping[str, Any]) -> BoolArray:
    """Which rows meet every condition.

    Example:
        `{"task": "image-classification", "library": ["timm", "torchvision"], "params": "<10M"}`

    Args:
        table: Of the schema of `nar_plugin.index.store.rows`.
        where: `task`, `family`, `library`, `code_license`, `weights_license`, `paper` and
            `runtimes` take a text or a list of texts; `!timm` is all but `timm`. `params`, `flops`
            and `year` take what `nar_plugin.index.search.limits.bounds` takes: a pair (low, high),
            both included and None for no bound, a whole number, or a text such as `<10M`, `>=1G`,
            `10M-50M` or `2023`. A row that lacks the fact meets no condition on it, `!` included.
            Of a graph with names of many libraries, one name must meet the conditions on library
            and licence.

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
            allowed &= read_texts(key, value).among(table[key])
    return allowed


def numbers_within(column: pa.ChunkedArray, limits: Bounds) -> BoolArray:
    """Where the column has a number between the limits, both included."""
    import pyarrow.compute as pc

    known = whole_numbers(pc.indices_nonzero(column.is_valid()))
    found = np.zeros(len(column), dtype=np.bool_)
    found[known] = within(whole_numbers(pc.drop_null(column).combine_chunks()), limits)
    return found


def texts_of(column: pa.ChunkedArray) -> list[str]:
    """The different texts in the column, or in its lists."""
    import pyarrow as pa
    import pyarrow.compute as pc

    flat = pc.list_flatten(column) if pa.types.is_list(column.type) else column
    return [text for text in flat.unique().to_pylist() if text]


def keys_near(key: Any) -> str:
    """The keys that there are, and which of them was perhaps meant."""
    keys = tuple("code_license" if key == "licence" else key for key in (*TEXT_KEYS, *NUMBER_KEYS))
    near = get_close_matches(in_words(key).strip("'").lower(), keys, n=1)
    meant = f"did you mean {near[0]!r}? The" if near else "the"
    return f"{meant} keys are {', '.join(keys)}"


def name_filter(table: pa.Table, where: Mapping[str, Any]) -> NameFilter:
    """What the conditions ask of the names of rows.

    Raises:
        NarError: A value cannot be read.
    """
    where = conditions(where) or {}
    wanted = {key: read_texts(key, where[key]) for key in NAME_KEYS if key in where}
    return NameFilter(table, wanted)


def unknown_texts(table: pa.Table, where: Mapping[str, Any]) -> Iterator[str]:
    """Say of each text in valid conditions that no row has it, and which was perhaps meant."""
    where = conditions(where) or {}
    for key in TEXT_KEYS:
        if key not in where:
            continue
        column = libraries_of_rows(table)[1] if key == "library" else table[key]
        known = {text.lower(): text for text in texts_of(column)}
        wanted = read_texts(key, where[key])
        for text in sorted(wanted.accepted | wanted.refused):
            if text not in known.values():
                near = get_close_matches(text.lower(), known, n=1)
                meant = f"; did you mean {known[near[0]]!r}?" if near else "."
                word = "code_license" if key == "licence" else key
                yield f"No architecture in the index has {word} {text!r}{meant}"


def within(values: NDArray[np.int64], limits: Bounds) -> BoolArray:
    """Where the values lie between the limits, both included."""
    low, high = limits
    inside = np.ones(len(values), dtype=np.bool_)
    if low is not None:
        inside &= values >= low
    if high is not None:
        inside &= values <= high
    return inside
