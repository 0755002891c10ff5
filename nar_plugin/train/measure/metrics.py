"""MRR, MAP and NDCG at k of a retrieval in which graphs of one family are relevant to each other.

The paper (section 4, Table 1) names the measures and not their form. Ours: the query is left out
of the candidates and of the relevant; average precision is divided by min(relevant, k); the ideal
DCG is cut at k. On a query with at most k relevant candidates, average precision and NDCG are
trec's `map_cut` and `ndcg_cut`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from nar_plugin.errors import NarError

CUTS = (20, 50, 100)
_BLOCK = 256  # queries whose similarities are held at once
_DIGITS = 6  # cosines that differ by less are the rounding of a float32 sum, and tie

IntArray = NDArray[np.int64]
Vectors: TypeAlias = "NDArray[np.float32] | sparse.csr_array"


@dataclass(frozen=True)
class Quality:
    """Means over the queries, each by cut k.

    Attributes:
        mrr: One over the rank of the first relevant candidate, 0 past k.
        map: Average precision.
        ndcg: Normalised discounted cumulative gain.
        queries: How many counted.
        left_out: How many have no relevant candidate, and do not count.
    """

    mrr: Mapping[int, float]
    map: Mapping[int, float]
    ndcg: Mapping[int, float]
    queries: int
    left_out: int

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, for JSON."""
        return asdict(self)


def retrieval_quality(
    vectors: Vectors | Asked,
    labels: IntArray,
    queries: IntArray,
    candidates: IntArray,
    cuts: tuple[int, ...] = CUTS,
) -> Quality:
    """Rank the candidates by cosine for each query, and measure.

    Args:
        vectors: float32[n, d], dense or sparse, rows of length 1 (or 0).
        labels: int64[n], family of each row.
        queries: int64[q], rows that ask.
        candidates: int64[c], rows that may be found.
        cuts: The values of k.
    """
    top = nearest(vectors, queries, candidates, max(cuts))
    found = (top >= 0) & (labels[top] == labels[queries][:, None])  # [q, k]
    sizes = np.bincount(labels[candidates], minlength=int(labels.max()) + 1)
    relevant = sizes[labels[queries]] - np.isin(queries, candidates)  # [q]
    counted = relevant > 0
    found, relevant = found[counted], relevant[counted]
    rows = {k: _at(found, relevant, k) for k in cuts}
    mrr, precision, ndcg = ({k: rows[k][measure] for k in cuts} for measure in range(3))
    return Quality(mrr, precision, ndcg, int(counted.sum()), int((~counted).sum()))


class NothingToAsk(NarError):
    """The corpus holds nothing that a split can ask: it is too small for it."""


class Asked(Protocol):
    """A method that is asked about the items of one list, by their numbers."""

    def among(self, queries: IntArray, candidates: IntArray) -> NDArray[np.float32]:
        """float32[q, c]: how near each candidate is to each query; the order is what counts."""

    def pairs(self, firsts: IntArray, seconds: IntArray) -> NDArray[np.float32]:
        """float32[n]: the likeness of each first and its second."""


def nearest(
    vectors: Vectors | Asked,
    queries: IntArray,
    candidates: IntArray,
    k: int,
) -> NDArray[np.int64]:
    """int64[q, k]: rows of the k nearest candidates, the query left out, then -1.

    Candidates of equal cosine come in their own order.
    """
    top = np.full((len(queries), k), -1, dtype=np.int64)
    for start in range(0, len(queries), _BLOCK):
        rows = queries[start : start + _BLOCK]
        cosines = nearness(vectors, rows, candidates)  # [b, c]
        cosines[rows[:, None] == candidates[None, :]] = -np.inf
        for place, row in enumerate(cosines):
            chosen = _first(row, k)
            top[start + place, : len(chosen)] = candidates[chosen]
    return top


def nearness(
    vectors: Vectors | Asked, queries: IntArray, candidates: IntArray
) -> NDArray[np.float32]:
    """float32[q, c]: how near candidates are to queries, by cosine or as a method says itself."""
    if isinstance(vectors, np.ndarray | sparse.csr_array):
        return similarities(vectors[queries], vectors[candidates])
    return vectors.among(queries, candidates)


def similarities(rows: Vectors, against: Vectors) -> NDArray[np.float32]:
    """float32[b, c]: cosines of rows of length 1, rounded so that equal vectors tie."""
    product: Any = rows @ against.T
    dense = product.toarray() if sparse.issparse(product) else product
    return dense.astype(np.float32).round(_DIGITS)  # type: ignore[no-any-return]


def _first(row: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """The places of the k largest finite values, ties by place."""
    k = min(k, len(row))
    bound = np.partition(row, len(row) - k)[len(row) - k]
    places = np.flatnonzero((row >= bound) & np.isfinite(row))
    return places[np.argsort(-row[places], kind="stable")][:k]


def _at(
    found: NDArray[np.bool_], relevant: NDArray[np.int64], k: int
) -> tuple[float, float, float]:
    """MRR, MAP and NDCG at k.

    Shapes:
        found: bool[q, k or more], whether the candidate of each rank is relevant; relevant: [q].
    """
    if not len(found):
        return 0.0, 0.0, 0.0
    hits = found[:, :k].astype(np.float64)
    ranks = np.arange(1, hits.shape[1] + 1)
    reciprocal = (hits / ranks).max(axis=1)
    ideal = np.minimum(relevant, k)
    precision = (hits * hits.cumsum(axis=1) / ranks).sum(axis=1) / ideal
    gains = 1 / np.log2(np.arange(2, k + 2))
    ndcg = (hits @ gains[: hits.shape[1]]) / gains.cumsum()[ideal - 1]
    return float(reciprocal.mean()), float(precision.mean()), float(ndcg.mean())
