"""Whether a design is found again when its activation or its normalisation is another one.

`python docs/benchmarks/swaps.py` draws graphs of the corpus, of families that have five or more,
and gives each another kind in place of its commonest activation, and then of its commonest norm,
where it has three or more of them. The original is in the index, and so is its family.
"""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

import nar_plugin
from nar_plugin.encoder import load_encoder
from nar_plugin.tracing.graph import ArchitectureGraph
from nar_plugin.train.corpus import read_corpus

DATA = Path(nar_plugin.__file__).parent / "data"
PARTS = {
    "activation": ("relu", "gelu", "silu", "mish", "leaky_relu", "elu"),
    "normalisation": ("batch_norm", "group_norm", "layer_norm", "rms_norm", "instance_norm"),
}
DRAWN = 400


def swapped(graph: ArchitectureGraph, kinds: tuple[str, ...], new: str) -> ArchitectureGraph | None:
    """The graph with one kind in place of its commonest, or None where there are too few."""
    counts = Counter(op.kind for op in graph.ops if op.kind in kinds)
    old, count = max(counts.items(), key=lambda item: item[1], default=("", 0))
    if count < 3 or old == new:
        return None
    return replace(graph, ops=[replace(op, kind=new) if op.kind == old else op for op in graph.ops])


index, encoder = nar_plugin.load_index(), load_encoder(DATA)
items = [item for item in read_corpus(DATA / "corpus") if item.is_searched]
family = {row.fingerprint: row.family for row in index.rows()}
sizes = Counter(family.values())
items = [item for item in items if not item.is_composed and sizes[family[item.fingerprint]] >= 5]
items.sort(key=lambda item: item.fingerprint)
drawing = random.Random(0)
drawing.shuffle(items)

print("part           graphs  original first  in first 10  family first  share of first 10")
for part, kinds in PARTS.items():
    drawn = [(item, swapped(item.graph, kinds, drawing.choice(kinds))) for item in items]
    drawn = [(item, graph) for item, graph in drawn if graph is not None][:DRAWN]
    vectors = encoder.encode_graphs([graph for _, graph in drawn]).numpy()
    places, related = [], []
    for (item, _), hits in zip(drawn, index.search_batch(vectors, k=10), strict=True):
        found = [hit.row.fingerprint for hit in hits]
        places.append(found.index(item.fingerprint) if item.fingerprint in found else 10)
        related.append([family[item.fingerprint] == hit.row.family for hit in hits])
    first, ten = np.mean(np.array(places) == 0), np.mean(np.array(places) < 10)
    kin = np.array(related)
    print(
        f"{part:14} {len(drawn):6} {first:15.3f} {ten:12.3f} {kin[:, 0].mean():13.3f} "
        f"{kin.mean():18.3f}"
    )
