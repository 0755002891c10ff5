"""The rows of one index, searched: what answers, and the rows that it finds as matches."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nar_plugin.errors import IndexIncompatible, IndexUnavailable
from nar_plugin.index.search.backends import FAISS_ERRORS, faiss_allowed, open_on_cpu, open_on_gpu
from nar_plugin.index.search.candidates import Candidates
from nar_plugin.index.search.nearest import Found, exact_cosines, nearest, nearest_of_each
from nar_plugin.index.search.where import allowed_rows
from nar_plugin.index.store.contents import Contents
from nar_plugin.index.store.folder import read_verified
from nar_plugin.index.store.rows import ArchitectureRow
from nar_plugin.index.store.vectors import FloatArray

logger = logging.getLogger("nar_plugin")


@dataclass(frozen=True)
class Match:
    """One found row and its score; 1 is the most similar.

    Attributes:
        row: What is known of the architecture. Where a filter on library or licence chose it, its
            name is the first that meets the filter.
        score: Its cosine similarity to the query.
        overlay: Whether it is one of the user's own models (see `nar_plugin.index.overlay`).
    """

    row: ArchitectureRow
    score: float
    overlay: bool = False


class Searcher:
    """Answers queries from the rows of an index; any number of threads may ask.

    Args:
        contents: The rows and their vectors.
    """

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._lock = threading.Lock()
        self._backend: Candidates | None = None

    def backend(self) -> Candidates:
        """What proposes rows, made at the first search and then shared between threads."""
        with self._lock:
            if self._backend is None:
                self._backend = open_on_gpu(self._contents.vectors) or self._on_cpu()
            return self._backend

    def matches(
        self,
        query: FloatArray,
        k: int,
        where: Mapping[str, Any] | None,
        identical: str | None,
    ) -> list[Match]:
        """The k nearest rows of a query.

        Args:
            query: A unit vector.
            k: At least 1.
            where: See `nar_plugin.index.search.where.allowed_rows`.
            identical: Fingerprint of a row that comes first, if it is there and allowed.

        Shapes:
            query [dim].
        """
        contents = self._contents
        allowed = allowed_rows(contents.table, where) if where else None
        found = nearest(self.backend(), contents.vectors, query, k, allowed)
        matches = self._as_matches(found)
        same = contents.positions.get(identical) if identical else None
        if same is not None and (allowed is None or allowed[same]):
            others = [match for match in matches if match.row.fingerprint != identical]
            cosines = exact_cosines(contents.vectors, np.array([same]), query).clip(-1, 1)
            matches = [Match(contents.row(same), float(cosines[0])), *others][:k]
        return matches

    def rows_near(
        self, query: FloatArray, k: int, allowed: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """Numbers of the k nearest rows of a query, nearest first.

        Shapes:
            query [dim], allowed [n].
        """
        return nearest(self.backend(), self._contents.vectors, query, k, allowed)[1]

    def matches_of_each(
        self, queries: FloatArray, k: int, where: Mapping[str, Any] | None
    ) -> list[list[Match]]:
        """What `matches` gives for each query, none of them of a graph that is known.

        Shapes:
            queries [m, dim]; m lists.
        """
        contents = self._contents
        allowed = allowed_rows(contents.table, where) if where else None
        found = nearest_of_each(self.backend(), contents.vectors, queries, k, allowed)
        return [self._as_matches(each) for each in found]

    def approximate(self) -> Candidates | None:
        """The approximate index that came with the shards, if there is one.

        Raises:
            IndexUnavailable: It is damaged.
            IndexIncompatible: It is not what it should be.
        """
        from nar_plugin.index.search import approximate

        contents = self._contents
        for entry in contents.manifest.of_kind("derived") if faiss_allowed() else ():
            path = contents.folder / entry.path if contents.folder else None
            if path is None or entry.path != approximate.PATH or not path.exists():
                continue
            content = read_verified(path.parents[1], entry)
            found = approximate.opened(content, entry, contents.manifest.dim)
            return approximate.ApproximateCandidates(
                found, entry.rows, contents.vectors, contents.numbers
            )
        return None

    def _on_cpu(self) -> Candidates:
        try:
            found = self.approximate()
        except (IndexUnavailable, IndexIncompatible, *FAISS_ERRORS) as error:
            logger.warning("Searching every row instead: %s", error)
            found = None
        return found or open_on_cpu(self._contents.vectors)

    def _as_matches(self, found: Found) -> list[Match]:
        scores, rows = found
        pairs = zip(scores.tolist(), self._contents.rows(rows), strict=True)
        return [Match(row, score) for score, row in pairs]
