"""The design of a row, from the graph that came with the index: nothing is built or traced."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nar_plugin.errors import IndexIncompatible
from nar_plugin.index.store.graphs import macro_graphs

if TYPE_CHECKING:
    from nar_plugin.index.index import ArchitectureIndex
    from nar_plugin.index.store.contents import Contents
    from nar_plugin.mining import MacroGraph


def stored_design(index: ArchitectureIndex, fingerprint: str) -> MacroGraph | None:
    """The macro graph of a row, with its sizes.

    Args:
        index: Searched with the user's own models, where it has some.
        fingerprint: Of the row.

    Returns:
        None where there is no such row, or the index came without graphs.

    Raises:
        IndexUnavailable: The file of the graphs is damaged.
        IndexIncompatible: It does not hold the graph that it should.
    """
    parts = (index,) if index.overlay is None else (index, index.overlay)
    found = (_design(part.contents, fingerprint) for part in parts)
    return next((design for design in found if design is not None), None)


def _design(contents: Contents, fingerprint: str) -> MacroGraph | None:
    position = contents.positions.get(fingerprint)
    table = None if position is None else contents.graph(position)
    if position is None or table is None:
        return None
    if table["fingerprint"].to_pylist() != [fingerprint]:
        raise IndexIncompatible(
            f"The stored graphs of the index {contents.source} are not those of its rows. "
            "`nar index update` fetches a sound index."
        )
    (macro,) = macro_graphs(table)
    row = contents.row(position)
    return replace(macro, graph=replace(macro.graph, params=row.params, flops=row.flops))
