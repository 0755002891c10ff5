"""What an index holds, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from nar_plugin.index.where import libraries_of_rows

if TYPE_CHECKING:
    import pyarrow as pa


def inventory(table: pa.Table) -> dict[str, dict[str, int]]:
    """The number of graphs of each family, library and task.

    A graph counts in every library that the filter `library` finds it by.
    """
    rows, libraries = libraries_of_rows(table)
    distinct = set(zip(rows.tolist(), libraries.to_pylist(), strict=True))
    return {
        "families": counts(table["family"].to_pylist()),
        "libraries": counts(library for _, library in distinct if library is not None),
        "tasks": counts(table["task"].to_pylist()),
    }


def counts(values: Iterable[str]) -> dict[str, int]:
    """How often each value occurs: the most frequent first, equal counts by name."""
    return dict(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))
