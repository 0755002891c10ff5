"""Twins: one published architecture in two libraries, and how often the one finds the other.

`twins.tsv` names the pairs. A graph asks for its twin among the graphs of the twin's library.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.corpus.splits import IntArray, Split, family_numbers
from nar_plugin.train.measure.metrics import Asked, Vectors, nearness


@dataclass(frozen=True)
class Twin:
    """Two names of one architecture.

    Attributes:
        names: Such as `timm:resnet50` and `mmpretrain:resnet50_8xb32_in1k`.
        graphs: Their numbers in the list of graphs; equal where both libraries give one graph.
        architecture: A number that all pairs of one architecture share.
    """

    names: tuple[str, str]
    graphs: tuple[int, int]
    architecture: int


@dataclass(frozen=True)
class TwinQuality:
    """How the twins rank, every pair asked both ways.

    Attributes:
        questions: Two for each pair.
        differing: Share of the questions whose two graphs differ; the others rank first by
            definition.
        first: R@1, the share whose twin is the first hit.
        tenth: R@10, the share whose twin is among the ten first hits.
        first_differing: R@1 where the graphs differ.
        tenth_differing: R@10 where the graphs differ.
    """

    questions: int
    differing: float
    first: float
    tenth: float
    first_differing: float
    tenth_differing: float


def read_twins(items: Sequence[CorpusGraph]) -> list[Twin]:
    """The pairs of `twins.tsv` whose names are both in the corpus."""
    places = {str(row["name"]): number for number, item in enumerate(items) for row in item.names}
    rows = csv.DictReader(twins_table().splitlines(), delimiter="\t")
    names = [(row["first"], row["second"]) for row in rows]
    pairs = [pair for pair in names if pair[0] in places and pair[1] in places]
    graphs = [(places[first], places[second]) for first, second in pairs]
    numbers = _components(graphs, len(items))
    return [Twin(pair, both, numbers[both[0]]) for pair, both in zip(pairs, graphs, strict=True)]


def twins_table() -> str:
    """The content of `twins.tsv`, without comments."""
    text = files("nar_plugin.train.measure").joinpath("twins.tsv").read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def half_of(twins: Sequence[Twin], seed: int, *, validation: bool = False) -> list[Twin]:
    """The half of the architectures that tests, or the half that settings are chosen on."""
    architectures = sorted({twin.architecture for twin in twins})
    order = np.random.default_rng(seed).permutation(architectures)
    chosen = set(order[int(validation) :: 2].tolist())
    return [twin for twin in twins if twin.architecture in chosen]


def held_out(items: Sequence[CorpusGraph], twins: Sequence[Twin]) -> NDArray[np.bool_]:
    """bool[n]: the graphs that a training must not see, so that no pair is ever taught.

    These are the graphs of the pairs and all that share a fingerprint or a design with one: left
    out, they are neither positives of each other nor can they have an exact label in common.
    """
    own = {graph for twin in twins for graph in twin.graphs}
    designs = {items[graph].design for graph in own}
    return np.array([number in own or item.design in designs for number, item in enumerate(items)])


def twin_split(
    items: Sequence[CorpusGraph], seed: int, *, validation: bool = False
) -> tuple[Split, list[Twin]]:
    """The split of the twins, and the pairs that ask in it.

    For validation neither half is trained on.
    """
    twins = read_twins(items)
    asking = half_of(twins, seed, validation=validation)
    held = held_out(items, twins if validation else asking)
    every = np.arange(len(items))
    queries = np.unique([graph for twin in asking for graph in twin.graphs]).astype(np.int64)
    split = Split(every, family_numbers(items), every[~held], queries, every)
    return split, asking


def twin_quality(
    vectors: Vectors | Asked,
    items: Sequence[CorpusGraph],
    twins: Sequence[Twin],
) -> TwinQuality:
    """Rank every twin among the graphs of its library, for the other one, both ways.

    Args:
        vectors: float32[n, d], dense or sparse, rows of length 1, one for each graph.
        items: The n graphs.
        twins: The pairs that ask.
    """
    ranks = twin_ranks(vectors, items, twins)  # [pairs, 2]
    differ = np.array([twin.graphs[0] != twin.graphs[1] for twin in twins], dtype=bool)
    other = ranks[differ]
    return TwinQuality(
        ranks.size,
        float(differ.mean()),
        _share(ranks, 1),
        _share(ranks, 10),
        _share(other, 1),
        _share(other, 10),
    )


def twin_ranks(
    vectors: Vectors | Asked,
    items: Sequence[CorpusGraph],
    twins: Sequence[Twin],
) -> IntArray:
    """int64[pairs, 2]: rank of the second for the first, and of the first for the second."""
    libraries = _libraries(items)
    ranks = np.ones((len(twins), 2), dtype=np.int64)
    for row, twin in enumerate(twins):
        for way in range(2 if twin.graphs[0] != twin.graphs[1] else 0):
            query, wanted = twin.graphs[way], twin.graphs[1 - way]
            among = libraries[_library(twin.names[1 - way])]
            among = among[among != query]
            cosines = nearness(vectors, np.array([query]), among)[0]  # [graphs of a library]
            place = int(np.flatnonzero(among == wanted)[0])
            before = (cosines > cosines[place]).sum() + (cosines[:place] == cosines[place]).sum()
            ranks[row, way] = 1 + before
    return ranks


def _share(ranks: IntArray, k: int) -> float:
    return float((ranks <= k).mean()) if ranks.size else 1.0


def _libraries(items: Sequence[CorpusGraph]) -> dict[str, IntArray]:
    """The graphs that each library has, by the first word of its names."""
    found: dict[str, set[int]] = {}
    for number, item in enumerate(items):
        for row in item.names:
            found.setdefault(_library(str(row["name"])), set()).add(number)
    return {library: np.array(sorted(graphs)) for library, graphs in found.items()}


def _library(name: str) -> str:
    return name.partition(":")[0]


def _components(pairs: Sequence[tuple[int, int]], count: int) -> list[int]:
    """The smallest graph that each graph is connected with by pairs."""
    root = list(range(count))

    def top(graph: int) -> int:
        while root[graph] != graph:
            graph = root[graph]
        return graph

    for first, second in pairs:
        low, high = sorted((top(first), top(second)))
        root[high] = low
    return [top(graph) for graph in range(count)]
