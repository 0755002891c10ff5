"""What a method says of pairs of graphs: by vectors and cosine, or by a comparison of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.measure.methods import Method
from nar_plugin.train.measure.metrics import Asked, IntArray, Vectors, similarities

Scores = NDArray[np.float32]
__all__ = ["Asked", "ByCosine", "Comparer", "OfNames", "asked"]

_BLOCK = 256  # queries that are asked at once


@runtime_checkable
class Comparer(Protocol):
    """A method that compares graphs without a vector for each."""

    def rank(self, queries: Sequence[CorpusGraph], candidates: Sequence[CorpusGraph]) -> Scores:
        """float32[q, c]: how near each candidate is; -inf for those that were not proposed.

        Candidates are the same list in all calls of one cell.
        """

    def likeness(self, firsts: Sequence[CorpusGraph], seconds: Sequence[CorpusGraph]) -> Scores:
        """float32[n]: how alike each first is to its second, from 0 to 1."""


def asked(method: Method, items: Sequence[CorpusGraph]) -> Asked:
    """Ask a method about some graphs.

    Args:
        method: A fitted method; one that is a `Comparer` compares, others embed.
        items: All graphs that it is asked about.
    """
    if isinstance(method, Comparer):
        return _Compared(method, items)
    return ByCosine(method.embed(items))


class ByCosine:
    """Vectors are compared by cosine.

    Args:
        vectors: float32[n, d], dense or sparse, rows of length 1.
    """

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    def among(self, queries: IntArray, candidates: IntArray) -> Scores:
        """Cosines."""
        return similarities(self._vectors[queries], self._vectors[candidates])

    def pairs(self, firsts: IntArray, seconds: IntArray) -> Scores:
        """Cosines."""
        found = np.zeros(len(firsts), dtype=np.float32)
        for start in range(0, len(firsts), _BLOCK):
            part = slice(start, start + _BLOCK)
            one, other = self._vectors[firsts[part]], self._vectors[seconds[part]]
            product = one.multiply(other) if hasattr(one, "multiply") else one * other
            found[part] = np.asarray(product.sum(axis=1)).ravel().round(6)
        return found


class _Compared:
    """A method's own comparison."""

    def __init__(self, method: Comparer, items: Sequence[CorpusGraph]) -> None:
        self._method, self._items = method, items
        self._lists: dict[bytes, list[CorpusGraph]] = {}

    def among(self, queries: IntArray, candidates: IntArray) -> Scores:
        """What the method ranks by."""
        key = candidates.tobytes()
        among = self._lists.setdefault(key, self._of(candidates))
        return self._method.rank(self._of(queries), among).astype(np.float32)

    def pairs(self, firsts: IntArray, seconds: IntArray) -> Scores:
        """What the method says of pairs."""
        return self._method.likeness(self._of(firsts), self._of(seconds)).astype(np.float32)

    def _of(self, numbers: IntArray) -> list[CorpusGraph]:
        return [self._items[number] for number in numbers.tolist()]


class OfNames:
    """Asks about names, each by the number of its graph.

    Args:
        scores: Asked about graphs.
        graphs: int64[n], the graph of each name.
    """

    def __init__(self, scores: Asked, graphs: IntArray) -> None:
        self._scores, self._graphs = scores, graphs

    def among(self, queries: IntArray, candidates: IntArray) -> Scores:
        """What is said of the names' graphs."""
        found, places = np.unique(self._graphs[candidates], return_inverse=True)
        return self._scores.among(self._graphs[queries], found)[:, places]

    def pairs(self, firsts: IntArray, seconds: IntArray) -> Scores:
        """What is said of the names' graphs."""
        return self._scores.pairs(self._graphs[firsts], self._graphs[seconds])
