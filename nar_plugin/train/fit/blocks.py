"""The blocks of a corpus, which an index is asked for (docs/searching.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from nar_plugin.index.store.blocks import StoredBlock, StoredPlace, to_table
from nar_plugin.likeness import LabelTable
from nar_plugin.likeness.parts import Part, parts_of, shape
from nar_plugin.train.corpus.corpus import StoredGraph, read_stored

if TYPE_CHECKING:
    import pyarrow as pa

    from nar_plugin.tracing.graph import ArchitectureGraph

_BATCH = 1024  # blocks that are labelled at once


@dataclass
class _Seen:
    """A block while designs are read.

    Attributes:
        graph: Of the first part that is this block.
        labels: How many designs call it so.
        designs: See `StoredBlock`.
    """

    graph: ArchitectureGraph
    labels: Counter[str] = field(default_factory=Counter)
    designs: dict[str, StoredPlace] = field(default_factory=dict)

    def add(self, stored: StoredGraph, part: Part) -> None:
        """Count a part of a design; two parts of one may be one block in two orders."""
        name = stored.fingerprint
        first = self.designs.get(name, StoredPlace(0, part.path, stored.source))
        self.designs[name] = replace(first, times=first.times + part.count)
        self.labels[part.label] += 1


def blocks_of_corpus(corpus: Path, fingerprints: Collection[str]) -> pa.Table:
    """The table of the blocks of some of a corpus's graphs, those of most designs first.

    Args:
        corpus: Folder of a corpus; it has the module paths, by which blocks are cut and named.
        fingerprints: Of the graphs.
    """
    wanted = set(fingerprints)
    shapes: dict[bytes, str] = {}
    seen: dict[str, _Seen] = {}
    for stored in read_stored(corpus):
        if stored.fingerprint not in wanted:
            continue
        for part in parts_of(stored.graph()):
            if part.key not in shapes:
                shapes[part.key] = shape(part.graph)
            name = shapes[part.key]
            seen.setdefault(name, _Seen(part.graph)).add(stored, part)
    order = sorted(seen, key=lambda name: (-len(seen[name].designs), name))
    tables = [
        LabelTable.of([seen[name].graph for name in order[start : start + _BATCH]]).widthless()
        for start in range(0, len(order), _BATCH)
    ]
    return to_table((_stored(name, seen[name]) for name in order), LabelTable.joined(tables))


def _stored(name: str, seen: _Seen) -> StoredBlock:
    label = max(seen.labels, key=lambda label: (seen.labels[label], label))
    return StoredBlock(name, label, len(seen.graph), seen.designs)
