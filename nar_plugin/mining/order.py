"""One order of a graph's operations that depends on the graph alone, not on the calls' order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise

import numpy as np

from nar_plugin.mining.step_labels import neighbour_patterns, shape_word
from nar_plugin.tracing.fingerprint import ORDERED
from nar_plugin.tracing.graph import ArchitectureGraph, Op

SHORTEST_LAST = 5  # operations of a last block
SEVERAL, FAR = 3, 60  # readers of a value, and operations between them, for it to be made early
APART = 8  # operations between readers that are alike, for them to be of two blocks
REPEATED = 6  # values that are alike, for each to be a block's own
STREAMS = 2  # of a block, as a text's and a picture's
STEPS = 2  # to the sides, within which branches are told apart before the whole graph is asked
_FACTOR, _BITS = 0x9E3779B97F4A7C15, 0xFFFFFFFFFFFFFFFF

Lists = list[list[int]]


def in_order(graph: ArchitectureGraph) -> ArchitectureGraph:
    """The same graph in `mining_order`.

    Returns:
        A graph with equal operations and edges, numbered anew. Edges ascend by their target, and
        where the order of arguments has no meaning, by their source.
    """
    order = mining_order(graph)
    place = places(order)
    inputs = graph.sources()
    edges = []
    for number, index in enumerate(order):
        sources = [place[source] for source in inputs[index]]
        if graph.ops[index].kind not in ORDERED:
            sources.sort()
        edges += [(source, number) for source in sources]
    return replace(
        graph,
        ops=tuple(graph.ops[index] for index in order),
        edges=np.array(edges, dtype=np.int32).reshape(-1, 2),
        paths=tuple(graph.paths[index] for index in order),
    )


def mining_order(graph: ArchitectureGraph) -> list[int]:
    """The operations in the order in which a graph is cut.

    Depth first, from what nothing reads backwards to the inputs, so that a branch stays in one
    piece; the deepest input comes first, so that a block's main path precedes its shortcut.
    Inputs of one depth come in the order of the operation's arguments where it has a meaning, and
    else follow Weisfeiler-Lehman hashes: of a neighbourhood first, which are the same in every
    repeat of a block, then of all that comes before and behind. What several operations read that
    are far apart (masks, positions, an encoder's output) is made before all of them, and not
    inside the first block that asks. Time is linear but for the sort.

    Args:
        graph: In any topological order.

    Returns:
        The numbers of its operations, each behind those that it reads.
    """
    inputs = graph.sources()
    readers: Lists = [[] for _ in graph.ops]
    for target, sources in enumerate(inputs):
        for source in sources:
            readers[source].append(target)
    keys = _Keys(graph, inputs, readers)
    depth = _depths(inputs)
    visits = _visits(graph, inputs, depth, keys)
    unread = [index for index, found in enumerate(readers) if not found]
    unread = sorted(keys.sorted(unread), key=depth.__getitem__, reverse=True)
    parts = _depth_first(unread, visits)
    order = [index for part in parts for index in part]
    shared = _shared(graph, readers, order, keys)
    if not shared:
        return _with_last_blocks(graph, inputs, parts)
    # How deep a shared value lies says nothing of the blocks that read it: a decoder's first layers
    # are shallower than the encoder's output, its last ones are not.
    visits = _visits(graph, inputs, _depths(inputs, frozenset(shared)), keys)
    return _with_last_blocks(graph, inputs, _depth_first(shared + unread, visits))


def _depths(inputs: Lists, roots: frozenset[int] = frozenset()) -> list[int]:
    """The longest way to each operation from what reads nothing, or from a root."""
    depth: list[int] = []
    for index, sources in enumerate(inputs):
        way = [depth[source] for source in sources if index not in roots]
        depth.append(1 + max(way) if way else 0)
    return depth


def places(order: list[int]) -> list[int]:
    """Where each operation stands in an order."""
    place = [0] * len(order)
    for number, index in enumerate(order):
        place[index] = number
    return place


def _shared(graph: ArchitectureGraph, readers: Lists, order: list[int], keys: _Keys) -> list[int]:
    """What several operations read that are far from one another in an order, in that order.

    Or, of a shallow model, what each of several blocks projects, as a decoder's layers do with
    what the encoder gave.

    What every block of a repeat makes for itself is not: some values of one neighbourhood, of
    which no more than one for each stream of the block are read at a time.
    """
    place = places(order)
    spans: dict[int, tuple[int, int]] = {}  # of each value, the first reader and the last
    for index in order:
        if len(readers[index]) >= SEVERAL:
            reading = sorted(place[reader] for reader in readers[index])
            linear = [reader for reader in readers[index] if graph.ops[reader].kind == "linear"]
            if reading[-1] - reading[0] > FAR or _of_several_blocks(linear, place, keys):
                spans[index] = reading[0], reading[-1]
    alike: dict[int, list[int]] = {}
    for index in spans:
        alike.setdefault(keys.near[index], []).append(index)
    own: set[int] = set()
    for group in alike.values():
        found = sorted(spans[index] for index in group)
        apart = all(one[1] <= other[0] for one, other in zip(found, found[STREAMS:], strict=False))
        if len(group) >= REPEATED and apart:
            own.update(group)
    return [index for index in spans if index not in own]


def _of_several_blocks(readers: list[int], place: list[int], keys: _Keys) -> bool:
    """Whether several readers of one neighbourhood are a block apart."""
    alike: dict[int, list[int]] = {}
    for reader in readers:
        alike.setdefault(keys.near[reader], []).append(place[reader])
    return any(
        len(found) >= SEVERAL
        and min(other - one for one, other in pairwise(sorted(found))) >= APART
        for found in alike.values()
    )


def _with_last_blocks(graph: ArchitectureGraph, inputs: Lists, parts: Lists) -> list[int]:
    """The parts of an order one after another, but each last block behind the one before it.

    A tower whose last but one states are read on, as LLaVA's, gives its last ones as a result: what
    nothing reads, and is of the kinds that stand before what it reads.
    """
    order = [index for part in parts for index in part]
    place = places(order)
    kinds = [graph.ops[index].kind for index in order]
    moved: dict[int, list[int]] = {}
    skipped: set[int] = set()
    for part in parts:
        start, size = (place[part[0]], len(part)) if part else (0, 0)
        reads = [place[source] for index in part for source in inputs[index]]
        behind = 1 + max((source for source in reads if source < start), default=0)
        last = kinds[start : start + size]
        key = order[behind - 1]
        # What stands in a moved part comes before other things that this part may read.
        free = size >= SHORTEST_LAST and behind < start and key not in moved and key not in skipped
        if free and kinds[behind - size : behind] == last:
            moved[key] = part
            skipped.update(part)
    result: list[int] = []
    for index in order:
        if index not in skipped:
            result.append(index)
            result += moved.get(index, ())
    return result


def _visits(graph: ArchitectureGraph, inputs: Lists, depth: list[int], keys: _Keys) -> Lists:
    """The inputs of each operation in the order in which they are to be made."""
    visits = []
    for op, sources in zip(graph.ops, inputs, strict=True):
        if len(sources) > 1:
            levels = [depth[source] for source in sources]
            if op.kind not in ORDERED and len(set(levels)) < len(levels):
                sources = keys.sorted(sources)
            sources = sorted(sources, key=depth.__getitem__, reverse=True)  # stable
        visits.append(sources)
    return visits


def _depth_first(roots: list[int], visits: Lists) -> Lists:
    """Every operation behind its inputs, those first that the first root needs."""
    parts: Lists = []
    done = bytearray(len(visits))
    for root in roots:
        part: list[int] = []
        stack = [] if done[root] else [(root, iter(visits[root]))]
        while stack:
            index, left = stack[-1]
            for source in left:
                if not done[source]:
                    stack.append((source, iter(visits[source])))
                    break
            else:
                stack.pop()
                done[index] = 1
                part.append(index)
        parts.append(part)
    return parts


class _Keys:
    """What tells operations apart; the hashes of a whole graph are made when they are needed."""

    def __init__(self, graph: ArchitectureGraph, inputs: Lists, readers: Lists) -> None:
        self._graph, self._inputs, self._readers = graph, inputs, readers

    def sorted(self, indices: list[int]) -> list[int]:
        """Operations by their neighbourhood, and those that share one by the whole graph."""
        if len(indices) < 2:
            return indices
        near = [self.near[index] for index in indices]
        if len(set(near)) == len(near):
            return [index for _, index in sorted(zip(near, indices, strict=True))]
        return sorted(indices, key=lambda index: (self.near[index], self._whole[index]))

    @cached_property
    def near(self) -> list[int]:
        near = np.array(_words(self._graph, shape_word), dtype=np.uint64)
        for _ in range(STEPS):
            near = neighbour_patterns(near, self._graph.edges)
        hashes: list[int] = near.tolist()
        return hashes

    @cached_property
    def _whole(self) -> list[int]:
        """A hash of all that comes before each operation, and of all that comes behind."""
        fixed = [op.kind in ORDERED for op in self._graph.ops]
        before: list[int] = []
        for word, sources, order in zip(_words(self._graph, str), self._inputs, fixed, strict=True):
            parts = [before[source] for source in sources]
            before.append(_mixed(word, parts if order else sorted(parts)))
        whole = before.copy()
        for index in range(len(whole) - 1, -1, -1):
            parts = [
                whole[reader] + (self._inputs[reader].index(index) if fixed[reader] else 0)
                for reader in self._readers[index]
            ]
            whole[index] = _mixed(before[index], sorted(parts))
        return whole


def _words(graph: ArchitectureGraph, word: Callable[[Op], str]) -> list[int]:
    """A hash of what `word` says of each operation."""
    places = [id(op) for op in graph.ops]  # equal operations mostly are one object
    known = {
        place: int.from_bytes(blake2b(word(op).encode(), digest_size=8).digest(), "big")
        for place, op in dict(zip(places, graph.ops, strict=True)).items()
    }
    return [known[place] for place in places]


def _mixed(word: int, parts: list[int]) -> int:
    """A hash of 64 bits of an operation and its neighbours, in order."""
    for part in parts:
        word = ((word ^ part) * _FACTOR + part) & _BITS
        word ^= word >> 29
    return (word * _FACTOR & _BITS) ^ (word >> 32)
