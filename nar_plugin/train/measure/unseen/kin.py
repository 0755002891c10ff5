"""The split `kin`: which designs come first for a family when its own graphs are left out.

Each family asks with one graph, that of most names. Its own graphs are no candidates, and of each
other family only the best hit counts: the ranking is one of families, graded by `taxonomy`. Half of
the large families of a side are never trained on; their figures stand apart.

A family asks where another one has its parent. P@k divides by min(k, families of grade 3), so that
1 can be reached; NDCG@k has the gains 2^grade - 1 and the best order as its ideal. Of a family with
fewer than five others that are not foreign, only the foreign hits count that need not be there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.corpus.splits import families
from nar_plugin.train.measure.metrics import IntArray
from nar_plugin.train.measure.unseen.scoring import Asked
from nar_plugin.train.measure.unseen.sides import validates
from nar_plugin.train.measure.unseen.taxonomy import FOREIGN, SAME_PARENT, grade, lineage

KIN_VERSION = "2"  # of the split and the figures
CUT = 5
_LARGE = 5  # graphs of a family that may be held out, as in the split of unseen families
_BLOCK = 64
_FIGURES = ("same_parent", "first", "precision", "ndcg", "foreign", "first_foreign")


@dataclass(frozen=True)
class Kin:
    """Who asks, who is found and who is trained on.

    Attributes:
        labels: int64[n], the family of each graph, in alphabetical order of the F families.
        queries: int64[q], the graphs that ask, one a family.
        grades: int8[q, F], how near each family is to that of each query.
        siblings: bool[q, F], whether it has the same parent.
        unseen: bool[q], whether the family of each is held out from training.
        train: Numbers of the graphs to train on.
    """

    labels: IntArray
    queries: IntArray
    grades: NDArray[np.int8]
    siblings: NDArray[np.bool_]
    unseen: NDArray[np.bool_]
    train: IntArray


@dataclass(frozen=True)
class KinFigures:
    """Means over families.

    Attributes:
        queries: How many families asked.
        first: P@1, the share whose first hit is of grade 3.
        same_parent: The share whose first hit has the same parent: without parents and children.
        precision: P@5.
        ndcg: NDCG@5.
        foreign: Share of foreign ones among the first five.
        first_foreign: Share whose first hit is foreign.
    """

    queries: int
    first: float
    same_parent: float
    precision: float
    ndcg: float
    foreign: float
    first_foreign: float


@dataclass(frozen=True)
class KinQuality:
    """The figures of families that training saw, and of those that it did not."""

    seen: KinFigures
    unseen: KinFigures


def kin_split(items: Sequence[CorpusGraph], seed: int, *, validation: bool = False) -> Kin:
    """The families of one side, and which of them are held out.

    Args:
        items: The graphs that count.
        seed: Of the choice of the families that are held out.
        validation: Whether the validation half of the families asks.
    """
    of = families(items)
    names = sorted(set(of))
    number = {name: place for place, name in enumerate(names)}
    labels = np.array([number[name] for name in of], dtype=np.int64)
    asking = np.array([not item.is_composed for item in items])
    sizes = np.bincount(labels[asking], minlength=len(names))
    side = np.array([validates(name) == validation for name in names])
    random = np.random.default_rng(seed)
    large = random.permutation(np.flatnonzero(side & (sizes >= _LARGE)))
    held = np.isin(np.arange(len(names)), large[: len(large) // 2])
    queries, grades, siblings = [], [], []
    parents = np.array([lineage(name).parent for name in names])
    for place in np.flatnonzero(side & (sizes > 0)).tolist():
        row = np.array([grade(names[place], other) for other in names], dtype=np.int8)
        if (row == SAME_PARENT).sum() > 1:  # its own is one
            queries.append(_first_of(items, labels, asking, place))
            grades.append(row)
            siblings.append((parents == parents[place]) & (parents != ""))
    asked = np.array(queries, dtype=np.int64)
    table = np.array(grades, dtype=np.int8).reshape(-1, len(names))
    same = np.array(siblings, dtype=bool).reshape(-1, len(names))
    return Kin(labels, asked, table, same, held[labels[asked]], np.flatnonzero(~held[labels]))


def _first_of(
    items: Sequence[CorpusGraph], labels: IntArray, asking: NDArray[np.bool_], family: int
) -> int:
    """The graph of a family that most names have, of the most by the first name."""
    own = np.flatnonzero((labels == family) & asking).tolist()
    return int(max(own, key=lambda place: (len(items[place].names), -place)))


def kin_quality(scores: Asked, kin: Kin) -> KinQuality:
    """Rank the families for each query, and grade the first ones.

    Args:
        scores: Answers for all graphs.
        kin: The split.
    """
    every = np.arange(len(kin.labels))
    order = np.argsort(kin.labels, kind="stable")
    starts = np.searchsorted(kin.labels[order], np.arange(kin.grades.shape[1]))
    rows = []
    for start in range(0, len(kin.queries), _BLOCK):
        part = slice(start, start + _BLOCK)
        own = kin.labels[kin.queries[part]]
        nearness = scores.among(kin.queries[part], every)
        best = np.maximum.reduceat(nearness[:, order], starts, axis=1)  # [b, F]
        best[np.arange(len(own)), own] = -np.inf
        tables = (kin.grades[part], kin.siblings[part])
        for row, grades, siblings, family in zip(best, *tables, own, strict=True):
            top = np.argsort(-row, kind="stable")[:CUT]
            first = np.where(np.isfinite(row[top]), grades[top], FOREIGN)
            others = Counter(np.delete(grades, family).tolist())
            first_parent = bool(siblings[top[0]] and np.isfinite(row[top[0]]))
            rows.append((first_parent, *measured(first.tolist(), others)))
    found = np.array(rows, dtype=np.float64).reshape(-1, len(_FIGURES))
    return KinQuality(_means(found[~kin.unseen]), _means(found[kin.unseen]))


def measured(grades: Sequence[int], others: Counter[int]) -> tuple[float, ...]:
    """P@1, P@5, NDCG@5, the foreign share of the first five, and whether the first is foreign.

    Args:
        grades: Of the first five families, the best first.
        others: How many families have each grade.
    """
    near = others[SAME_PARENT]
    right = sum(value == SAME_PARENT for value in grades)
    discounts = 1 / np.log2(np.arange(2, CUT + 2))
    ideal = sorted(others.elements(), reverse=True)[:CUT]
    gains, best = ((2.0 ** np.array(list(row)) - 1) for row in (grades, ideal))
    ndcg = (gains * discounts[: len(gains)]).sum() / (best * discounts[: len(best)]).sum()
    related = sum(others.values()) - others[FOREIGN]
    foreign = sum(value == FOREIGN for value in grades) - max(0, CUT - related)
    return (
        float(grades[0] == SAME_PARENT),
        right / min(CUT, near),
        float(ndcg),
        max(0, foreign) / min(CUT, max(1, related)),
        float(grades[0] == FOREIGN),
    )


def _means(rows: NDArray[np.float64]) -> KinFigures:
    means = rows.mean(axis=0).tolist() if len(rows) else [0.0] * len(_FIGURES)
    return KinFigures(len(rows), **dict(zip(_FIGURES, means, strict=True)))
