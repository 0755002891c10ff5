"""What novelty means: that of families which nobody has seen, against new sizes of known ones.

A quarter of the large families is held out, as in the split of unseen families, and a tenth of the
backbones of the others. The encoder is trained on the rest, and the rest is what is found. Each
held-out design asks how novel it is: 1 minus the likeness of the best hit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nar_plugin.encoder.backbone import backbone
from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.corpus.splits import IntArray, split_corpus
from nar_plugin.train.measure.likeness_method import LikenessMethod
from nar_plugin.train.measure.unseen.scoring import asked

FloatArray = NDArray[np.float64]
STEPS = 21  # quantiles that are kept, from the least to the greatest
_PART = 10  # one backbone in ten is a new size
_BLOCK = 64


@dataclass(frozen=True)
class NoveltySplit:
    """Who asks and what is known.

    Attributes:
        train: int64[t], what is trained on and found.
        unseen: int64[u], designs of families that are held out.
        sizes: int64[s], a design for each held-out backbone of the other families.
    """

    train: IntArray
    unseen: IntArray
    sizes: IntArray


@dataclass(frozen=True)
class NoveltyFigures:
    """How novel held-out designs are.

    Attributes:
        unseen: float64[u], of families that are held out.
        sizes: float64[s], of new sizes of known families.
    """

    unseen: FloatArray
    sizes: FloatArray

    @property
    def auc(self) -> float:
        """How often a design of an unseen family is more novel than a new size; a tie is a half."""
        order = np.sort(self.sizes)
        below = np.searchsorted(order, self.unseen, "left")
        upto = np.searchsorted(order, self.unseen, "right")
        return float((below + upto).mean() / (2 * len(order)))

    @property
    def quantiles(self) -> dict[str, list[float]]:
        """`STEPS` quantiles of each, evenly spaced from the least to the greatest."""
        steps = np.linspace(0, 1, STEPS)
        found = {"unseen_families": self.unseen, "new_sizes": self.sizes}
        return {
            name: [round(value, 4) for value in np.quantile(values, steps).tolist()]
            for name, values in found.items()
        }


def novelty_split(items: Sequence[CorpusGraph], seed: int) -> NoveltySplit:
    """Hold families and sizes out.

    Args:
        items: The graphs that count.
        seed: Of the choice.
    """
    split = split_corpus(items, "unseen", seed)
    of = np.array([backbone(item.macro(), item.design) for item in items])
    families = split.labels
    known = split.train
    lone = {  # families of one backbone have no other size
        family
        for family in np.unique(families[known]).tolist()
        if len(np.unique(of[known][families[known] == family])) < 2
    }
    asking = [
        place
        for place in known.tolist()
        if not items[place].is_composed and families[place] not in lone
    ]
    first: dict[str, int] = {}
    for place in sorted(asking, key=lambda place: -len(items[place].names)):
        first.setdefault(of[place], place)
    random = np.random.default_rng(seed)
    chosen = random.permutation(sorted(first))[: len(first) // _PART]
    sizes = np.array(sorted(first[name] for name in chosen.tolist()), dtype=np.int64)
    train = known[~np.isin(of[known], chosen)]
    return NoveltySplit(train, split.queries, sizes)


def novelty_figures(
    items: Sequence[CorpusGraph], split: NoveltySplit, method: LikenessMethod
) -> NoveltyFigures:
    """How novel the held-out designs are.

    Args:
        items: The graphs that count.
        split: Who asks.
        method: The likeness, fitted on `split.train`.
    """
    scores = asked(method, items)

    def novelty(queries: IntArray) -> FloatArray:
        parts = [
            scores.among(queries[start : start + _BLOCK], split.train).max(axis=1)
            for start in range(0, len(queries), _BLOCK)
        ]
        return 1 - np.concatenate(parts).astype(np.float64)

    return NoveltyFigures(novelty(split.unseen), novelty(split.sizes))
