"""Edited graphs on disk, as a corpus: to make them takes minutes, to read them seconds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from nar_plugin.mining import MINING_VERSION
from nar_plugin.train.corpus.corpus import CorpusGraph, StoredGraph, read_corpus, write_corpus
from nar_plugin.train.measure.unseen.ladders import Edited, make


def read_or_make(
    items: Sequence[CorpusGraph], seed: int, folder: Path, *, validation: bool = False
) -> list[Edited]:
    """The edited graphs of one side, from the folder or made anew.

    Args:
        items: The graphs of the corpus.
        seed: Of the choice of origins and edits.
        folder: Where they are kept; its name says of what corpus and version they are.
        validation: Which side.
    """
    if not (folder / "graphs.parquet").is_file():
        write(make(items, seed, validation=validation), folder)
    return read(folder)


def write(made: Sequence[Edited], folder: Path) -> None:
    """Write edited graphs."""
    names = [
        {
            "name": json.dumps([number, each.origin, each.ladder, *each.kinds]),
            **{key: each.item.names[0].get(key) for key in ("library", "family", "task", "coarse")},
            "fingerprint": each.item.fingerprint,
            "composed": False,
            "params": 1,
        }
        for number, each in enumerate(made)
    ]
    graphs = {each.item.fingerprint: each.item for each in made}
    write_corpus(folder, names, [_stored(item) for item in graphs.values()])


def read(folder: Path) -> list[Edited]:
    """What `write` wrote, in the same order."""
    found: dict[int, Edited] = {}
    for item in read_corpus(folder):
        for row in item.names:
            number, origin, ladder, *kinds = json.loads(row["name"])
            found[number] = Edited(item, origin, tuple(kinds), ladder)
    return [found[number] for number in sorted(found)]


def _stored(item: CorpusGraph) -> StoredGraph:
    graph = item.graph
    return StoredGraph(
        *(item.fingerprint, item.design, graph.method, graph.inputs, ""),
        ops=[(op.kind, json.dumps([list(pair) for pair in op.attributes])) for op in graph.ops],
        edges=graph.edges.ravel(),
        paths="\n" * (len(graph) - 1),
        classes="",
        starts=item.starts,
        motifs=[asdict(motif) for motif in item.motifs],
        topology=item.topology,
        mining=MINING_VERSION,
    )
