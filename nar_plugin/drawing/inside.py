"""A block from the inside: its operations, with norm and activation in the box of their layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from nar_plugin.drawing.condensing import Group, coarsened, condensed, in_forward_order
from nar_plugin.drawing.figure import JOINS, Box, Edge, Level
from nar_plugin.drawing.shapes import Shape, shapes_of, work_of
from nar_plugin.encoder.sizes import weights
from nar_plugin.encoder.words import ACTIVATIONS, NORMS
from nar_plugin.likeness.idioms import short
from nar_plugin.mining import CONTAINERS
from nar_plugin.mining.paths import common_path
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.tracing.work import flops_of_operations
from nar_plugin.visible_text import clean

MOST_INSIDE = 22  # boxes of one block
_NAMED = 4  # operations that a box names
_LONG_NAME = 26  # characters of a value's name
_ENTRIES = 4  # values from elsewhere that are shown apart


@dataclass(frozen=True)
class Drawn:
    """A graph with what a picture wants to know of each operation."""

    graph: ArchitectureGraph

    @cached_property
    def shapes(self) -> list[Shape]:
        """What each operation gives."""
        return shapes_of(self.graph)

    @cached_property
    def work(self) -> list[float]:
        """The part of the FLOPs of each operation: counted in a trace, else estimated."""
        counted = self._counted
        return counted if counted else work_of(self.graph, self.shapes)

    @cached_property
    def estimated(self) -> bool:
        """Whether `work` is estimated."""
        return not self._counted

    @cached_property
    def _counted(self) -> list[float]:
        flops = flops_of_operations(self.graph) or []
        total = sum(flops)
        return [each / total for each in flops] if total else []

    @cached_property
    def sources(self) -> list[list[int]]:
        """What each operation reads."""
        return self.graph.sources()

    @cached_property
    def readers(self) -> list[list[int]]:
        """What reads each operation."""
        readers: list[list[int]] = [[] for _ in self.graph.ops]
        for target, sources in enumerate(self.sources):
            for source in sources:
                readers[source].append(target)
        return readers

    def box(self, places: Sequence[int], count: int = 1, kind: int | None = None) -> Box:
        """A box for some operations, named by them."""
        ops = [self.graph.ops[place] for place in places]
        paths = [self.graph.paths[place] for place in places]
        first = next(filter(None, paths), "")
        names = [operation_text(op) for op in ops]
        leading = next((n for n, op in enumerate(ops) if weights(op)), 0)
        if len(ops) == 1 and len(self.sources[places[0]]) > 1 and ops[0].kind in JOINS:
            return Box(ops[0].kind, "", first, clean(first), ops=1, mark=JOINS[ops[0].kind])
        others = names[:leading] + names[leading + 1 :]
        return Box(
            names[leading],
            _listed(others),
            first,
            clean(first),
            count,
            len(ops),
            sum(map(weights, ops)),
            sum(self.work[place] for place in places),
            self.estimated,
            kind,
            places=tuple(places),
        )


def inside(
    drawn: Drawn, places: Sequence[int], kind: int | None = None, most: int = MOST_INSIDE
) -> Level:
    """The operations of a block, with what it reads and where its values go.

    Args:
        drawn: The design.
        places: Operations of the block, ascending.
        kind: The number of its kind, which its boxes with weights share.
        most: Boxes.
    """
    number = {place: n for n, place in enumerate(places)}
    edges = [
        (number[source], number[place])
        for place in places
        for source in drawn.sources[place]
        if source in number
    ]
    groups = in_forward_order(_layers(drawn, places, number), edges)
    if len(groups) > most:
        groups = _folded(drawn, places, groups, edges, most)
    members = [[places[n] for n in group] for group in groups]
    boxes = [_named(drawn, group, places, kind) for group in members]
    owner = {place: n for n, group in enumerate(members) for place in group}
    entries = _entries(drawn, places, owner)
    level = [Box(text, mark="in") for text, _ in entries] + boxes
    shift = len(entries)
    links = [Edge(n, shift + target) for n, (_, found) in enumerate(entries) for target in found]
    for source, target in sorted(condensed(groups, edges)):
        links.append(Edge(shift + source, shift + target))
    leaving = sorted(
        {owner[p] for p in places if any(reader not in owner for reader in drawn.readers[p])}
    )
    if leaving:
        links += [Edge(shift + source, len(level)) for source in leaving]
        level.append(Box("out", mark="out"))
    return Level(tuple(level), tuple(links))


def operation_text(op: Op) -> str:
    """An operation in a few words, such as `conv 3x3 /2, 256`."""
    text = short(op)
    stride = str(op.get("stride", "")).split("x")[-1]
    if stride not in ("", "1"):
        text += f" up {stride}" if op.get("transposed") else f" /{stride}"
    if op.kind in ("max_pool", "avg_pool"):
        text = f"{op.kind} {op.get('kernel')}" + (f" /{stride}" if stride not in ("", "1") else "")
    if op.kind == "attention":
        return f"attention, {op.get('heads')} heads"
    if op.kind == "linear" and op.get("experts"):
        return f"{op.get('experts')} experts {op.get('in')} \N{RIGHTWARDS ARROW} {op.get('out')}"
    width = op.get("out") or (op.get("width") if op.kind == "embedding" else None)
    rows = op.get("in") if op.kind == "linear" else op.get("vocabulary")
    if isinstance(rows, int) and isinstance(width, int):
        text += f" {rows:,}"
    return clean(f"{text} \N{RIGHTWARDS ARROW} {width:,}" if isinstance(width, int) else text)


def _layers(drawn: Drawn, places: Sequence[int], number: dict[int, int]) -> list[Group]:
    """Each operation, but a norm or an activation with the layer that it alone follows."""
    groups: dict[int, Group] = {}
    head: dict[int, int] = {}
    for place in places:
        op, sources = drawn.graph.ops[place], drawn.sources[place]
        joined = (
            op.kind in NORMS | ACTIVATIONS
            and len(sources) == 1
            and sources[0] in head
            and drawn.readers[sources[0]] == [place]
            and drawn.graph.ops[head[sources[0]]].kind in ("conv", "linear")
        )
        head[place] = head[sources[0]] if joined else place
        groups.setdefault(head[place], []).append(number[place])
    return list(groups.values())


def _folded(
    drawn: Drawn,
    places: Sequence[int],
    groups: list[Group],
    edges: Sequence[tuple[int, int]],
    most: int,
) -> list[Group]:
    """The layers by the modules that hold them, deeper where there is room."""
    names = [drawn.graph.paths[places[group[0]]] for group in groups]
    found = coarsened(names, condensed(groups, edges), most)
    return [sorted(node for number in group for node in groups[number]) for group in found]


def _named(drawn: Drawn, group: Sequence[int], whole: Sequence[int], kind: int | None) -> Box:
    """A box that is named by the module which holds all of it, if that is more than a layer."""
    box = drawn.box(group)
    coloured = kind if box.weights else None
    home = common_path([drawn.graph.paths[place] for place in whole])
    if len(group) > _NAMED:
        path = common_path([drawn.graph.paths[place] for place in group])
        label = drawn.graph.classes.get(path, "")
        if path != home and label:
            title = path.rpartition(".")[2] if label in CONTAINERS else label
            note = _listed([operation_text(drawn.graph.ops[place]) for place in group])
            box = replace(box, title=clean(title), note=note, path=path)
    return replace(box, kind=coloured, place=_within(home, box.path))


def _within(home: str, path: str) -> str:
    """A path as it is called inside of a module."""
    return clean(path.removeprefix(home).removeprefix("."))


def _entries(
    drawn: Drawn, places: Sequence[int], owner: dict[int, int]
) -> list[tuple[str, list[int]]]:
    """Values from outside: what they are called, and which boxes read them.

    The value that comes first in the block is its input. Others are called by the module that made
    them.
    """
    readers: dict[int, set[int]] = {}
    for place in places:
        for source in drawn.sources[place]:
            if source not in owner:
                readers.setdefault(source, set()).add(owner[place])
    if not readers:
        return []
    main = max(readers, key=lambda source: (len(readers[source]) > 1, source))
    others = sorted(readers.keys() - {main})
    found = [("in", sorted(readers[main]))]
    if len(others) >= _ENTRIES:
        targets = sorted({target for source in others for target in readers[source]})
        return [*found, (f"{len(others)} other values", targets)]
    for source in others:
        name = _short_path(drawn.graph.paths[source]) or drawn.graph.ops[source].kind
        found.append((clean(f"from {name}"), sorted(readers[source])))
    return found


def _short_path(path: str) -> str:
    """The end of a path."""
    tail = ".".join(path.split(".")[-2:])
    return tail if len(tail) <= _LONG_NAME else path.rpartition(".")[2]


def _listed(names: Sequence[str]) -> str:
    """Such as `batch_norm, relu`; equal ones once, and not more than fit a line."""
    kinds = list(dict.fromkeys(names))
    more = len(kinds) - _NAMED
    return ", ".join(kinds[:_NAMED]) + (f", +{more}" if more > 0 else "")
