"""The designs that are most like one: proposed by vectors and labels, ranked by likeness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nar_plugin.index.search.nearest import exact_cosines
from nar_plugin.index.search.row_names import under
from nar_plugin.index.search.searcher import Match
from nar_plugin.index.search.where import allowed_rows, conditions
from nar_plugin.index.store.contents import Contents
from nar_plugin.index.store.rows import ArchitectureRow, merge_equal_graphs
from nar_plugin.likeness import LabelTable, likeness, overlaps

if TYPE_CHECKING:
    from nar_plugin.index.index import ArchitectureIndex
    from nar_plugin.index.store.vectors import FloatArray

POOL = 300  # rows that are proposed by their vectors, and as many by their labels
_AT_FIRST = 4  # times as many rows are looked at as designs are wanted
_NEARLY = 0.02  # rows of one backbone whose likeness differs by less are as good as equal
_OF_ONE_BACKBONE = 0.1  # and of the question's own backbone, whose rows differ in head and stem


@dataclass(frozen=True)
class Subject:
    """What is asked about, as far as ranking needs to know it.

    Attributes:
        vector: float32[dim], of the index's encoder.
        labels: Its labels, those that are compared; None where nothing says them.
        fingerprint: Of its graph.
        design: As `fingerprint`, blind to the sizes of the classifier and of the vocabulary.
        backbone: See `nar_plugin.encoder.backbone`; empty where it is not known.
    """

    vector: FloatArray
    labels: LabelTable | None
    fingerprint: str
    design: str = ""
    backbone: str = ""


@dataclass(frozen=True)
class Ranked:
    """A design that is like the one asked about.

    Attributes:
        match: The row, and its likeness as score.
        variants: Rows of the same backbone, or of the same design, that rank behind it.
    """

    match: Match
    variants: tuple[ArchitectureRow, ...] = field(default=())


def most_alike(
    index: ArchitectureIndex,
    subject: Subject,
    k: int,
    where: Mapping[str, Any] | None = None,
    *,
    distinct: str = "backbone",
) -> list[Ranked]:
    """The k designs that are most like one, best first.

    Args:
        index: What is searched, with the user's own models where it has an overlay.
        subject: What is asked about.
        k: At least 1; more than there are gives all.
        where: Conditions on the rows: see `nar_plugin.index.search.where.allowed_rows`.
        distinct: `backbone`: rows of one backbone are one hit, the best of them, and the others
            are its variants. `graph`: each distinct graph is a hit.
    """
    where = conditions(where)
    pool = max(POOL, _AT_FIRST * k)
    while True:
        matches = ranked_rows(index, subject, pool, where)
        places = index.contents.positions
        found = _folded(matches, places, subject) if distinct == "backbone" else _single(matches)
        if len(found) >= k or pool >= len(index):
            return found[:k]
        pool *= _AT_FIRST


def ranked_rows(
    index: ArchitectureIndex, subject: Subject, pool: int, where: Mapping[str, Any] | None
) -> list[Match]:
    """Rows by likeness, best first; of equal ones the earlier row, and an identical graph first."""
    matches = _matches(index, subject, pool, where)
    if index.overlay is not None:
        known = {match.row.fingerprint: match for match in matches}
        for match in _matches(index.overlay, subject, pool, where):
            here = index.by_fingerprint(match.row.fingerprint)
            (row,) = merge_equal_graphs([here, match.row] if here else [match.row])[0]
            known[row.fingerprint] = Match(row, match.score, overlay=True)
        matches = list(known.values())
    matches.sort(key=lambda match: (match.row.fingerprint != subject.fingerprint, -match.score))
    return list(index.as_asked_for(matches, where))


def _matches(
    index: ArchitectureIndex, subject: Subject, pool: int, where: Mapping[str, Any] | None
) -> list[Match]:
    """The proposed rows of one index with their likeness, in row order."""
    contents = index.contents
    if not len(contents):
        return []
    allowed = allowed_rows(contents.table, where) if where else None
    by_vector = index.searcher.rows_near(subject.vector, pool, allowed)
    common = _common(contents, subject)
    rows = np.union1d(by_vector, _best(common, pool, allowed) if common is not None else [])
    rows = _with_identical(rows.astype(np.int64), contents, subject, allowed)
    cosines = exact_cosines(contents.vectors, rows, subject.vector).astype(np.float32)
    shared = cosines if common is None else common[rows]
    scores = likeness(shared, cosines)
    return [
        Match(row, 1.0 if _is_same(subject, row) else float(score))
        for row, score in zip(contents.rows(rows), scores, strict=True)
    ]


def alike(one: Subject, other: Subject) -> float:
    """The likeness of two designs, from 0 to 1; 1 for the same design and for it alone."""
    if _is_same(one, other):
        return 1.0
    cosine = np.array([one.vector @ other.vector], dtype=np.float32)
    if one.labels is None or other.labels is None:
        return float(likeness(cosine, cosine)[0])
    both = LabelTable.joined([one.labels, other.labels])
    return float(likeness(overlaps(both, np.array([0]), np.array([1])), cosine)[0])


def _is_same(one: Subject, other: Subject | ArchitectureRow) -> bool:
    """Whether two are one design up to the sizes of classifier and vocabulary."""
    return one.fingerprint == other.fingerprint or (one.design == other.design != "")


def _common(contents: Contents, subject: Subject) -> FloatArray | None:
    if subject.labels is None or contents.postings is None:
        return None
    return contents.postings.overlaps(subject.labels, 0)


def _best(shared: FloatArray, count: int, allowed: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    """The rows of the largest overlaps."""
    rows = np.arange(len(shared)) if allowed is None else np.flatnonzero(allowed)
    if len(rows) <= count:
        return rows
    return rows[np.argpartition(-shared[rows], count)[:count]]


def _with_identical(
    rows: NDArray[np.int64],
    contents: Contents,
    subject: Subject,
    allowed: NDArray[np.bool_] | None,
) -> NDArray[np.int64]:
    place = contents.positions.get(subject.fingerprint)
    if place is None or (allowed is not None and not allowed[place]):
        return rows
    return np.union1d(rows, [place]).astype(np.int64)


def under_own_name(index: ArchitectureIndex, ranked: Ranked, name: str | None) -> Ranked:
    """A hit under the name that was asked for, where that is one of its names."""
    match = ranked.match
    row = under(index.contents, match.row, name)
    return ranked if row is match.row else replace(ranked, match=replace(match, row=row))


def _single(matches: Sequence[Match]) -> list[Ranked]:
    return [Ranked(match) for match in matches]


def _folded(matches: Sequence[Match], places: Mapping[str, int], subject: Subject) -> list[Ranked]:
    """One hit for each backbone. The user's own models stand for themselves.

    `_representative` names a hit, which ranks by the score that it shows. The backbone of the
    question ranks by its most alike row: heads do not move it down.
    """
    groups: dict[str, list[Match]] = {}
    for match in matches:
        row = match.row
        own = match.overlay and row.fingerprint not in places
        key = row.fingerprint if own else row.backbone or row.design or row.fingerprint
        groups.setdefault(key, []).append(match)
    found: list[tuple[float, Ranked]] = []
    for group in groups.values():
        best = group[0]
        if not _is_same(subject, best.row):
            best = _representative(group, places, subject)
        others = tuple(match.row for match in group if match is not best)
        own = group[0].row.backbone == subject.backbone != ""
        found.append((group[0].score if own else best.score, Ranked(best, others)))
    found.sort(key=lambda pair: -pair[0])
    return [ranked for _, ranked in found]


def _representative(group: Sequence[Match], places: Mapping[str, int], subject: Subject) -> Match:
    """The row that stands for its backbone: of the best known family, the most alike.

    An index has the graphs of most names first. Of rows that are as good as equally alike the best
    known counts. So twelve BERT layers are BERT's, and not those of the model with the least head.

    Args:
        group: Rows of one backbone, the most alike first.
        places: Of the index, by fingerprint.
        subject: What is asked about, no design of the group.
    """

    def known(match: Match) -> int:
        return places.get(match.row.fingerprint, len(places))

    own = group[0].row.backbone == subject.backbone != ""
    near = _near(group, _OF_ONE_BACKBONE if own else _NEARLY)
    family = min(near, key=known).row.family
    return min(_near([match for match in near if match.row.family == family], _NEARLY), key=known)


def _near(matches: Sequence[Match], by: float) -> list[Match]:
    """Those of matches, best first, that are less alike than the first by no more than this."""
    return [match for match in matches if match.score >= matches[0].score - by]
