"""Edits of depth: blocks that the mining found twice in a row are copied, or taken out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nar_plugin.mining import mine
from nar_plugin.tracing.graph import ArchitectureGraph
from nar_plugin.train.fit.edits.draft import Draft, Step

_MOST = 4  # further copies of one block


class Block(NamedTuple):
    """A block that reads one result of an equal block right before it.

    Attributes:
        run: A number that the blocks of a row of equal ones share.
        span: The half-open range of its operations in the mined graph.
        entry: What it reads of the block before.
        exit: The one result of its own that others read.
    """

    run: int
    span: tuple[int, int]
    entry: int
    exit: int


def deeper(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """Further copies of a block."""
    mined, blocks = repeated(graph)
    if not blocks:
        return None
    block = blocks[random.integers(len(blocks))]
    draft = Draft(mined)
    inside = draft.steps[slice(*block.span)]
    entry, last = draft.steps[block.entry], draft.steps[block.exit]
    readers = [step for step in draft.steps if last in step.inputs and step not in inside]
    end = last
    for _ in range(int(random.integers(1, _MOST + 1))):
        copies: dict[int, Step] = {id(entry): end}
        for step in inside:
            sources = [copies.get(id(source), source) for source in step.inputs]
            copies[id(step)] = draft.add(step.op, sources)
        end = copies[id(last)]
    for step in readers:
        step.inputs = [end if source is last else source for source in step.inputs]
    draft.results = [end if step is last else step for step in draft.results]
    return draft.graph()


def shallower(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """Without some of the blocks that repeat the one before: up to a half of a row."""
    mined, blocks = repeated(graph)
    if not blocks:
        return None
    run = blocks[random.integers(len(blocks))].run
    row = [block for block in blocks if block.run == run]
    count = int(random.integers(1, max(1, len(row) // 2) + 1))
    draft = Draft(mined)
    for place in sorted(random.choice(len(row), count, replace=False).tolist(), reverse=True):
        block = row[place]
        draft.redirect(draft.steps[block.exit], draft.steps[block.entry])
    return draft.graph()


def repeated(graph: ArchitectureGraph) -> tuple[ArchitectureGraph, list[Block]]:
    """The graph in the order of the mining, and the blocks that repeat the one before."""
    macro = mine(graph)
    mined = macro.graph
    read_by: list[list[int]] = [[] for _ in mined.ops]
    for start, end in mined.edges.tolist():
        read_by[start].append(end)
    sources = mined.sources()
    spans = [(int(start), int(stop)) for start, stop in macro.spans.tolist()]
    blocks: list[Block] = []
    run = 0
    for place in range(1, len(spans)):
        before, here = spans[place - 1], spans[place]
        if macro.nodes[place] != macro.nodes[place - 1] or here[1] - here[0] < 2:
            run += 1
            continue
        entries = {
            source
            for target in range(*here)
            for source in sources[target]
            if before[0] <= source < before[1]
        }
        exits = {
            source
            for source in range(*here)
            if not read_by[source] or any(not here[0] <= end < here[1] for end in read_by[source])
        }
        if len(entries) == len(exits) == 1:
            entry, last = entries.pop(), exits.pop()
            if last - here[0] == entry - before[0]:
                blocks.append(Block(run, here, entry, last))
    return mined, blocks
