"""Architectures of a neural architecture search: the DARTS space as appendix A.4 has it.

A cell has four ADD nodes of two connections each; a connection leads from one of the two cells
before or from an earlier ADD node through one of seven operations, which is a node of its own. A
CAT node ends the cell; cells are chained behind a stem, each to the two before it, and a pooling
and a classifier follow.

The paper leaves open, and we choose: eight cells (DARTS's own search network has as many); the two
connections of an ADD node start at different nodes, as in DARTS; all cells of one architecture are
equal, without reduction cells; no channel numbers. The composed operations, which have no kind of
their own in the vocabulary, keep their DARTS name as kind, so that a one-hot kind tells the seven
apart, and state kernel and dilation as attributes.

"Split into 10 classes based on the graph editing distance" (section 4.1) is read as follows. One
edit gives a connection another operation or another start. The distance of two cells is the least
number of differing operations and starts over all matchings of their ADD nodes, and of each node's
two connections. Ten centres are drawn at least 9 apart; the members of a class are distinct cells
at most 4 random edits from its centre, hence nearer to it than to any other. Of 30,000, 55
pairs differ in nothing but the order in which CAT takes its inputs, which the fingerprint sees.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from nar_plugin.mining import mine
from nar_plugin.mining.order import in_order
from nar_plugin.tracing.graph import ArchitectureGraph, IntArray, Op
from nar_plugin.train.corpus.corpus import CorpusGraph

NAS_VERSION = "2"  # of the data: cells of another are measured anew
CLASSES = 10
_CELLS = 8
_NODES = 13  # of a cell: 8 operations, 4 ADD, 1 CAT
_EDITS = 4
_APART = 9

Connection = tuple[int, int]  # start: 0 and 1 the cells before, 2 + j the ADD node j; operation
Cell = tuple[tuple[Connection, Connection], ...]  # the two connections of each ADD node


def _op(kind: str, **attributes: int | str | bool) -> Op:
    return Op(kind, tuple(sorted(attributes.items())))


OPERATIONS = (
    _op("skip_connect"),
    _op("max_pool", kernel="3x3", stride="1x1"),
    _op("avg_pool", kernel="3x3", stride="1x1"),
    _op("sep_conv_3x3", kernel="3x3", dilation="1x1"),
    _op("sep_conv_5x5", kernel="5x5", dilation="1x1"),
    _op("dil_conv_3x3", kernel="3x3", dilation="2x2"),
    _op("dil_conv_5x5", kernel="5x5", dilation="2x2"),
)
_STEM, _ADD, _CAT = _op("conv", kernel="3x3", dilation="1x1", stride="1x1"), _op("add"), _op("cat")
_HEAD = (_op("mean", over="positions"), _op("linear", bias=True))


def darts_architectures(count: int, seed: int) -> tuple[list[ArchitectureGraph], NDArray[np.int64]]:
    """Distinct architectures of ten classes in turn.

    Args:
        count: How many; the paper has 30,000.
        seed: Of the centres and their edits.

    Returns:
        The graphs, and int64[count], the class of each.
    """
    random = np.random.default_rng(seed)
    centres = _centres(random)
    known: set[Cell] = set()
    graphs = []
    for number in range(count):
        cell = _member(centres[number % CLASSES], random)
        while cell in known:
            cell = _member(centres[number % CLASSES], random)
        known.add(cell)
        graphs.append(architecture(cell))
    return graphs, np.arange(count, dtype=np.int64) % CLASSES


def darts_corpus(count: int, seed: int, *, mined: bool = True) -> list[CorpusGraph]:
    """The same as a corpus; the class is the family.

    Args:
        count: How many.
        seed: Of the centres and their edits.
        mined: Whether graphs are cut at their motifs, which takes most of the time: with it 6 ms
            for each graph, and else 1 ms. Their operations stand in the same order.
    """
    graphs, labels = darts_architectures(count, seed)
    items = []
    for number, (graph, label) in enumerate(zip(graphs, labels.tolist(), strict=True)):
        name = {"name": f"darts:{number}", "family": f"centre-{label}", "composed": False}
        own = graph.fingerprint
        rows = ({**name, "params": 1},)
        if mined:
            macro = mine(graph)
            ordered, starts, motifs = macro.graph, macro.spans[:, 0].astype(np.int32), macro.table()
        else:
            ordered, starts, motifs = in_order(graph), np.zeros(1, dtype=np.int32), ()
        items.append(CorpusGraph(ordered, own, own, "", starts, motifs, rows))
    return items


def architecture(cell: Cell) -> ArchitectureGraph:
    """The network of eight such cells."""
    ops = [_STEM]
    for _ in range(_CELLS):
        for one, other in cell:
            ops += [OPERATIONS[one[1]], OPERATIONS[other[1]], _ADD]
        ops.append(_CAT)
    last = len(ops) - 1
    ends = np.array([[last, last + 1], [last + 1, last + 2]], dtype=np.int32)
    return ArchitectureGraph(
        ops=(*ops, *_HEAD),
        edges=np.concatenate([_edges(tuple((a[0], b[0]) for a, b in cell)), ends]),
        paths=("",) * (len(ops) + 2),
    )


def distance(one: Cell, other: Cell) -> int:
    """The graph edit distance of two cells, which does not ask in which order ADD nodes stand."""
    return int(_distances(_orders(one), np.array([other]))[0])


def _orders(cell: Cell) -> IntArray:
    """int[24, 4, 2, 2]: a cell with its ADD nodes in any order."""
    found = []
    for order in permutations(range(4)):
        place = (0, 1, *(2 + order.index(number) for number in range(4)))
        nodes = [cell[number] for number in order]
        found.append([[(place[start], operation) for start, operation in node] for node in nodes])
    return np.array(found)


def _distances(orders: IntArray, others: IntArray) -> IntArray:
    """int[n]: from one cell, in all its orders [24, 4, 2, 2], to each of n, [n, 4, 2, 2]."""
    straight = (others[:, None] != orders).sum(axis=(-1, -2))
    crossed = (others[:, None, :, ::-1] != orders).sum(axis=(-1, -2))
    least: IntArray = np.minimum(straight, crossed).sum(axis=-1).min(axis=-1)
    return least


@cache
def _edges(starts: tuple[tuple[int, int], ...]) -> IntArray:
    """int32[160, 2]: the edges of all cells, by where the eight connections start.

    Nodes of a cell are numbered from its first: connection, connection, ADD, four times; CAT. The
    cell before ends one node ahead of it, the one before that 14 nodes ahead; before the first
    cell there is the stem alone, node 0.
    """
    before = {0: -1 - _NODES, 1: -1, **{2 + number: 3 * number + 2 for number in range(4)}}
    rows = []
    for number, (one, other) in enumerate(starts):
        first = 3 * number
        rows += [(before[one], first), (before[other], first + 1)]
        rows += [(first, first + 2), (first + 1, first + 2)]
    rows += [(3 * number + 2, _NODES - 1) for number in range(4)]
    cells = 1 + _NODES * np.arange(_CELLS, dtype=np.int32)
    inner = np.array(rows, dtype=np.int32)
    edges: IntArray = np.maximum(inner[None] + cells[:, None, None], 0).reshape(-1, 2)
    return edges


def _centres(random: np.random.Generator) -> list[Cell]:
    """Ten of random cells, each the first that is far from those before it."""
    found: list[Cell] = []
    while len(found) < CLASSES:
        cells = _random_cells(random)
        for centre in found:
            cells = cells[_distances(_orders(centre), cells) >= _APART]
        while len(cells) and len(found) < CLASSES:
            found.append(tuple(_sorted(*map(tuple, node)) for node in cells[0].tolist()))
            cells = cells[_distances(_orders(found[-1]), cells) >= _APART]
    return found


def _random_cells(random: np.random.Generator, count: int = 4096) -> IntArray:
    """int[count, 4, 2, 2]: start and operation of the two connections of four ADD nodes."""
    starts = [random.random((count, 2 + node)).argsort(axis=1)[:, :2] for node in range(4)]
    operations = random.integers(len(OPERATIONS), size=(count, 4, 2))
    return np.stack([np.stack(starts, axis=1), operations], axis=-1)


def _member(centre: Cell, random: np.random.Generator) -> Cell:
    """A cell one to four edits from the centre."""
    choices = random.random((int(random.integers(1, _EDITS + 1)), 2)).tolist()
    cell = list(centre)
    for which, what in choices:
        number, side = divmod(int(which * 8), 2)
        pair = list(cell[number])
        edits = _edits(number, *pair[side], pair[1 - side][0])
        pair[side] = edits[int(what * len(edits))]
        cell[number] = _sorted(*pair)
    return tuple(cell)


@cache
def _edits(number: int, start: int, operation: int, other: int) -> list[Connection]:
    """What one edit makes of a connection of an ADD node whose other one starts at `other`."""
    changed = [(start, op) for op in range(len(OPERATIONS)) if op != operation]
    free = [place for place in range(number + 2) if place not in (start, other)]
    return changed + [(place, operation) for place in free]


def _sorted(one: Connection, other: Connection) -> tuple[Connection, Connection]:
    return (one, other) if one < other else (other, one)
