"""The blocks of a design as people name them: what an explanation speaks of.

Mining cuts a graph without looking at names, so a motif may hold two layers of one model and one
of another, or begin in the middle of one. An explanation needs the same grain on both sides and
names that can be found in the code. So the children of a stack are blocks (`layer2.0`, `layer2.1`,
`blocks.7`), and what no stack holds is cut where the motifs are. A design without modules is cut
where the motifs are throughout. How alike two designs are does not depend on this cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nar_plugin.mining import CONTAINERS, LONGEST_REST, MacroGraph, Motif, module_label

IntArray = NDArray[np.int64]

SHORTEST_LAYER = 5  # operations in a child of a stack: fewer are a convolution with its norm
MOTIF = "motif "  # begins the stack of layers that no module holds
PART_OF_MOTIF = 0.4  # of a motif that a layer has at least; less is a part of a layer
ALIKE = 0.7  # of two layers' kinds of operations that are the same


@dataclass(frozen=True)
class Block:
    """A stretch of a design that a person would point at.

    Attributes:
        path: The module, such as `layer2.0`; of a rest that is no module, the first one in it.
        last: The last module of a rest; equal to `path` for a module.
        label: Class of the module where it is known, else the operations.
        stack: What it is a layer of: the module that holds it, such as `layer2` of `layer2.0`, or
            the repeated motif; empty of what is no layer.
        places: int64[n], its operations in the graph of the `MacroGraph`, ascending.
    """

    path: str
    last: str
    label: str
    stack: str
    places: IntArray

    @property
    def stacked(self) -> bool:
        """Whether it is a layer of a stack."""
        return bool(self.stack)

    @property
    def named(self) -> bool:
        """Whether the label is a class; that of a rest never is, and of a layer seldom not."""
        return self.stacked and self.label.replace(" ", "_").isidentifier()


def blocks_of(macro: MacroGraph) -> tuple[Block, ...]:
    """Cut a design into blocks that cover all of its operations once, in order of the first."""
    graph = macro.graph
    layers = _layers(macro)
    found: list[Block] = []
    for path, places in layers.items():
        for part in _calls(macro, np.array(places)):
            label = module_label(path, graph.paths, graph.classes) or _kinds(macro, part)
            stack = path.rpartition(".")[0] or "the model"
            found.append(Block(path, path, label, stack, part))
    taken = np.zeros(len(graph), dtype=bool)
    for block in found:
        taken[block.places] = True
    found += [_rest(macro, part) for part in _rests(macro, taken)]
    return tuple(sorted(found, key=lambda block: int(block.places[0])))


def _layers(macro: MacroGraph) -> dict[str, list[int]]:
    """The operations of each layer of a stack, by its module path."""
    graph = macro.graph
    inside: dict[str, list[int]] = {}
    children: dict[str, dict[str, None]] = {}
    for place, path in enumerate(graph.paths):
        while path:
            inside.setdefault(path, []).append(place)
            parent = path.rpartition(".")[0]
            children.setdefault(parent, {})[path] = None
            path = parent
    sizes = np.repeat(np.diff(macro.spans, axis=1)[:, 0], np.diff(macro.spans, axis=1)[:, 0])
    kinds = {path: Counter(graph.ops[place].kind for place in inside[path]) for path in inside}
    stacks = {
        parent for parent, found in children.items() if _is_stack(list(found), inside, kinds, sizes)
    }
    holding = set()
    for stack in stacks:
        path = stack
        while path:
            holding.add(path)
            path = path.rpartition(".")[0]
    return {
        _named(path, children, inside, graph.classes): inside[path]
        for stack in stacks
        for path in children[stack]
        if path not in holding and len(inside[path]) >= SHORTEST_LAYER
    }


def _named(
    path: str,
    children: dict[str, dict[str, None]],
    inside: dict[str, list[int]],
    classes: Mapping[str, str],
) -> str:
    """The module itself, or what it holds where it is a mere container of one."""
    while classes.get(path, "Sequential") in CONTAINERS:
        found = list(children.get(path, ()))
        if len(found) != 1 or len(inside[found[0]]) < len(inside[path]):
            break
        path = found[0]
    return path


def _is_stack(
    found: list[str],
    inside: dict[str, list[int]],
    kinds: dict[str, Counter[str]],
    sizes: IntArray,
) -> bool:
    """Whether among modules of one parent two are alike, and as long as layers are here."""
    long = [
        path
        for path in found
        if len(inside[path]) >= SHORTEST_LAYER
        and len(inside[path]) >= PART_OF_MOTIF * float(np.median(sizes[inside[path]]))
    ]
    return any(
        _alike(kinds[one], kinds[other]) >= ALIKE
        for number, one in enumerate(long)
        for other in long[number + 1 : number + 3]
    )


def _alike(one: Counter[str], other: Counter[str]) -> float:
    return (one & other).total() / (one | other).total()


def _calls(macro: MacroGraph, places: IntArray) -> list[IntArray]:
    """The operations of a module, call by call: layers that share their weights are one module."""
    graph = macro.graph
    first = graph.paths[places[0]], graph.ops[places[0]].kind
    starts = set(macro.spans[:, 0].tolist())
    cuts = [
        number
        for number, place in enumerate(places.tolist())
        if number and place in starts and (graph.paths[place], graph.ops[place].kind) == first
    ]
    return np.split(places, cuts)


def _rests(macro: MacroGraph, taken: NDArray[np.bool_]) -> list[IntArray]:
    """What no stack holds: runs of operations, the long ones cut where the motifs are."""
    free = np.flatnonzero(~taken)
    runs = np.split(free, np.flatnonzero(np.diff(free) > 1) + 1) if len(free) else []
    parts: list[IntArray] = []
    for run in runs:
        if len(run) <= LONGEST_REST:
            parts.append(run)
            continue
        cuts = np.searchsorted(run, macro.spans[:, 0])
        parts += [part for part in np.split(run, np.unique(cuts[(cuts > 0) & (cuts < len(run))]))]
    return parts


def _rest(macro: MacroGraph, places: IntArray) -> Block:
    paths = [macro.graph.paths[place] for place in places.tolist() if macro.graph.paths[place]]
    path, last = (paths[0], paths[-1]) if paths else ("", "")
    if repeated := _repeated(macro, places):
        found = Block(path, last, repeated.label, f"{MOTIF}{repeated.shape}", places)
        return found if found.named else replace(found, label=_kinds(macro, places))
    return Block(path, last, _kinds(macro, places), "", places)


def _repeated(macro: MacroGraph, places: IntArray) -> Motif | None:
    """The motif that these operations are an instance of, if it is a block that occurs again."""
    number = int(np.searchsorted(macro.spans[:, 0], places[0]))
    if number == len(macro) or macro.spans[number].tolist() != [places[0], places[-1] + 1]:
        return None
    motif = macro.motifs[macro.nodes[number]]
    again = sum(macro.motifs[node].shape == motif.shape for node in macro.nodes.tolist())
    return motif if again > 1 and len(places) >= SHORTEST_LAYER else None


def _kinds(macro: MacroGraph, places: IntArray) -> str:
    kinds = [macro.graph.ops[place].kind for place in places.tolist()]
    return ", ".join(kinds[:4]) + (", ..." if len(kinds) > 4 else "")
