"""Whether a design is found when its activations, norms, head or inner widths are others.

`python docs/benchmarks/swaps.py` fits the recipe `default` to all graphs of the corpus but a tenth,
and asks for those of that tenth that have five or more in their family, changed, among all as they
are. Mish and ELU are in no variation that is learned, softplus counts as no activation. The first
row leaves the graphs as they are and takes each off the candidates when it asks. In the
last two something stands behind all layers, neither of which is learned. Ten minutes on two cores.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

import nar_plugin
from nar_plugin.encoder.words import ACTIVATIONS, NORMS
from nar_plugin.index.density import SHARE, densities
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.corpus import read_corpus
from nar_plugin.train.heads import reheaded
from nar_plugin.train.inserted import LAYERS, behind, gate, single
from nar_plugin.train.layers import GELU, batch_norm, layer_norm, rms_norm
from nar_plugin.train.projection import Settings, fit_encoder
from nar_plugin.train.splits import family_numbers
from nar_plugin.train.variations import (
    commonest,
    inner_widths,
    replaced,
    rewidened,
    without_norms,
)

LEAST = 3  # operations that are changed
DRAWN = 250
NEW = {
    "relu": (ACTIVATIONS, lambda _: Op("relu")),
    "gelu": (ACTIVATIONS, lambda _: GELU),
    "silu": (ACTIVATIONS, lambda _: Op("silu")),
    "mish": (ACTIVATIONS, lambda _: Op("mish")),
    "elu": (ACTIVATIONS, lambda _: Op("elu")),
    "softplus": (ACTIVATIONS, lambda _: Op("softplus")),
    "batch_norm": (NORMS, lambda op: batch_norm(width(op))),
    "layer_norm": (NORMS, lambda op: layer_norm(width(op))),
    "rms_norm": (NORMS, lambda op: rms_norm(width(op))),
}


BEHIND = {
    "sin behind layers": lambda _: single(Op("sin")),
    "gate behind layers": lambda _: gate(Op("abs"), Op("gt")),
}


def width(op: Op) -> int:
    """Of how many channels a norm is."""
    return op.get("width") or 64


def changed(
    graph: ArchitectureGraph, kinds: frozenset[str], make: Callable[[Op], Op]
) -> ArchitectureGraph | None:
    """The graph with another activation or norm, or None where it has too few or has that one."""
    old = commonest(graph, kinds)
    if sum(op.kind == old for op in graph.ops) < LEAST or make(Op(old)).kind == old:
        return None
    return replaced(graph, old, make)


items = [
    item
    for item in read_corpus(Path(nar_plugin.__file__).parent / "data" / "corpus")
    if item.is_searched
]
families = family_numbers(items)
sizes = Counter(families.tolist())
order = np.random.default_rng(1).permutation(len(items))
held, known = order[: len(items) // 10], np.sort(order[len(items) // 10 :])
asking = [place for place in held if not items[place].is_composed and sizes[families[place]] >= 5]
encoder = fit_encoder([items[place] for place in known], families[known], Settings())
vectors = encoder.encode_graphs([item.graph for item in items]).numpy()
crowding = SHARE * densities(vectors, vectors, np.arange(len(vectors)))

print("| now | graphs | original first | in first 10 | family first | share of 10 | cosine |")
print("|---|---|---|---|---|---|---|")
random = np.random.default_rng(2)
for what in ("as it is", *NEW, "no norm", "another head", "twice as wide inside", *BEHIND):
    drawn = []
    for place in asking:
        graph = items[place].graph
        if what == "no norm":
            other = without_norms(graph) if commonest(graph, NORMS) else None
        elif what == "another head":
            other = reheaded(graph, random)
        elif what == "twice as wide inside":
            inner = inner_widths(graph)
            other = rewidened(graph, inner, 2) if inner else None
        elif what in BEHIND:
            layers = sum(op.kind in LAYERS for op in graph.ops)
            other = behind(graph, LAYERS, BEHIND[what]) if layers >= LEAST else None
        else:
            other = changed(graph, *NEW[what]) if what in NEW else graph
        if other is not None:
            drawn.append((place, other))
    drawn = drawn[:DRAWN]
    places = np.array([place for place, _ in drawn])
    cosines = encoder.encode_graphs([graph for _, graph in drawn]).numpy() @ vectors.T
    scores = cosines - crowding
    own = cosines[np.arange(len(places)), places]
    if what == "as it is":
        scores[np.arange(len(places)), places] = -np.inf
    found = np.argsort(-scores, axis=1, kind="stable")
    rank = np.argmax(found == places[:, None], axis=1)
    kin = families[found[:, :10]] == families[places][:, None]
    figures = ((rank == 0).mean(), (rank < 10).mean(), kin[:, 0].mean(), kin.mean(), own.mean())
    row = " | ".join(f"{figure:.3f}" for figure in figures)
    print(f"| {what} | {len(places)} | {row} |", flush=True)
