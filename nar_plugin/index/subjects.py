"""What is asked about, made from a traced graph or from a row of the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nar_plugin.encoder.backbone import backbone
from nar_plugin.index.embedding import embed_labelled
from nar_plugin.index.ranking import Subject
from nar_plugin.likeness import LabelTable

if TYPE_CHECKING:
    from nar_plugin.index.index import ArchitectureIndex
    from nar_plugin.index.store.rows import ArchitectureRow
    from nar_plugin.index.store.vectors import FloatArray
    from nar_plugin.mining import MacroGraph


def subject_of(index: ArchitectureIndex, macro: MacroGraph) -> Subject:
    """The subject of a graph, with a vector of the index's encoder.

    Raises:
        IndexIncompatible: The encoder at hand is another, or the index has fingerprints of another
            version.
    """
    graph = macro.graph
    labels = LabelTable.of([graph])
    return Subject(
        embed_labelled(index, [graph], labels)[0],
        labels.compared(),
        graph.fingerprint,
        graph.design,
        backbone(macro, graph.design),
    )


def subject_of_row(index: ArchitectureIndex, row: ArchitectureRow, vector: FloatArray) -> Subject:
    """The subject of a row that the index, or its overlay, holds."""
    for held in (index, index.overlay):
        place = held.contents.positions.get(row.fingerprint) if held is not None else None
        if held is not None and place is not None and held.contents.labels is not None:
            labels = held.contents.labels.taken(np.array([place]))
            return Subject(vector, labels, row.fingerprint, row.design, row.backbone)
    return Subject(vector, None, row.fingerprint, row.design, row.backbone)
