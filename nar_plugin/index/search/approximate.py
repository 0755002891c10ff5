"""Approximate search for large indexes: FAISS finds candidates, the true vectors rank them.

The index is an inverted file of product-quantised residuals (IVF-PQ, 4 bits for 2 numbers, which
FAISS looks up in registers: https://arxiv.org/abs/1812.09162), so it is an eighth of the vectors
on a disk, in a download and in memory, and is built in seconds. Its ids are the numbers
of the rows over all shards, buried ones too, so shards that are added later leave it valid: their
rows are searched exactly beside it.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nar_plugin.errors import IndexIncompatible
from nar_plugin.index.search.candidates import MARGIN, Proposed, best_of
from nar_plugin.index.search.integers import FaissCandidates
from nar_plugin.index.search.nearest import nearest
from nar_plugin.index.store.manifest import FileEntry
from nar_plugin.index.store.vectors import FloatArray, Rows, as_float32

APPROXIMATE_FROM = (
    100_000  # rows: an exact search of as many takes some 10 ms (nar dev bench index)
)
PATH = "derived/ivf-pq.faiss"
PROBED = 0.45  # share of the lists of which a search reads the codes
RANKED = 800  # candidates that the true vectors rank
FEW = 50_000  # allowed rows that are rather scored exactly, one by one
PARTS = 256  # of a vector, 4 bits each
SAMPLES = 64  # training vectors for each list
TABLES = 256 << 20  # bytes that FAISS may take for the tables it computes when it reads an index
SETTINGS = (  # numbers in the file that FAISS believes when it searches
    *("M", "M2", "bbs", "by_residual", "code_size", "implem", "ksub", "max_codes", "nbits"),
    *("parallel_mode", "qbs", "qbs2", "skip"),
)
_limits = threading.Lock()


class ApproximateCandidates:
    """Candidates from an IVF-PQ index, and all rows that it does not hold."""

    margin = MARGIN

    def __init__(self, index: Any, covered: int, vectors: Rows, numbers: NDArray[np.int64]) -> None:
        """Search an opened index.

        Args:
            index: Of `opened`.
            covered: It was made of the rows with numbers below this one.
            vectors: The rows that can be found.
            numbers: The number of each over all rows of the shards, ascending.

        Shapes:
            vectors [n, dim], numbers [n].
        """
        import faiss

        self._faiss: Any = faiss
        self._index = index
        self._vectors = vectors
        self._numbers = numbers
        self._held = int(np.searchsorted(numbers, covered))  # rows that the index holds
        self._covered = covered
        self._probes = max(1, round(PROBED * index.nlist))
        self._rest = FaissCandidates(vectors[self._held :])
        self._whole = self._held == index.ntotal  # no row of it is buried
        self._parameters: Any = faiss.SearchParametersIVF

    def best(self, query: FloatArray, count: int, allowed: NDArray[np.bool_] | None) -> Proposed:
        """See `Candidates.best`; fewer than `count` when the lists that it reads hold fewer."""
        if allowed is not None and int(allowed.sum()) <= FEW:
            return self._scored(np.flatnonzero(allowed), query, count)
        selector = None
        if allowed is not None or not self._whole:
            bits = np.zeros(self._covered, dtype=np.bool_)
            held = np.ones(self._held, np.bool_) if allowed is None else allowed[: self._held]
            bits[self._numbers[: self._held][held]] = True
            packed = np.packbits(bits, bitorder="little")
            selector = self._faiss.IDSelectorBitmap(packed)
        parameters = self._parameters(nprobe=self._probes, sel=selector)
        wanted = min(max(count, RANKED), self._held)
        rows = np.empty(0, np.int64)
        if wanted:
            _, ids = self._index.search(query[None], wanted, params=parameters)
            places = np.searchsorted(self._numbers[: self._held], ids[0])
            places = np.minimum(places, self._held - 1)
            known = self._numbers[places] == ids[0]  # -1 where the lists hold fewer
            rows = np.unique(places[known])  # a crafted file can hold an id often
        if self._held < len(self._vectors):
            rest = None if allowed is None else allowed[self._held :]
            _, more = nearest(self._rest, self._vectors[self._held :], query, count, rest)
            rows = np.concatenate([rows, more + self._held])
        if len(rows) < count:  # the lists hold fewer: look at all
            rows = np.arange(len(self._vectors)) if allowed is None else np.flatnonzero(allowed)
        return self._scored(rows, query, count)

    def _scored(self, rows: NDArray[np.int64], query: FloatArray, count: int) -> Proposed:
        return Proposed(*best_of(self._vectors, rows, query, count), error=None)


def built(vectors: Rows, numbers: NDArray[np.int64]) -> bytes:
    """The content of a `derived` file over these vectors, in FAISS's own format.

    Args:
        vectors: The rows that can be found.
        numbers: The number of each over all rows of the shards.

    Shapes:
        vectors [n, dim], numbers [n].
    """
    import faiss

    count, dim = vectors.shape
    lists = lists_for(count)
    index = empty(dim, lists)
    for clustering in (index.cp, index.pq.cp):
        clustering.niter = 8
        clustering.min_points_per_centroid = 1
        clustering.max_points_per_centroid = SAMPLES
    sample = np.random.default_rng(0).permutation(count)[: SAMPLES * max(lists, 64)]
    index.train(as_float32(vectors[np.sort(sample)]))
    for start in range(0, count, 1 << 16):
        part = slice(start, start + (1 << 16))
        index.add_with_ids(as_float32(vectors[part]), numbers[part])
    content: bytes = faiss.serialize_index(index).tobytes()
    return content


def empty(dim: int, lists: int) -> Any:
    """The FAISS index before it is trained."""
    import faiss

    index: Any = faiss.index_factory(
        dim, f"IVF{lists},PQ{parts_of(dim)}x4fs", faiss.METRIC_INNER_PRODUCT
    )
    return index


def lists_for(count: int) -> int:
    """The number of inverted lists: a power of two near the root of the number of rows."""
    return int(2 ** np.clip(round(np.log2(max(count, 1)) / 2), 2, 14))


def parts_of(dim: int) -> int:
    """Into how many parts a vector is cut: as many of `PARTS` as divide the dimension."""
    return int(np.gcd(dim, PARTS))


def opened(content: bytes, entry: FileEntry, dim: int) -> Any:
    """The FAISS index in the content of a `derived` file, whose sha256 has been compared.

    Args:
        content: Of the file.
        entry: What the manifest says of it.
        dim: Length of a vector.

    Raises:
        IndexIncompatible: FAISS cannot read it, or it is not the kind of index that `built` makes.
    """
    import faiss

    with _limits:  # they are the process's, not the call's
        before = (
            faiss.get_deserialization_vector_byte_limit(),
            faiss.get_deserialization_loop_limit(),
        )
        try:
            faiss.set_deserialization_vector_byte_limit(len(content) + TABLES)
            faiss.set_deserialization_loop_limit(1 << 20)
            found: Any = faiss.deserialize_index(np.frombuffer(content, np.uint8))
        except (RuntimeError, MemoryError, AssertionError) as error:
            reason = str(error).splitlines()[-1][:200]
            raise unreadable(entry, f"FAISS says: {reason}") from error
        finally:
            faiss.set_deserialization_vector_byte_limit(before[0])
            faiss.set_deserialization_loop_limit(before[1])
    wanted = faiss.IndexIVFPQFastScan, faiss.METRIC_INNER_PRODUCT, dim
    if (type(found), found.metric_type, found.d) != wanted or found.ntotal > entry.rows:
        raise unreadable(entry, f"it is a {type(found).__name__} of {found.ntotal} x {found.d}")
    quantizer = faiss.downcast_index(found.quantizer)
    if type(quantizer) not in (faiss.IndexFlat, faiss.IndexFlatIP) or quantizer.d != dim:
        raise unreadable(entry, f"its quantizer is a {type(quantizer).__name__}")
    made = empty(dim, 1)
    for name in SETTINGS:
        if getattr(found, name) != getattr(made, name):
            raise unreadable(entry, f"its {name} is {getattr(found, name)}")
    return found


def unreadable(entry: FileEntry, reason: str) -> IndexIncompatible:
    """The error for a file that is whole but not what it should be."""
    return IndexIncompatible(
        f"{entry.path} is no index of {entry.rows:,} vectors that can be searched: {reason}. It "
        "is derived from the shards: remove it, and searches are exact; `nar index update` "
        "fetches a sound one."
    )
