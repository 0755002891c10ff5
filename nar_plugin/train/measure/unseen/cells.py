"""A cell of the splits `edits`, `kin` and `triples`: fit a method on what it may see, and ask."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.corpus.splits import family_numbers
from nar_plugin.train.measure.methods import Method
from nar_plugin.train.measure.metrics import IntArray, NothingToAsk
from nar_plugin.train.measure.unseen.kin import KIN_VERSION, kin_quality, kin_split
from nar_plugin.train.measure.unseen.ladder_files import read_or_make
from nar_plugin.train.measure.unseen.ladders import LADDERS_VERSION, edits_quality, trained_on
from nar_plugin.train.measure.unseen.scoring import Asked, asked
from nar_plugin.train.measure.unseen.taxonomy import taxonomy_table
from nar_plugin.train.measure.unseen.triples import read_triples, triple_quality, triples_table

Name = Literal["edits", "kin", "triples"]
SPLITS: tuple[str, ...] = get_args(Name)


@dataclass(frozen=True)
class Measured:
    """What a cell keeps: the figures, the sizes of the split, and the seconds."""

    quality: dict[str, Any]
    facts: dict[str, int]
    seconds: dict[str, float]


def version(split: str) -> str:
    """What the figures of a split depend on beside the corpus: a change measures them anew."""
    of: dict[str, Callable[[], str]] = {
        "edits": lambda: LADDERS_VERSION,
        "kin": lambda: KIN_VERSION + taxonomy_table(),
        "triples": triples_table,
    }
    return of[split]()


def measure(
    split: str,
    items: Sequence[CorpusGraph],
    method: Method,
    seed: int,
    folder: Path,
    *,
    validation: bool,
) -> Measured:
    """Fit and ask a method.

    Args:
        split: One of `SPLITS`.
        items: The graphs that count.
        method: What is measured, not fitted yet.
        seed: Of the split.
        folder: Keeps the edited graphs of this corpus, seed and side.
        validation: Which side asks.

    Raises:
        NothingToAsk: The corpus is too small for the split.
    """
    every = np.arange(len(items))
    clock = _Clock(method, items)
    if split == "edits":
        made = read_or_make(items, seed, folder, validation=validation)
        _want(len(made), "no design that can be edited")
        train = trained_on(items, made)
        scores = clock.fitted(train, [*items, *(each.item for each in made)])
        quality: Any = edits_quality(scores, items, made)
        count = len(made)
    elif split == "kin":
        kin = kin_split(items, seed, validation=validation)
        _want(len(kin.queries), "no two families of one parent")
        train = kin.train
        quality = kin_quality(clock.fitted(train, items), kin)
        count = len(kin.queries)
    else:
        triples = read_triples(items, validation=validation)
        train = every
        quality = triple_quality(clock.fitted(train, items), triples)
        count = len(triples.graphs)
    facts = {"train": len(train), "queries": count, "candidates": len(items)}
    return Measured(asdict(quality), facts, clock.seconds)


def _want(questions: int, lacking: str) -> None:
    if not questions:
        raise NothingToAsk(f"the corpus has {lacking}.")


class _Clock:
    """Fits a method and embeds with it, and notes how long both take."""

    def __init__(self, method: Method, items: Sequence[CorpusGraph]) -> None:
        self._method, self._items = method, items
        self.seconds: dict[str, float] = {}

    def fitted(self, train: IntArray, graphs: Sequence[CorpusGraph]) -> Asked:
        """The method after its training, ready to be asked about some graphs."""
        labels = family_numbers(self._items)
        started = time.perf_counter()
        self._method.fit([self._items[number] for number in train.tolist()], labels[train])
        fitted = time.perf_counter()
        scores = asked(self._method, graphs)
        earlier = getattr(self._method, "earlier", 0.0)
        self.seconds = {"fit": earlier + fitted - started, "embed": time.perf_counter() - fitted}
        return scores
