"""What the names of a row say: which of them a filter on library or licence asks for.

A graph may have names of many libraries. Its row says the library and the licence of the first;
those of another name are told by its prefix, as far as the rows of that library tell them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nar_plugin.index.search.wanted_texts import WantedTexts
from nar_plugin.index.store.columns import BoolArray, one_of, whole_numbers
from nar_plugin.index.store.prefixes import distributions, licences, prefix_of

if TYPE_CHECKING:
    import pyarrow as pa

    from nar_plugin.index.store.contents import Contents
    from nar_plugin.index.store.rows import ArchitectureRow


class NameFilter:
    """Conditions on library and licence, of which one name must meet all.

    A library goes by the name of its distribution and by the prefix of its names alike.

    Args:
        table: Of the schema of `nar_plugin.index.store.rows`.
        wanted: The condition on each of `prefixes.NAME_KEYS` that there is one on.
    """

    def __init__(self, table: pa.Table, wanted: Mapping[str, WantedTexts]) -> None:
        self._table = table
        self._wanted = dict(wanted)
        self._distributions = distributions(table) if wanted else {}
        self._licences = licences(table) if wanted else {}
        if "library" in self._wanted:
            asked = self._wanted["library"]
            sides = map(self._either_word, (asked.accepted, asked.refused))
            self._wanted["library"] = WantedTexts(*sides)

    def rows(self) -> BoolArray:
        """Which rows have a name that meets the conditions.

        Shapes:
            [n], true where allowed.
        """
        allowed = np.ones(len(self._table), dtype=np.bool_)
        if not self._wanted:
            return allowed
        owners, prefixes = prefixes_of_names(self._table)
        first = np.diff(owners, prepend=-1) != 0
        for key, texts in self._wanted.items():
            own = texts.among(self._table[key])
            if key == "library":
                own[owners[first & one_of(prefixes, sorted(texts.accepted))]] = True
                own[owners[first & one_of(prefixes, sorted(texts.refused))]] = False
            allowed &= own
        met = [word for word in prefixes.unique().to_pylist() if word and self._meets(word)]
        allowed[owners[~first & one_of(prefixes, sorted(met))]] = True
        return allowed

    def shown(self, row: ArchitectureRow) -> ArchitectureRow:
        """The row under the first such name, with what is known of the library of that name."""
        if self._all({"library": row.library, "licence": row.licence}, prefix_of(row.name)):
            return row
        for name in row.names:
            prefix = prefix_of(name)
            if name != row.name and prefix and self._meets(prefix):
                library, licence = self._facts(prefix).values()
                return _renamed(row, name, library, licence)
        return row

    def _meets(self, prefix: str) -> bool:
        return self._all(self._facts(prefix), prefix)

    def _all(self, facts: Mapping[str, str], prefix: str) -> bool:
        return all(
            texts.meets(facts[key], prefix if key == "library" else "")
            for key, texts in self._wanted.items()
        )

    def _either_word(self, asked: frozenset[str]) -> frozenset[str]:
        """Libraries by distribution and by prefix, whichever was asked for."""
        pairs = [pair for pair in self._distributions.items() if all(pair)]
        return asked.union(*(pair for pair in pairs if asked.intersection(pair)))

    def _facts(self, prefix: str) -> dict[str, str]:
        library = self._distributions.get(prefix) or prefix
        return {"library": library, "licence": self._licences.get(library, "")}


def under(contents: Contents, row: ArchitectureRow, name: str | None) -> ArchitectureRow:
    """The row under another of its names, with the library and the licence of that name.

    Args:
        contents: Where the row is from.
        row: The row.
        name: The name; the row itself is returned if it is none of the row's.
    """
    if name is None or name == row.name or name not in row.names:
        return row
    library = contents.distributions.get(prefix_of(name)) or prefix_of(name)
    return _renamed(row, name, library, contents.licences.get(library, ""))


def _renamed(row: ArchitectureRow, name: str, library: str, licence: str) -> ArchitectureRow:
    """The row under another of its names, without what is known of its first name alone."""
    return replace(
        row,
        name=name,
        names=tuple(dict.fromkeys((name, *row.names))),
        library=library,
        licence=licence,
        url=None,
        weights_license=None,
        build=None,
    )


def prefixes_of_names(table: pa.Table) -> tuple[NDArray[np.int64], pa.Array]:
    """The row and the prefix of each name, row by row; null where a name has no prefix.

    Shapes:
        [m] and [m], m the number of names.
    """
    import pyarrow.compute as pc

    names = table["names"].combine_chunks()
    matches = pc.extract_regex(pc.list_flatten(names), r"^(?P<library>[^:]+):")
    return whole_numbers(pc.list_parent_indices(names)), pc.struct_field(matches, "library")


def libraries_of_rows(table: pa.Table) -> tuple[NDArray[np.int64], pa.ChunkedArray]:
    """Each row's libraries: its own and the prefix of each of its names, repeats included.

    Returns:
        Row numbers, and the library that stands beside each (null where a name has no prefix).

    Shapes:
        [m] and [m], m the number of names and rows together.
    """
    import pyarrow as pa

    owners, prefixes = prefixes_of_names(table)
    rows = np.concatenate([owners, np.arange(len(table))])
    return rows, pa.chunked_array([prefixes, *table["library"].chunks], type=pa.string())
