"""The likeness that ships, among the methods that are measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nar_plugin.encoder import ArchitectureEncoder
from nar_plugin.likeness import LabelTable, Postings, likeness, overlaps
from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.corpus.splits import IntArray
from nar_plugin.train.fit.recipe import Begin, Settings, fit_encoder

FloatArray = NDArray[np.float32]
_BATCH = 256


class LikenessMethod:
    """The recipe `default`: overlap and a trained encoder.

    Args:
        settings: Of the encoder's training.
        begin: Changes the encoder's first weights.
    """

    def __init__(self, settings: Settings, begin: Begin | None = None) -> None:
        self.parameters = 0
        self._settings, self._begin = settings, begin
        self._encoder: ArchitectureEncoder | None = None
        self._read: dict[str, tuple[LabelTable, FloatArray]] = {}
        self._among: tuple[int, Postings, FloatArray] | None = None

    def fit(self, items: Sequence[CorpusGraph], labels: IntArray) -> None:
        """Fit; a graph that comes once for each of its names counts once."""
        _, first = np.unique([item.fingerprint for item in items], return_index=True)
        places = np.sort(first)
        self._encoder = fit_encoder(
            *([items[place] for place in places], labels[places], self._settings),
            begin=self._begin,
        )
        self.parameters = sum(part.numel() for part in self._encoder.parameters())

    def embed(self, items: Sequence[CorpusGraph]) -> FloatArray:
        """float32[n, 512]: the encoder's vectors."""
        assert self._encoder is not None, "fit comes first"
        vectors: FloatArray = self._encoder.encode_graphs([item.graph for item in items]).numpy()
        return vectors

    def rank(self, queries: Sequence[CorpusGraph], candidates: Sequence[CorpusGraph]) -> FloatArray:
        """float32[q, c]: the likeness of each query and each candidate."""
        if self._among is None or self._among[0] != id(candidates):
            table, vectors = self._of(candidates)
            self._among = id(candidates), Postings(table), vectors
        _, postings, known = self._among
        table, vectors = self._of(queries)
        shared = np.stack([postings.overlaps(table, n) for n in range(len(queries))])
        return likeness(shared, vectors @ known.T)

    def likeness(self, firsts: Sequence[CorpusGraph], seconds: Sequence[CorpusGraph]) -> FloatArray:
        """float32[n]: the likeness of pairs."""
        table, vectors = self._of([*firsts, *seconds])
        one, other = np.arange(len(firsts)), len(firsts) + np.arange(len(seconds))
        return likeness(overlaps(table, one, other), (vectors[one] * vectors[other]).sum(axis=1))

    def _of(self, items: Sequence[CorpusGraph]) -> tuple[LabelTable, FloatArray]:
        """The labels that are compared, and the vectors; both are made once for each graph."""
        new = list(
            {
                item.fingerprint: item for item in items if item.fingerprint not in self._read
            }.values()
        )
        for start in range(0, len(new), _BATCH):
            part = new[start : start + _BATCH]
            table = LabelTable.of([item.graph for item in part])
            vectors = self._encode(table)
            compared = table.compared()
            for number, item in enumerate(part):
                self._read[item.fingerprint] = compared.taken(np.array([number])), vectors[number]
        found = [self._read[item.fingerprint] for item in items]
        return LabelTable.joined([table for table, _ in found]), np.stack([row for _, row in found])

    def _encode(self, table: LabelTable) -> FloatArray:
        assert self._encoder is not None, "fit comes first"
        vectors: FloatArray = self._encoder.encode_counts(table.counted(), len(table)).numpy()
        return vectors
