"""Weisfeiler-Lehman depths on the validation sides: which depth each baseline is measured with."""

from functools import partial
from pathlib import Path

from nar_plugin.train.corpus.corpus import read_corpus
from nar_plugin.train.corpus.splits import split_corpus
from nar_plugin.train.measure.baselines import wl_beside_widths, wl_histogram
from nar_plugin.train.measure.metrics import retrieval_quality
from nar_plugin.train.measure.twin_pairs import twin_quality, twin_split

items = [item for item in read_corpus(Path("nar_plugin/data/corpus")) if item.is_searched]
splits = [split_corpus(items, name, 0, validation=True) for name in ("unique", "unseen")]
_, twins = twin_split(items, 0, validation=True)
methods = {
    "wl": wl_histogram,
    "wl-attributes": partial(wl_histogram, attributes=True),
    "wl-widths": wl_beside_widths,
}

print("| method | depth | MAP@20 unique | MAP@20 unseen | R@1 twins |\n|---|---|---|---|---|")
for name, rows in methods.items():
    for depth in (1, 2, 3):
        vectors = rows([item.graph for item in items], depth=depth)
        found = [
            retrieval_quality(vectors, split.labels, split.queries, split.candidates).map[20]
            for split in splits
        ]
        found.append(twin_quality(vectors, items, twins).first)
        print(f"| {name} | {depth} | {' | '.join(f'{value:.3f}' for value in found)} |", flush=True)
