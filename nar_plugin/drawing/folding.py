"""Folds a design for a picture: blocks that are alike become one box with a count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from nar_plugin.drawing.condensing import (
    Group,
    acyclic,
    coarsened,
    condensed,
    in_forward_order,
)
from nar_plugin.drawing.figure import Box, Edge, Figure, Kind, Level
from nar_plugin.drawing.inside import Drawn, common_path, inside
from nar_plugin.drawing.settling import motif_blocks, settled
from nar_plugin.encoder.sizes import weights
from nar_plugin.likeness.blocks import MOTIF, Block, blocks_of
from nar_plugin.mining import MacroGraph
from nar_plugin.mining.step_labels import block_hash, shape_word
from nar_plugin.tracing.graph import ArchitectureGraph
from nar_plugin.visible_text import clean, counted, flops_text, params_text, times

MOST_ON_SPINE = 60  # boxes and frames of the folded design
MOST_KINDS = 6  # blocks that are shown from the inside
_PERIODS = 12  # kinds of blocks that may take turns
_REST = 6  # operations up to which neighbouring rests are one box
_NAMES_OF_REST = 3
_WIDTHS = {"in", "out", "width", "value_width", "heads"}
_LONG = 12  # boxes from which on a shorter way to fold is looked for
_ENOUGH = 0.5  # of the operations in folded boxes: then it is short enough as it is
_PLAIN = 120  # operations up to which a design without blocks is drawn layer by layer
_VARIANT = 0.9  # of the operations of two blocks that are of one kind


@dataclass(frozen=True)
class _Node:
    """What one box of the spine stands for: blocks of one kind, or a rest."""

    blocks: tuple[Block, ...]
    kind: str  # hash of the structure of its blocks, empty of a rest

    @property
    def places(self) -> list[int]:
        return sorted(place for block in self.blocks for place in block.places.tolist())


@dataclass(frozen=True)
class _Shown:
    """Which kind shows a block from the inside, and how the block differs from it."""

    number: int
    note: str


def figure_of(macro: MacroGraph, title: str = "") -> Figure:
    """What is drawn of a design.

    Args:
        macro: The design, cut into motifs. Module paths name its blocks; without them the motifs
            are the blocks.
        title: What the design is called.
    """
    drawn = Drawn(macro.graph)
    level, shown, plain = _folded(drawn, blocks_of(macro))
    if len(level.boxes) > _LONG and _folded_part(level) < _ENOUGH:
        other = _folded(drawn, motif_blocks(macro))
        if 2 * len(other[0].boxes) <= len(level.boxes):
            level, shown, plain = other
    graph = macro.graph
    if plain and len(graph) <= _PLAIN:
        level = inside(drawn, range(len(graph)), None, MOST_ON_SPINE)
    known = graph.flops and graph.method != "modules"
    flops = f"{flops_text(graph.flops)} FLOPs" if known else ""
    facts = [f"{params_text(graph.params)} params" if graph.params else "", flops]
    facts += [counted(len(graph), "operation"), clean(graph.inputs)]
    if graph.method == "index":
        facts.append("from the index")
    if graph.method == "modules":
        facts.append("read off the module tree: connections are not known")
    return Figure(
        clean(title),
        " \N{MIDDLE DOT} ".join(filter(None, facts)),
        level,
        tuple(shown),
    )


def _folded(drawn: Drawn, blocks: Sequence[Block]) -> tuple[Level, list[Kind], bool]:
    """The spine of some blocks, their kinds, and whether there is no block at all."""
    nodes = _nodes(drawn, settled(drawn.graph, blocks))
    shown, numbers = _kinds(drawn, nodes)
    return _spine(drawn, nodes, numbers), shown, not any(node.kind for node in nodes)


def _folded_part(level: Level) -> float:
    """The part of the operations that is in boxes and frames of several blocks."""
    whole = sum(box.ops for box in level.boxes)
    return sum(box.ops for box in level.boxes if box.count > 1) / max(whole, 1)


def _structure(drawn: Drawn, block: Block) -> str:
    """Equal for blocks of one class that compute the same, widths aside."""
    places = block.places.tolist()
    number = {place: n for n, place in enumerate(places)}
    edges = [
        (number[source], number[place])
        for place in places
        for source in drawn.sources[place]
        if source in number
    ]
    words = [shape_word(drawn.graph.ops[place]) for place in places]
    return f"{block.label} {block_hash(words, edges)}"


def _nodes(drawn: Drawn, blocks: Sequence[Block]) -> list[_Node]:
    """Blocks in topological order, equal neighbours of a stack as one."""
    kinds = [_structure(drawn, block) if block.stacked else "" for block in blocks]
    owner = {place: n for n, block in enumerate(blocks) for place in block.places.tolist()}
    edges = {
        (owner[source], owner[target])
        for source, target in drawn.graph.edges.tolist()
        if owner[source] != owner[target]
    }
    atoms = acyclic(len(blocks), edges)
    between = condensed(atoms, edges)
    stacks: dict[str, Group] = {}
    for number, atom in enumerate(atoms):
        block = blocks[atom[0]]
        alone = len(atom) > 1 or not block.stacked
        stacks.setdefault(f"#{number}" if alone else block.stack, []).append(number)
    groups: list[Group] = []
    for stack in stacks.values():
        for _, run in groupby(stack, key=lambda number: kinds[atoms[number][0]]):
            groups.append(list(run))
    groups = in_forward_order(groups, between)
    groups = _with_joined_rests(groups, between, [_is_rest(blocks[atom[0]]) for atom in atoms])
    if len(groups) > MOST_ON_SPINE:
        names = [blocks[atoms[group[0]][0]].path for group in groups]
        coarse = coarsened(names, condensed(groups, between), MOST_ON_SPINE)
        groups = [sorted(n for number in group for n in groups[number]) for group in coarse]
    found = []
    for group in groups:
        members = tuple(blocks[number] for n in group for number in atoms[n])
        of = {kinds[number] for n in group for number in atoms[n]}
        found.append(_Node(members, of.pop() if len(of) == 1 else ""))
    return found


def _is_rest(block: Block) -> bool:
    return not block.stacked and len(block.places) <= _REST


def _with_joined_rests(
    groups: list[Group], edges: set[tuple[int, int]], rests: Sequence[bool]
) -> list[Group]:
    """Short rests that follow one another, and nothing else, are one."""
    pairs = condensed(groups, edges)
    following: dict[int, list[int]] = {}
    before: Counter[int] = Counter()
    for source, target in pairs:
        following.setdefault(source, []).append(target)
        before[target] += 1
    merged: list[Group] = []
    home: dict[int, int] = {}
    for number, group in enumerate(groups):
        previous = [source for source, target in pairs if target == number]
        if (
            len(previous) == 1
            and following[previous[0]] == [number]
            and before[number] == 1
            and all(rests[n] for n in (*groups[previous[0]], *group))
        ):
            home[number] = home[previous[0]]
            merged[home[number]] = merged[home[number]] + group
        else:
            home[number] = len(merged)
            merged.append(group)
    return merged


def _kinds(drawn: Drawn, nodes: Sequence[_Node]) -> tuple[list[Kind], dict[str, _Shown]]:
    """The kinds of block that hold most operations, in the order of the forward.

    A kind that nearly computes what a more frequent one of its class does is a variant of it, and
    is not shown from the inside.

    Returns:
        The kinds that are shown, and for each structure which of them it is or is like.
    """
    first: dict[str, Block] = {}
    counts: Counter[str] = Counter()
    mass: Counter[str] = Counter()
    for node in nodes:
        if node.kind:
            first.setdefault(node.kind, node.blocks[0])
            counts[node.kind] += len(node.blocks)
            mass[node.kind] += len(node.places)
    ops = {
        kind: Counter(drawn.graph.ops[place].kind for place in block.places.tolist())
        for kind, block in first.items()
    }
    models: dict[str, str] = {}
    for kind in sorted(first, key=lambda each: (-counts[each], list(first).index(each))):
        like = (
            other
            for other in models
            if models[other] == other
            and first[other].label == first[kind].label
            and (ops[other] & ops[kind]).total() >= _VARIANT * (ops[other] | ops[kind]).total()
        )
        models[kind] = next(like, kind)
    shown = Counter({kind: 0 for kind in first if models[kind] == kind})
    for kind, model in models.items():
        shown[model] += mass[kind]
    largest = {kind for kind, _ in shown.most_common(MOST_KINDS)}
    chosen = [kind for kind in first if kind in largest]
    found = []
    for number, kind in enumerate(chosen):
        block = first[kind]
        level = inside(drawn, block.places.tolist(), number)
        every = sum(counts[other] for other in first if models[other] == kind)
        found.append(Kind(clean(block.label), block.path, every, level))
    told = {}
    for kind, model in models.items():
        if model in largest:
            pair = first[kind].places.tolist(), first[model].places.tolist()
            note = "" if kind == model else _variant(drawn.graph, *pair)
            told[kind] = _Shown(chosen.index(model), note)
    return found, told


def _variant(graph: ArchitectureGraph, own: Sequence[int], shown: Sequence[int]) -> str:
    """How a variant differs from the block that is shown."""
    ops, model = ([graph.ops[place] for place in places] for places in (own, shown))
    kinds, others = Counter(op.kind for op in ops), Counter(op.kind for op in model)
    told = [f"with {clean(kind)}" for kind in kinds - others]
    told += [f"without {clean(kind)}" for kind in others - kinds]
    if not told and [op.kind for op in ops] == [op.kind for op in model]:
        names: set[str] = set()
        for one, other in zip(ops, model, strict=True):
            names |= {name for name, _ in {*one.attributes} ^ {*other.attributes}}
        told = [f"other {name}" for name in sorted(names - _WIDTHS)]
    return ", ".join(told[:_NAMES_OF_REST]) or "wired otherwise"


def _spine(drawn: Drawn, nodes: Sequence[_Node], numbers: dict[str, _Shown]) -> Level:
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


def _framed(drawn: Drawn, nodes: Sequence[_Node], numbers: dict[str, _Shown]) -> Box:
    """The box of one node; a frame around those of several, with repeated turns in a frame."""
    if len(nodes) == 1:
        return _box(drawn, nodes[0], numbers)
    tokens = [(node.kind, len(node.blocks)) for node in nodes]
    items: list[list[_Node]] = []
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


def _repeated(drawn: Drawn, nodes: Sequence[_Node], period: int, numbers: dict[str, _Shown]) -> Box:
    """A frame of blocks that take turns: one turn is shown, with their places and sizes in all."""
    turns = len(nodes) // period
    shown = []
    for number in range(period):
        of = nodes[number::period]
        whole = _Node(tuple(block for node in of for block in node.blocks), of[0].kind)
        each = len(of[0].blocks)
        shown.append(
            replace(
                _box(drawn, whole, numbers), count=each, place=_places(of[0].blocks, of[1].blocks)
            )
        )
    level = _connected(drawn, shown, [node.places for node in nodes[:period]])
    return replace(_frame(nodes, "blocks", level), note=f"{times(turns)} in turn")


def _frame(nodes: Sequence[_Node], several: str, level: Level) -> Box:
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
        inside=level,
    )


def _box(drawn: Drawn, node: _Node, numbers: dict[str, _Shown]) -> Box:
    """The box of blocks of one kind, or of a rest."""
    places = node.places
    first = node.blocks[0]
    size = sum(weights(drawn.graph.ops[place]) for place in places)
    work = sum(drawn.work[place] for place in places)
    if not node.kind:
        if len(places) <= _REST + _REST:
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
