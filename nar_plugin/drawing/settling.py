"""Blocks as a picture needs them: what has nothing to do with one another is not one box.

`blocks_of` takes what stands side by side in the order of the graph as one rest, and gives a module
all that is called by its name. So a rest may hold the end of one tower and the beginning of
another, and an activation that all layers share is of the first layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nar_plugin.drawing.condensing import Group, acyclic, condensed, in_forward_order
from nar_plugin.encoder.words import ACTIVATIONS
from nar_plugin.likeness.blocks import MOTIF, SHORTEST_LAYER, Block
from nar_plugin.mining import CONTAINERS, MacroGraph
from nar_plugin.tracing.graph import ArchitectureGraph

_NEARLY = 0.8  # of a block's operations
_Edges = list[tuple[int, int]]


def settled(graph: ArchitectureGraph, blocks: Sequence[Block]) -> list[Block]:
    """Blocks that cover the same operations: each rest is connected, and no layer is in a cycle."""
    edges: _Edges = [(source, target) for source, target in graph.edges.tolist()]
    found: list[Block] = []
    for block in _untangled(graph, _without_guests(graph, blocks), edges):
        if block.stacked:
            found.append(block)
        else:
            parts = _components(block.places.tolist(), edges)
            found += [_rest(graph, part) if len(parts) > 1 else block for part in parts]
    return found


def motif_blocks(macro: MacroGraph) -> list[Block]:
    """The motifs as blocks, for a design whose layers are no modules, or are called in turn.

    A block has the name of the innermost module that holds nearly all of it.
    """
    shapes = [macro.motifs[node].shape for node in macro.nodes.tolist()]
    counts = Counter(shapes)
    found = []
    for shape, (start, stop) in zip(shapes, macro.spans.tolist(), strict=True):
        places = list(range(start, stop))
        rest = _rest(macro.graph, places)
        if counts[shape] == 1 or len(places) < SHORTEST_LAYER:
            found.append(rest)
            continue
        path = _home(macro.graph, places)
        label = macro.graph.classes.get(path) or rest.label
        found.append(Block(path or rest.path, path or rest.last, label, MOTIF + shape, rest.places))
    return found


def _home(graph: ArchitectureGraph, places: Sequence[int]) -> str:
    """The innermost module with a class of its own that holds nearly all of some operations."""
    held: Counter[str] = Counter()
    for place in places:
        path = graph.paths[place]
        while path:
            held[path] += 1
            path = path.rpartition(".")[0]
    homes = [path for path, count in held.items() if count >= _NEARLY * len(places)]
    named = [path for path in homes if graph.classes.get(path, "Sequential") not in CONTAINERS]
    return max(named, key=lambda path: path.count("."), default="")


def _without_guests(graph: ArchitectureGraph, blocks: Sequence[Block]) -> list[Block]:
    """Blocks where an activation that several share belongs to the one that it follows."""
    calls = Counter(graph.paths)
    sources = graph.sources()
    owner = {
        place: number for number, block in enumerate(blocks) for place in block.places.tolist()
    }
    moved = False
    for place, op in enumerate(graph.ops):
        if op.kind in ACTIVATIONS and len(sources[place]) == 1 and calls[graph.paths[place]] > 1:
            home = owner[sources[place][0]]
            moved |= owner[place] != home
            owner[place] = home
    if not moved:
        return list(blocks)
    places: dict[int, Group] = {}
    for place in sorted(owner):
        places.setdefault(owner[place], []).append(place)
    return [
        replace(block, places=np.array(places[number], dtype=np.int64))
        for number, block in enumerate(blocks)
        if number in places
    ]


def _untangled(graph: ArchitectureGraph, blocks: Sequence[Block], edges: _Edges) -> list[Block]:
    """Blocks of a cycle keep their longest run of operations.

    What else they have goes to the block that it reads from, where that is one; so a shared
    activation joins the layer that it follows.
    """
    groups: list[Group] = [block.places.tolist() for block in blocks]
    tied = {
        n for knot in acyclic(len(groups), condensed(groups, edges)) if len(knot) > 1 for n in knot
    }
    if not tied:
        return list(blocks)
    owner = {place: number for number, group in enumerate(groups) for place in group}
    kept: dict[int, Group] = {number: groups[number] for number in set(owner.values()) - tied}
    loose: list[Group] = []
    pieces: dict[int, list[Group]] = {}
    inner = _inside(edges, owner, tied)
    for piece in in_forward_order([groups[number] for number in sorted(tied)], inner):
        pieces.setdefault(owner[piece[0]], []).append(piece)
    for number, parts in pieces.items():
        longest = max(parts, key=len)
        kept[number] = longest
        loose += [part for part in parts if part is not longest]
    home = {place: number for number, group in kept.items() for place in group}
    sources = graph.sources()
    rests: list[Group] = []
    for part in sorted(loose):
        read = {home.get(source, -1) for place in part for source in sources[place]} - {-1}
        if len(read) == 1:
            number = read.pop()
            kept[number] = sorted(kept[number] + part)
            home |= dict.fromkeys(part, number)
        else:
            rests.append(part)
    result = [
        replace(blocks[number], places=np.array(group, dtype=np.int64))
        for number, group in kept.items()
    ]
    result += [_rest(graph, part) for part in rests]
    return sorted(result, key=lambda block: int(block.places[0]))


def _inside(edges: _Edges, owner: dict[int, int], tied: set[int]) -> _Edges:
    """The edges between operations of blocks that are tied."""
    return [edge for edge in edges if owner[edge[0]] in tied and owner[edge[1]] in tied]


def _components(places: Sequence[int], edges: _Edges) -> list[Group]:
    """Operations that edges connect, group by group."""
    near: dict[int, list[int]] = {place: [] for place in places}
    for source, target in edges:
        if source in near and target in near:
            near[source].append(target)
            near[target].append(source)
    groups: list[Group] = []
    seen: set[int] = set()
    for place in places:
        if place in seen:
            continue
        group, waiting = [], [place]
        seen.add(place)
        while waiting:
            group.append(waiting.pop())
            fresh = [other for other in near[group[-1]] if other not in seen]
            seen.update(fresh)
            waiting += fresh
        groups.append(sorted(group))
    return groups


def _rest(graph: ArchitectureGraph, places: Sequence[int]) -> Block:
    paths = [graph.paths[place] for place in places if graph.paths[place]]
    path, last = (paths[0], paths[-1]) if paths else ("", "")
    label = ", ".join(dict.fromkeys(graph.ops[place].kind for place in places))
    return Block(path, last, label, "", np.array(places, dtype=np.int64))
