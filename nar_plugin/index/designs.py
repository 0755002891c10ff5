"""The best rows of different designs: heads of one network do not fill an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nar_plugin.index.index import ArchitectureIndex
from nar_plugin.index.searcher import Match
from nar_plugin.index.vectors import FloatArray

_AT_FIRST = 4  # times as many rows are asked for as designs are wanted


def best_designs(
    index: ArchitectureIndex,
    vector: FloatArray,
    k: int,
    where: Mapping[str, Any] | None = None,
    identical: str | None = None,
) -> list[Match]:
    """Of rows that differ in vocabulary, last layers or readouts alone, the best.

    These have one design hash, or one vector, since the encoder sees no readouts. The user's own
    models stand for themselves, as rows do whose design is not known.

    Args:
        index: What is searched.
        vector: See `ArchitectureIndex.search`, as for the others.
        k: How many designs, at least 1; more than there are gives all.
        where: Conditions on the rows.
        identical: Fingerprint of a row that comes first.

    Shapes:
        vector [dim].
    """
    asked = k * _AT_FIRST
    while True:
        rows = index.search(vector, asked, where, identical=identical)
        first: dict[str, Match] = {}
        places: set[bytes] = set()
        for match in rows:
            position = index.contents.positions.get(match.row.fingerprint)
            if position is None or not match.row.design:
                first[match.row.fingerprint] = match
                continue
            place = index.contents.vectors[position].tobytes()
            if place not in places:
                first.setdefault(match.row.design, match)
            places.add(place)
        if len(first) >= k or len(rows) < asked:
            return list(first.values())[:k]
        asked *= _AT_FIRST
