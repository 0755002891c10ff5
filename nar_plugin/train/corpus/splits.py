"""What is trained on, what asks and what may be found: the splits in which methods are measured.

| split | queries | never in training |
|---|---|---|
| `paper` | a tenth of the names, by family | those names; their graphs may be, under other names |
| `unique` | a tenth of the distinct graphs, by family | those graphs |
| `unseen` | a quarter of the families with at least 5 graphs that may ask | those families |

The candidates are the whole corpus. Designs composed of a backbone and a head are trained on and
found and never ask: their number says how many pairs a library lists, not how many designs exist.
A family of one graph cannot ask. `validation=True` cuts the same once more, out of what is left
for training: settings are chosen there, so that each test split is read once.

The paper divides its records 0.9 to 0.1, stratified by the fine-grained class (section 4.1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.corpus.fact_labels import ancestors

IntArray = NDArray[np.int64]
Name = Literal["paper", "unique", "unseen"]
_PART = 10  # one in ten is a query (section 4.1: 0.9/0.1)
_FAMILIES = 4  # one in four large families is never seen
_LARGE = 5  # graphs of a large family


@dataclass(frozen=True)
class Split:
    """Who is trained on, who asks and who may be found.

    Attributes:
        graphs: int64[n], the graph of each of the n entries, as its number in the list of graphs.
            An entry is a graph, or in the split of the paper a name.
        labels: int64[n], the family of each entry, as a number.
        train: Entries to train on.
        queries: Entries that ask.
        candidates: Entries that may be found; a query never finds itself.
    """

    graphs: IntArray
    labels: IntArray
    train: IntArray
    queries: IntArray
    candidates: IntArray = field(repr=False)


def split_corpus(
    items: Sequence[CorpusGraph], name: Name, seed: int, *, validation: bool = False
) -> Split:
    """Split the graphs of a corpus.

    Args:
        items: The graphs that count: `CorpusGraph.is_searched`.
        name: `paper`, `unique` or `unseen`.
        seed: Of the choice of queries.
        validation: Whether to divide the training side of this split once more, in the same way;
            what the split itself asks is then no candidate.
    """
    named = name == "paper"
    sizes = [len(item.names) if named else 1 for item in items]
    graphs = np.repeat(np.arange(len(items)), sizes)
    labels = family_numbers(items)[graphs]
    asking = np.array([not item.is_composed for item in items])[graphs]
    random = np.random.default_rng(seed)
    candidates = np.arange(len(graphs))
    for _ in range(1 + validation):
        queries = chosen_queries(name, labels, asking, candidates, random)
        held = np.isin(labels, labels[queries]) if name == "unseen" else _mask(queries, len(graphs))
        train = candidates[~held[candidates]]
        split = Split(graphs, labels, train, queries, candidates)
        candidates = train
    return split


def families(items: Sequence[CorpusGraph]) -> list[str]:
    """The family of each graph, one for all graphs of a design.

    Graphs of a design differ in head and vocabulary alone; they and their names may be of several
    families, as BERT is RoBERTa and ERNIE too. Of these, those that descend from another one
    (`families.toml`) do not count; of the others that of most names in the corpus does.
    """
    named = Counter(str(row["family"]) for item in items for row in item.names)
    sharing: dict[str, set[str]] = {}
    for item in items:
        sharing.setdefault(item.design, set()).update(str(row["family"]) for row in item.names)

    def chosen(several: set[str]) -> str:
        first = [family for family in several if several.isdisjoint(ancestors(family))]
        return min(first, key=lambda family: (-named[family], family))

    of = {design: chosen(several) for design, several in sharing.items()}
    return [of[item.design] for item in items]


def family_numbers(items: Sequence[CorpusGraph]) -> IntArray:
    """int64[n]: the number of each graph's family, counted in alphabetical order."""
    of = families(items)
    numbers = {family: number for number, family in enumerate(sorted(set(of)))}
    return np.array([numbers[family] for family in of], dtype=np.int64)


def near_duplicates(items: Sequence[CorpusGraph], split: Split) -> int:
    """How many queries have a graph of equal design, but another head, in training."""
    trained = {items[graph].design for graph in split.graphs[split.train].tolist()}
    return sum(items[graph].design in trained for graph in split.graphs[split.queries].tolist())


def chosen_queries(
    name: Name,
    labels: IntArray,
    asking: NDArray[np.bool_],
    candidates: IntArray,
    random: np.random.Generator,
) -> IntArray:
    """The entries that ask, out of the candidates.

    Args:
        name: See `split_corpus`.
        labels: int64[n], the family of each entry.
        asking: bool[n], which entries may ask.
        candidates: Numbers of the entries that may be found.
        random: What chooses.
    """
    can = candidates[asking[candidates]]
    if name == "unseen":
        large = np.flatnonzero(np.bincount(labels[can]) >= _LARGE)
        chosen = random.permutation(large)[: len(large) // _FAMILIES]
        return can[np.isin(labels[can], chosen)]
    sizes = np.bincount(labels[candidates])
    return _every_tenth(can[sizes[labels[can]] > 1], labels, random)


def _every_tenth(entries: IntArray, labels: IntArray, random: np.random.Generator) -> IntArray:
    """A stratified tenth: every tenth entry, the entries of a family standing together.

    A family of fewer than ten entries has at most one query, and families of all sizes have a
    tenth of their entries on average.
    """
    shuffled = random.permutation(entries)
    together = shuffled[
        np.argsort(random.permutation(labels.max() + 1)[labels[shuffled]], kind="stable")
    ]
    return np.sort(together[random.integers(_PART) :: _PART])


def _mask(places: IntArray, count: int) -> NDArray[np.bool_]:
    mask = np.zeros(count, dtype=bool)
    mask[places] = True
    return mask
