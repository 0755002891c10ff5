"""The spine of a picture: boxes for folded blocks, frames around stacks of several kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nar_plugin.drawing.condensing import Group, in_forward_order
from nar_plugin.drawing.figure import Box, Edge, Level
from nar_plugin.drawing.inside import Drawn
from nar_plugin.encoder.sizes import weights
from nar_plugin.likeness.blocks import MOTIF, Block
from nar_plugin.mining.paths import common_path
from nar_plugin.visible_text import clean, times

_PERIODS = 12  # kinds of blocks that may take turns
_SHORT = 12  # operations up to which a rest is named by them
_NAMES_OF_REST = 3


@dataclass(frozen=True)
class Node:
    """What one box of the spine stands for: blocks of one kind, or a rest."""

    blocks: tuple[Block, ...]
    kind: str  # hash of the structure of its blocks, empty of a rest

    @property
    def places(self) -> list[int]:
        """The operations of its blocks, ascending."""
        return sorted(place for block in self.blocks for place in block.places.tolist())


@dataclass(frozen=True)
class Shown:
    """Which kind shows a block from the inside, and how the block differs from it."""

    number: int
    note: str


def spine_of(drawn: Drawn, nodes: Sequence[Node], numbers: dict[str, Shown]) -> Level:
    """The boxes, those of one stack in a frame where it has several kinds."""
    owner = {place: n for n, node in enumerate(nodes) for place in node.places}
    edges = {
        (owner[source], owner[target])
        for source, target in drawn.graph.edges.tolist()
        if owner[source] != owner[target]
    }
    by_stack: dict[str, Group] = {}
    for number, node in enumerate(nodes):
        stacks = {block.stack for block in node.blocks}
        own = len(stacks) == 1 and node.kind
        by_stack.setdefault(stacks.pop() if own else f"#{number}", []).append(number)
    frames = in_forward_order(list(by_stack.values()), edges)
    level = [_framed(drawn, [nodes[n] for n in frame], numbers) for frame in frames]
    return _connected(
        drawn, level, [[p for n in frame for p in nodes[n].places] for frame in frames]
    )


def _connected(drawn: Drawn, boxes: Sequence[Box], members: Sequence[Sequence[int]]) -> Level:
    """Boxes with the edges between their operations, and the shapes where they change."""
    owner = {place: n for n, places in enumerate(members) for place in places}
    pairs: dict[tuple[int, int], int] = {}
    for source, target in drawn.graph.edges.tolist():
        one, other = owner.get(source), owner.get(target)
        if one is not None and other is not None and one != other:
            pairs[(one, other)] = max(source, pairs.get((one, other), 0))
    entering: dict[int, str] = {}
    leaving: set[tuple[int, str]] = set()
    edges = []
    for (one, other), source in sorted(pairs.items(), key=lambda pair: pair[0][::-1]):
        shape = str(drawn.shapes[source])
        known = shape == entering.get(one) or (one, shape) in leaving
        edges.append(Edge(one, other, "" if known else shape))
        entering[other] = shape
        leaving.add((one, shape))
    return Level(tuple(boxes), tuple(edges))


def _framed(drawn: Drawn, nodes: Sequence[Node], numbers: dict[str, Shown]) -> Box:
    """The box of one node; a frame around those of several, with repeated turns in a frame."""
    if len(nodes) == 1:
        return _box(drawn, nodes[0], numbers)
    tokens = [(node.kind, len(node.blocks)) for node in nodes]
    items: list[list[Node]] = []
    boxes: list[Box] = []
    start = 0
    while start < len(nodes):
        period, turns = _turns(tokens[start:])
        part = list(nodes[start : start + period * turns])
        items.append(part)
        boxes.append(
            _box(drawn, part[0], numbers)
            if len(part) == 1
            else _repeated(drawn, part, period, numbers)
        )
        start += period * turns
    places = [[place for node in part for place in node.places] for part in items]
    if len(boxes) == 1:
        return boxes[0]
    labels = Counter(block.label for node in nodes for block in node.blocks)
    return _frame(
        nodes,
        clean(labels.most_common(1)[0][0]) if len(labels) == 1 else "blocks",
        _connected(drawn, boxes, places),
    )


def _turns(tokens: Sequence[tuple[str, int]]) -> tuple[int, int]:
    """How many blocks take turns at the beginning, and how often; 1 and 1 if none do."""
    best = (1, 1)
    for period in range(2, min(_PERIODS, len(tokens) // 2) + 1):
        turns = 1
        while list(tokens[turns * period : (turns + 1) * period]) == list(tokens[:period]):
            turns += 1
        if turns > 1 and period * turns > best[0] * best[1]:
            best = (period, turns)
    return best


def _repeated(drawn: Drawn, nodes: Sequence[Node], period: int, numbers: dict[str, Shown]) -> Box:
    """A frame of blocks that take turns: one turn is shown, with their places and sizes in all."""
    turns = len(nodes) // period
    shown = []
    for number in range(period):
        of = nodes[number::period]
        whole = Node(tuple(block for node in of for block in node.blocks), of[0].kind)
        each = len(of[0].blocks)
        shown.append(
            replace(
                _box(drawn, whole, numbers), count=each, place=_places(of[0].blocks, of[1].blocks)
            )
        )
    level = _connected(drawn, shown, [node.places for node in nodes[:period]])
    return replace(_frame(nodes, "blocks", level), note=f"{times(turns)} in turn")


def _frame(nodes: Sequence[Node], several: str, level: Level) -> Box:
    """A frame; `several` names blocks of several classes."""
    blocks = [block for node in nodes for block in node.blocks]
    labels = {block.label for block in blocks}
    title = clean(labels.pop()) if len(labels) == 1 else several
    inner = tuple(level.boxes)
    return Box(
        title,
        "",
        blocks[0].stack if not blocks[0].stack.startswith(MOTIF) else blocks[0].path,
        clean("" if blocks[0].stack.startswith(MOTIF) else blocks[0].stack),
        len(blocks),
        sum(len(node.places) for node in nodes),
        sum(box.weights for box in inner),
        sum(box.work for box in inner),
        any(box.estimated for box in inner),
        inside=level,
    )


def _box(drawn: Drawn, node: Node, numbers: dict[str, Shown]) -> Box:
    """The box of blocks of one kind, or of a rest."""
    places = node.places
    first = node.blocks[0]
    size = sum(weights(drawn.graph.ops[place]) for place in places)
    work = sum(drawn.work[place] for place in places)
    if not node.kind:
        if len(places) <= _SHORT:
            return replace(drawn.box(places), place=_span(node.blocks))
        labels = list(dict.fromkeys(block.label for block in node.blocks))
        blocks = [block for block in node.blocks if block.stacked]
        home = common_path([drawn.graph.paths[place] for place in places])
        title = clean(drawn.graph.classes.get(home, "") if home else "")
        if blocks and len({block.label for block in blocks}) == 1:
            title = clean(blocks[0].label)
        note = f"{len(places):,} operations" if title else _kinds_text(drawn, places)
        title = title or clean(labels[0] if len(labels) == 1 else f"{len(places):,} operations")
        count = len(blocks) if blocks and len(blocks) == len(node.blocks) else 1
        first_places = tuple(blocks[0].places.tolist()) if count > 1 else tuple(places)
        return Box(
            title,
            note,
            first.path,
            _span(node.blocks),
            count,
            len(places),
            size,
            work,
            drawn.estimated,
            places=first_places,
        )
    shown = numbers.get(node.kind)
    return Box(
        clean(first.label),
        shown.note if shown else _kinds_text(drawn, first.places.tolist()),
        first.path,
        _places(node.blocks),
        len(node.blocks),
        len(places),
        size,
        work,
        drawn.estimated,
        shown.number if shown else None,
        variant=bool(shown and shown.note),
        places=tuple(first.places.tolist()),
    )


def _kinds_text(drawn: Drawn, places: Sequence[int]) -> str:
    counts = Counter(drawn.graph.ops[place].kind for place in places)
    return ", ".join(f"{clean(kind)} {times(n)}" for kind, n in counts.most_common(_NAMES_OF_REST))


def _span(blocks: Sequence[Block]) -> str:
    """The first and the last module of some blocks."""
    first, last = clean(blocks[0].path), clean(blocks[-1].last)
    return first if first == last or not last else f"{first} \N{HORIZONTAL ELLIPSIS} {last}"


def _places(blocks: Sequence[Block], further: Sequence[Block] = ()) -> str:
    """Such as `layer1.1-2`; of those that take turns `layers.0, 2, ...`."""
    first, last = clean(blocks[0].path), clean(blocks[-1].path)
    child = last.rpartition(".")[2]
    text = first
    if last != first:
        close = child.isdecimal() and first.rpartition(".")[0] == last.rpartition(".")[0]
        text = f"{first}\N{EN DASH}{child}" if close else f"{first} \N{HORIZONTAL ELLIPSIS} {last}"
    if further:
        text += f", {clean(further[0].path).rpartition('.')[2]}, \N{HORIZONTAL ELLIPSIS}"
    return text
