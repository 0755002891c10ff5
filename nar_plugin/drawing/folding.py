"""Folds a design for a picture: blocks that are alike become one box with a count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from nar_plugin.drawing.condensing import (
    Group,
    acyclic,
    coarsened,
    condensed,
    in_forward_order,
)
from nar_plugin.drawing.figure import Figure, Kind, Level
from nar_plugin.drawing.inside import Drawn, inside
from nar_plugin.drawing.settling import motif_blocks, settled
from nar_plugin.drawing.spine import Node, Shown, spine_of
from nar_plugin.likeness.blocks import Block, blocks_of
from nar_plugin.mining import MacroGraph
from nar_plugin.mining.step_labels import block_hash, shape_word
from nar_plugin.tracing.graph import ArchitectureGraph
from nar_plugin.visible_text import clean, counted, flops_text, params_text

MOST_ON_SPINE = 60  # boxes and frames of the folded design
MOST_KINDS = 6  # blocks that are shown from the inside
_REST = 6  # operations up to which neighbouring rests are one box
_NAMES_OF_REST = 3
_WIDTHS = {"in", "out", "width", "value_width", "heads"}
_LONG = 12  # boxes from which on a shorter way to fold is looked for
_HALF = 0.5  # of the operations in folded boxes: then it is short enough as it is
_STACK = 6  # blocks that make a stack, where the motifs are its blocks
_PLAIN = 120  # operations up to which a design without blocks is drawn layer by layer
_VARIANT = 0.9  # of the operations of two blocks that are of one kind


def figure_of(macro: MacroGraph, title: str = "") -> Figure:
    """What is drawn of a design.

    Args:
        macro: The design, cut into motifs. Module paths name its blocks; without them the motifs
            are the blocks.
        title: What the design is called.
    """
    drawn = Drawn(macro.graph)
    level, shown, plain = _folded(drawn, blocks_of(macro))
    if len(level.boxes) > _LONG and _folded_part(level) < _HALF:
        other = _folded(drawn, motif_blocks(macro))
        if _folded_part(other[0], _STACK) >= _HALF:
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
    return spine_of(drawn, nodes, numbers), shown, not any(node.kind for node in nodes)


def _folded_part(level: Level, least: int = 2) -> float:
    """The part of the operations that is in boxes and frames of at least so many blocks."""
    whole = sum(box.ops for box in level.boxes)
    return sum(box.ops for box in level.boxes if box.count >= least) / max(whole, 1)


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


def _nodes(drawn: Drawn, blocks: Sequence[Block]) -> list[Node]:
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
        found.append(Node(members, of.pop() if len(of) == 1 else ""))
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


def _kinds(drawn: Drawn, nodes: Sequence[Node]) -> tuple[list[Kind], dict[str, Shown]]:
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
            told[kind] = Shown(chosen.index(model), note)
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
