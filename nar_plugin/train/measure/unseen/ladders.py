"""The split `edits`: designs of the corpus, and what they become after 1, 2, 4 and 8 edits.

For each origin three single edits of different kinds are drawn, the rarest kinds first, so that
all kinds are asked about equally often; and one ladder, of kinds that do not repeat, which is kept
after 1, 2, 4 and 8 edits, as far as enough kinds apply. The origin and all graphs of the corpus are
candidates. Origins are never trained on, nor are the graphs of their designs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from nar_plugin.encoder.backbone import backbone
from nar_plugin.mining import MINING_VERSION, mine
from nar_plugin.tracing.fingerprint import design, topology
from nar_plugin.tracing.graph import ArchitectureGraph
from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.corpus.splits import families
from nar_plugin.train.fit.edits import EDITS, EDITS_VERSION, HELD_OUT, edited
from nar_plugin.train.measure.metrics import IntArray
from nar_plugin.train.measure.unseen.scoring import Asked
from nar_plugin.train.measure.unseen.sides import validates

LADDERS_VERSION = f"1 edits {EDITS_VERSION} mining {MINING_VERSION}"
ORIGINS = 400
RUNGS = (1, 2, 4, 8)
_SINGLE = 3  # edits of an origin that are asked by themselves
_SMALLEST, _LARGEST = 20, 800  # operations of an origin; ladders of larger ones take minutes
_BLOCK = 256


@dataclass(frozen=True)
class Edited:
    """A graph that was made.

    Attributes:
        item: The graph.
        origin: The number of the origin in the corpus.
        kinds: The edits that were made, in order.
        ladder: Whether it stands on a ladder, or is a single edit.
    """

    item: CorpusGraph
    origin: int
    kinds: tuple[str, ...]
    ladder: bool


@dataclass(frozen=True)
class EditsQuality:
    """How the origins are found.

    Attributes:
        queries: How many edited graphs asked.
        first: Share of them for which the origin or a graph of its backbone comes first, after one
            edit of any kind.
        held_out: The same of the kinds that no training uses.
        by_kind: The same by kind.
        by_rung: The same on the ladders, after each number of edits.
        asked: How many asked, by kind and by number of edits.
        falling: Share of the ladders' steps from one rung to the next, the origin itself included,
            in which the likeness to the origin falls.
        falling_by_rung: The same, by the rung that a step leads to.
        likeness: Mean likeness to the origin, by number of edits.
    """

    queries: int
    first: float
    held_out: float
    by_kind: dict[str, float]
    by_rung: dict[str, float]
    asked: dict[str, int]
    falling: float
    falling_by_rung: dict[str, float]
    likeness: dict[str, float]


def origins(items: Sequence[CorpusGraph], seed: int, *, validation: bool = False) -> IntArray:
    """Numbers of the graphs that are edited: one a design, at most three a family."""
    random = np.random.default_rng(seed)
    of = families(items)
    drawn: list[int] = []
    designs: set[str] = set()
    taken: Counter[str] = Counter()
    for number in random.permutation(len(items)).tolist():
        item = items[number]
        fits = _SMALLEST <= len(item.graph) <= _LARGEST and not item.is_composed
        if not fits or validates(of[number]) != validation or taken[of[number]] >= _SINGLE:
            continue
        if item.design not in designs:
            designs.add(item.design)
            taken[of[number]] += 1
            drawn.append(number)
        if len(drawn) == ORIGINS:
            break
    return np.array(drawn, dtype=np.int64)


def make(items: Sequence[CorpusGraph], seed: int, *, validation: bool = False) -> list[Edited]:
    """The edited graphs of one side."""
    random = np.random.default_rng(seed + 1)
    often: Counter[str] = Counter()
    found: list[Edited] = []
    drawn = origins(items, seed, validation=validation)
    for origin in tqdm(drawn.tolist(), unit="origin", desc="edits", disable=len(drawn) < 20):
        known = {items[origin].fingerprint}
        single = 0
        for kind in sorted(EDITS, key=lambda kind: (often[kind], random.random())):
            if single == _SINGLE:
                break
            graph = edited(items[origin].graph, kind, random)
            if graph is not None and graph.fingerprint not in known:
                known.add(graph.fingerprint)
                often[kind] += 1
                single += 1
                found.append(_made(graph, items[origin], origin, (kind,), ladder=False))
        for graph, kinds in _rungs(items[origin].graph, random):
            found.append(_made(graph, items[origin], origin, kinds, ladder=True))
    return found


def _rungs(
    graph: ArchitectureGraph, random: np.random.Generator
) -> Iterator[tuple[ArchitectureGraph, tuple[str, ...]]]:
    """A graph after 1, 2, 4 and 8 edits of different kinds."""
    kinds: tuple[str, ...] = ()
    known = {graph.fingerprint}
    for kind in random.permutation(list(EDITS)).tolist():
        further = edited(graph, kind, random)
        if further is None or further.fingerprint in known or len(further) > 2 * _LARGEST:
            continue
        graph, kinds = further, (*kinds, kind)
        known.add(graph.fingerprint)
        if len(kinds) in RUNGS:
            yield graph, kinds
        if len(kinds) == RUNGS[-1]:
            return


def _made(
    graph: ArchitectureGraph,
    origin: CorpusGraph,
    number: int,
    kinds: tuple[str, ...],
    *,
    ladder: bool,
) -> Edited:
    name = f"edit:{'+'.join(kinds)}:{origin.names[0]['name']}"
    return Edited(corpus_graph(graph, name, like=origin), number, kinds, ladder)


def corpus_graph(graph: ArchitectureGraph, name: str, *, like: CorpusGraph) -> CorpusGraph:
    """A graph as the corpus holds it: mined, with the labels of another one."""
    macro = mine(graph)
    labels: dict[str, Any] = {**like.names[0], "name": name, "fingerprint": graph.fingerprint}
    return CorpusGraph(
        macro.graph,
        graph.fingerprint,
        design(graph),
        topology(graph),
        macro.spans[:, 0].astype(np.int32),
        macro.table(),
        (labels,),
    )


def trained_on(items: Sequence[CorpusGraph], made: Sequence[Edited]) -> IntArray:
    """Numbers of the graphs to train on: those of other designs than the origins."""
    designs = {items[each.origin].design for each in made}
    return np.array([n for n, item in enumerate(items) if item.design not in designs])


def edits_quality(
    scores: Asked, items: Sequence[CorpusGraph], made: Sequence[Edited]
) -> EditsQuality:
    """Ask for each edited graph among the graphs of the corpus.

    Args:
        scores: Answers for the n graphs of the corpus and, behind them, the edited ones in order.
        items: The n graphs of the corpus.
        made: The edited graphs.
    """
    count = len(items)
    corpus = np.arange(count)
    numbers = count + np.arange(len(made))
    best = np.zeros(len(made), dtype=np.int64)
    for start in range(0, len(made), _BLOCK):
        part = slice(start, start + _BLOCK)
        best[part] = scores.among(numbers[part], corpus).argmax(axis=1)
    sources = np.array([each.origin for each in made], dtype=np.int64)
    right = np.array(
        [
            _same_backbone(items[hit], items[source])
            for hit, source in zip(best.tolist(), sources.tolist(), strict=True)
        ]
    )
    alike = scores.pairs(numbers, sources)
    steps = _steps(made, alike, scores.pairs(sources, sources))
    single: dict[str, list[int]] = {kind: [] for kind in EDITS}
    rungs: dict[int, list[int]] = {rung: [] for rung in RUNGS}
    for place, each in enumerate(made):
        if each.ladder:
            rungs[len(each.kinds)].append(place)
        else:
            single[each.kinds[0]].append(place)
    return EditsQuality(
        len(made),
        _mean(right, [place for places in single.values() for place in places]),
        _mean(right, [place for kind in HELD_OUT for place in single[kind]]),
        {kind: _mean(right, places) for kind, places in single.items() if places},
        {str(rung): _mean(right, places) for rung, places in rungs.items()},
        {str(key): len(places) for key, places in [*single.items(), *rungs.items()]},
        _mean(np.array([falls for falls, _ in steps])),
        {
            str(rung): _mean(np.array([falls for falls, to in steps if to == rung]))
            for rung in RUNGS
        },
        {str(rung): _mean(alike, places) for rung, places in rungs.items()},
    )


def _same_backbone(hit: CorpusGraph, origin: CorpusGraph) -> bool:
    """Whether a hit is the origin, a graph of its design, or one of its backbone."""
    if hit.design == origin.design:
        return True
    return backbone(hit.macro(), hit.design) == backbone(origin.macro(), origin.design)


def _steps(
    made: Sequence[Edited], alike: NDArray[np.float32], own: NDArray[np.float32]
) -> list[tuple[bool, int]]:
    """Of each step of a ladder: whether the likeness to the origin falls, and the rung after it."""
    found: list[tuple[bool, int]] = []
    before = 0.0
    for place, each in enumerate(made):
        if each.ladder:
            if len(each.kinds) == RUNGS[0]:
                before = float(own[place])
            found.append((bool(alike[place] < before), len(each.kinds)))
            before = float(alike[place])
    return found


def _mean(values: NDArray[Any], places: Sequence[int] | None = None) -> float:
    """The mean of some of the values; 0 of none."""
    chosen = values if places is None else values[list(places)]
    return float(chosen.mean()) if len(chosen) else 0.0
