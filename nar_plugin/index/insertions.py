"""What a graph is like once an insertion is taken out: SE-ResNet without its gates is ResNet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nar_plugin.index.embedding import embed_graphs
from nar_plugin.index.index import ArchitectureIndex
from nar_plugin.index.searcher import Match

if TYPE_CHECKING:
    from nar_plugin.tracing.graph import ArchitectureGraph
    from nar_plugin.tracing.insertions import Insertion

NEAR = 0.6  # of designs whose family was hidden, 32 of 33 such answers were sensible
GAIN = 0.15  # a smaller one is that of another name for the same


def best_without(
    index: ArchitectureIndex,
    graph: ArchitectureGraph,
    score: float,
    where: Mapping[str, Any] | None = None,
) -> tuple[Insertion, Match] | None:
    """The insertion without which a graph is most similar to a known one, and the known one.

    Args:
        index: What is searched.
        graph: The graph.
        score: That of its best hit as it is; within `GAIN` of 1 nothing is looked for.
        where: Conditions on the rows.

    Returns:
        None where nothing is near without an insertion either.
    """
    from nar_plugin.tracing.insertions import insertions  # imports torch

    found = insertions(graph) if score < 1 - GAIN else []
    if not found:
        return None
    matches = index.search_batch(embed_graphs(index, [each.graph for each in found]), 1, where)
    answers = [(each, hits[0]) for each, hits in zip(found, matches, strict=True) if hits]
    if not answers:
        return None
    insertion, match = max(answers, key=lambda answer: answer[1].score)
    return (insertion, match) if match.score >= max(NEAR, score + GAIN) else None
