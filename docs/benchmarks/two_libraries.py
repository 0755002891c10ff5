"""Known and unseen families among timm and torchvision alone, with their own modules as labels.

`python docs/benchmarks/two_libraries.py` measures the recipe `default` and training-free baselines
on what `timm.list_models()` and torchvision list, each model with the module that defines it as
its family: what the bars of quality.md were drawn on, as far as it can be made again. `paper` asks
for a tenth of the models, `unseen` for those of a quarter of the larger modules. Three seeds, the
mean and half of the range; five minutes on one core.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import nar_plugin
from nar_plugin.train.corpus import CorpusGraph, read_corpus
from nar_plugin.train.methods import METHODS
from nar_plugin.train.metrics import density_offsets, retrieval_quality
from nar_plugin.train.splits import Split, chosen_queries

METHODS_SHOWN = ("ops", "wl", "wl-corrected", "wl-attributes", "default")


def listed(item: CorpusGraph) -> list[str]:
    """The family of each of a graph's names that one of the two libraries lists."""
    return [
        name["defined_in"]
        for name in item.names
        if name["library"] == "torchvision"
        or (name["library"] == "timm" and "." not in name["name"])
    ]


def split(labels: np.ndarray, graphs: np.ndarray, what: str, seed: int) -> Split:
    """Queries are a tenth of the models, or all models of a quarter of the larger modules."""
    everything = np.arange(len(labels))
    random = np.random.default_rng(seed)
    asking = np.ones(len(labels), dtype=bool)
    queries = chosen_queries(what, labels, asking, everything, random)
    held = np.isin(labels, labels[queries]) if what == "unseen" else np.isin(everything, queries)
    return Split(graphs, labels, everything[~held], queries, everything)


def measured(name: str, items: Sequence[CorpusGraph], split: Split, seed: int) -> list[float]:
    """MRR, MAP and NDCG at 20."""
    method = METHODS[name].make(seed, Path("runs/two_libraries"))
    method.fit([items[graph] for graph in split.graphs[split.train]], split.labels[split.train])
    vectors = method.embed(items)
    offsets = None
    if METHODS[name].corrected:
        offsets = density_offsets(vectors, np.unique(split.graphs[split.candidates]))
        offsets = offsets[split.graphs]
    found = retrieval_quality(
        vectors[split.graphs], split.labels, split.queries, split.candidates, offsets=offsets
    )
    return [found.mrr[20], found.map[20], found.ndcg[20]]


corpus = Path(nar_plugin.__file__).parent / "data" / "corpus"
items = [item for item in read_corpus(corpus) if listed(item)]
families = [listed(item) for item in items]
names = sorted({family for each in families for family in each})
graphs = np.repeat(np.arange(len(items)), [len(each) for each in families])
labels = np.array([names.index(family) for each in families for family in each])
print(f"{len(labels)} models of {len(names)} modules, {len(items)} distinct graphs\n")
print("| split | method | MRR@20 | MAP@20 | NDCG@20 |")
print("|---|---|---|---|---|")
for what in ("paper", "unseen"):
    for name in METHODS_SHOWN:
        rows = np.array(
            [measured(name, items, split(labels, graphs, what, seed), seed) for seed in range(3)]
        )
        spread = (rows.max(0) - rows.min(0)) / 2
        cells = [f"{m:.3f} ± {s:.3f}" for m, s in zip(rows.mean(0), spread, strict=True)]
        print(f"| {what} | {name} | {' | '.join(cells)} |", flush=True)
