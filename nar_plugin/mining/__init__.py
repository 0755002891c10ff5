"""ArchitectureGraph -> motifs -> MacroGraph (sections 3.2 and 3.3 of the paper)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

import numpy as np

from nar_plugin.mining.borders import Borders
from nar_plugin.mining.macro import MacroGraph, Motif, MotifCount
from nar_plugin.mining.order import in_order
from nar_plugin.mining.paths import common_path
from nar_plugin.mining.repeats import repeated_blocks
from nar_plugin.mining.segmentation import Repeat
from nar_plugin.mining.segments import SHORTEST_BLOCK
from nar_plugin.mining.step_labels import block_hash, shape_word
from nar_plugin.tracing.graph import ArchitectureGraph, IntArray, Op

__all__ = [
    "CONTAINERS",
    "LONGEST_REST",
    "MINING_VERSION",
    "MacroGraph",
    "Motif",
    "MotifCount",
    "Repeat",
    "macro_of",
    "mine",
    "module_label",
    "repeated_blocks",
]

MINING_VERSION = "7"  # of where graphs are cut; a corpus that another one cut is cut again
CONTAINERS = ("Sequential", "ModuleList", "ModuleDict")  # name no block
LONGEST_REST = 12  # operations in one motif where nothing repeats


def mine(graph: ArchitectureGraph) -> MacroGraph:
    """Cut a graph into motifs and rebuild it with the motifs as nodes.

    Operators, attributes and edges decide where to cut; module paths only name the results.

    Args:
        graph: The architecture.

    Returns:
        Its macro graph. Every operation belongs to exactly one motif instance; two instances are
        connected when an edge of the graph leads from one to the other (each motif's receptive
        field holds the edges across its border, so the two overlap there: section 3.3). Its graph
        is the given one in an order of its own, which does not depend on the order of the calls.
    """
    ordered = in_order(graph)
    return macro_of(ordered, _spans(ordered))


def macro_of(graph: ArchitectureGraph, spans: list[tuple[int, int]]) -> MacroGraph:
    """The macro graph of a graph that is cut already.

    Args:
        graph: The architecture.
        spans: Half-open ranges of operations, in order; together they cover the graph.
    """
    motifs: list[Motif] = []
    numbers: dict[str, int] = {}
    nodes = []
    inner = _inner_edges(graph.edges, spans)
    words = {op: shape_word(op) for op in set(graph.ops)}
    for (start, stop), edges in zip(spans, inner, strict=True):
        ops = graph.ops[start:stop]
        key = block_hash([str(op) for op in ops], edges)
        if key not in numbers:
            numbers[key] = len(motifs)
            shape = block_hash([words[op] for op in ops], edges)
            label = _label(graph, start, stop)
            array = np.array(edges, dtype=np.int32).reshape(-1, 2)
            motifs.append(Motif(ops, array, key, shape, label))
        nodes.append(numbers[key])
    return MacroGraph(
        tuple(motifs),
        np.array(nodes, dtype=np.int32),
        _outer_edges(graph.edges, spans),
        np.array(spans, dtype=np.int32).reshape(-1, 2),
        graph,
    )


def _spans(graph: ArchitectureGraph) -> list[tuple[int, int]]:
    """Half-open ranges of operations that cover the graph: repeated blocks, and the rest."""
    borders = Borders(graph)
    spans: list[tuple[int, int]] = []
    position = 0
    for repeat in repeated_blocks(graph, borders):
        for start, stop in _blocks(graph.ops, repeat):
            spans += _rest(position, start, borders)
            spans.append((start, stop))
            position = stop
    return spans + _rest(position, len(graph), borders)


def _blocks(ops: tuple[Op, ...], repeat: Repeat) -> Iterator[tuple[int, int]]:
    """The blocks of a repeat, without what comes between one stage and the next.

    Such operations follow a block that is equal to the one before it, and of a usual length.
    """
    borders = list(pairwise((*repeat.starts, repeat.stop)))
    lengths = Counter(stop - start for start, stop in borders)
    before: tuple[Op, ...] = ()
    for start, stop in borders:
        if lengths[len(before)] > 1 and ops[start : start + len(before)] == before:
            stop = min(stop, start + len(before))
        yield start, stop
        before = ops[start:stop]


def _rest(start: int, stop: int, borders: Borders) -> list[tuple[int, int]]:
    """Cut what does not repeat where the fewest values cross, into pieces of bounded size."""
    spans = []
    while stop - start > LONGEST_REST:
        window = borders.values[start + SHORTEST_BLOCK : start + LONGEST_REST + 1]
        cut = start + SHORTEST_BLOCK + int(len(window) - 1 - np.argmin(window[::-1]))
        spans.append((start, cut))
        start = cut
    if stop > start:
        spans.append((start, stop))
    return spans


def _owners(spans: list[tuple[int, int]]) -> IntArray:
    sizes = [stop - start for start, stop in spans]
    return np.repeat(np.arange(len(spans), dtype=np.int32), sizes)


def _inner_edges(edges: IntArray, spans: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    owners = _owners(spans).tolist()
    inner: list[list[tuple[int, int]]] = [[] for _ in spans]
    for source, target in zip(*edges.T.tolist(), strict=True):
        owner = owners[source]
        if owner == owners[target]:
            begin = spans[owner][0]
            inner[owner].append((source - begin, target - begin))
    return inner


def _outer_edges(edges: IntArray, spans: list[tuple[int, int]]) -> IntArray:
    if not len(edges):
        return np.zeros((0, 2), dtype=np.int32)
    pairs = _owners(spans)[edges]
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return np.unique(pairs, axis=0).astype(np.int32).reshape(-1, 2)


def _label(graph: ArchitectureGraph, start: int, stop: int) -> str:
    """The class of the smallest module that issued the whole block, else its operations."""
    paths = graph.paths[start:stop]
    common = common_path(paths)
    if not common:  # the whole model issued it: its class names no block
        return _kinds(graph.ops[start:stop])
    return module_label(common, paths, graph.classes) or _kinds(graph.ops[start:stop])


def module_label(path: str, paths: Iterable[str], classes: Mapping[str, str]) -> str:
    """The class of a module, or of what a container holds, such as `Bottleneck x6`.

    Args:
        path: Of the module.
        paths: Modules of operations; a container is named after those of its children that are
            among them.
        classes: The class of each module, by its path.

    Returns:
        Empty where a container holds one child or several classes.
    """
    name = classes.get(path, "")
    if name not in CONTAINERS:
        return name
    below = f"{path}."
    inside = (other for other in paths if other.startswith(below))
    children = {below + other.removeprefix(below).partition(".")[0] for other in inside}
    held = {classes.get(child, "") for child in children}
    if len(held) == 1 and len(children) > 1 and held.isdisjoint({"", *CONTAINERS}):
        return f"{held.pop()} x{len(children)}"
    return ""


def _kinds(ops: tuple[Op, ...]) -> str:
    return "-".join(op.kind for op in ops[:4]) + ("-..." if len(ops) > 4 else "")
