"""What an index holds, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from nar_plugin.index.store.prefixes import distributions, licences, prefix_of

if TYPE_CHECKING:
    import pyarrow as pa


def inventory(table: pa.Table) -> dict[str, dict[str, int]]:
    """The number of graphs of each family, library, task and licence.

    A graph counts in every library and licence that a filter finds it by, once where the library's
    distribution and the prefix of its names are spelled differently (`mmsegmentation`, `mmseg`).
    """
    spelled = distributions(table)
    distinct = set(enumerate(spelled.get(name, name) for name in table["library"].to_pylist()))
    for row, names in enumerate(table["names"].to_pylist()):
        prefixes = {prefix_of(name) for name in names} - {""}
        distinct |= {(row, spelled.get(prefix, prefix)) for prefix in prefixes}
    licence_of = licences(table)
    licensed = {(row, licence_of.get(library, "")) for row, library in distinct}
    licensed = {(row, licence) for row, licence in licensed if licence}
    licensed |= set(enumerate(table["licence"].to_pylist()))
    return {
        "families": counts(table["family"].to_pylist()),
        "libraries": counts(library for _, library in distinct if library),
        "tasks": counts(table["task"].to_pylist()),
        "licences": counts(licence for _, licence in licensed),
    }


def counts(values: Iterable[str]) -> dict[str, int]:
    """How often each value occurs: the most frequent first, equal counts by name."""
    return dict(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))
