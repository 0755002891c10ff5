"""The parts of a design: what its modules compute, each as a graph of its own.

A part is cut out of the trace of its parent, so that its inputs are known. It is a design in small:
its labels are those of its operations and of what stands around them inside the part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from nar_plugin.encoder import words
from nar_plugin.encoder.labels import read
from nar_plugin.errors import NarError, in_words
from nar_plugin.mining import CONTAINERS, module_label
from nar_plugin.tracing.fingerprint import hashed
from nar_plugin.tracing.graph import ArchitectureGraph, Op

IntArray = NDArray[np.int64]
Edges = NDArray[np.int32]

WHOLE = "."  # stands for the model itself
FEWEST, MOST = 3, 300  # operations: attention is three, the longest stage of a ResNet-152 has 360
NEARLY_ALL = 0.9  # of a design's operations: a part that has more is the design


@dataclass(frozen=True)
class Part:
    """What one module of a design computes, as often as the design has it.

    Attributes:
        graph: Its operations, with the edges between them.
        key: Equal for equal parts of one design, and mostly of others; `shape` is so for all.
        label: Class of the module, or what a container holds, such as `Bottleneck x6`.
        path: The first module of this kind, such as `layer3.1`.
        count: How many there are.
    """

    graph: ArchitectureGraph
    key: bytes
    label: str
    path: str
    count: int


def shape(graph: ArchitectureGraph) -> str:
    """A hash that blocks share which are equal but for widths, heads and groups.

    It tells what the labels tell that are compared (`encoder.words.shape`), so that two blocks of
    one shape have one likeness to all others.
    """
    told = read(graph)
    return hashed(told, [_word(op) for op in told.ops])


def cut(graph: ArchitectureGraph, path: str) -> ArchitectureGraph:
    """What one module computes; of one that is called several times, the first call.

    Args:
        graph: The design, with module paths.
        path: Such as `layer3.0`; `WHOLE` for all of it.

    Raises:
        NarError: The forward calls no such module.
    """
    if path == WHOLE:
        return graph
    inside = _inside(graph)
    if path not in inside:
        near = get_close_matches(path, inside, 3) or sorted(inside, key=len)[:3]
        raise NarError(
            f"The trace has no module {in_words(path)}, or it computes nothing that is compared. "
            f"Did you mean {' or '.join(near)}? `nar trace REF` lists the modules."
            if near
            else "The trace has no module paths, so no module can be cut out of it. "
            f"at={WHOLE!r} asks about the model itself."
        )
    return _taken(graph, _calls(graph, inside[path])[0])


def parts_of(graph: ArchitectureGraph) -> list[Part]:
    """The distinct parts of a design, in order of the first operation.

    Modules of fewer than three operations, of more than `MOST`, and of nearly all of the design
    are left out, and lists of modules that are called apart. Modules that compute the same
    operations are one, named by the innermost class.
    """
    numbers = _numbered(graph.ops)
    found: dict[bytes, Part] = {}
    for path, places in _distinct(graph, _inside(graph)).items():
        for call in _calls(graph, places):
            if not FEWEST <= len(call) <= min(MOST, NEARLY_ALL * len(graph)):
                continue
            edges = _edges(graph, call)
            key = numbers[call].tobytes() + b"/" + edges.tobytes()
            if key not in found:
                found[key] = Part(_graph(graph, call, edges), key, _label(graph, path), path, 0)
            found[key] = replace(found[key], count=found[key].count + 1)
    return [part for part in found.values() if _is_connected(part.graph)]


_numbers: dict[str, int] = {}  # of words


def _numbered(ops: tuple[Op, ...]) -> IntArray:
    """The number of each operation, equal for those that differ in widths alone."""
    known = {op: _numbers.setdefault(_word(op), len(_numbers)) for op in set(ops)}
    return np.array([known[op] for op in ops], dtype=np.int64)


def _word(op: Op) -> str:
    return words.shape(words.pointwise(op))


def _is_connected(graph: ArchitectureGraph) -> bool:
    return len(list(_connected(len(graph), graph.edges))) == 1


def _inside(graph: ArchitectureGraph) -> dict[str, IntArray]:
    """The operations of each module, ascending."""
    inside: dict[str, list[int]] = {}
    for place, path in enumerate(graph.paths):
        while path:
            inside.setdefault(path, []).append(place)
            path = path.rpartition(".")[0]
    return {path: np.array(places, dtype=np.int64) for path, places in inside.items()}


def _distinct(graph: ArchitectureGraph, inside: dict[str, IntArray]) -> dict[str, IntArray]:
    """Modules that compute different operations: of equal ones the innermost with a class."""
    named: dict[bytes, str] = {}
    for path in sorted(inside, key=lambda path: path.count(".")):
        key = inside[path].tobytes()
        if key not in named or graph.classes.get(path, "Sequential") not in CONTAINERS:
            named[key] = path
    return {path: inside[path] for path in named.values()}


def _calls(graph: ArchitectureGraph, places: IntArray) -> list[IntArray]:
    """The operations call by call, of a module that is called on several values apart."""
    first = (graph.paths[places[0]], graph.ops[places[0]])
    starts = sum((graph.paths[place], graph.ops[place]) == first for place in places.tolist())
    if starts == 1:
        return [places]
    groups = list(_connected(len(places), _edges(graph, places)))
    kinds = {tuple(sorted(graph.ops[places[n]].kind for n in group)) for group in groups}
    return [places[group] for group in groups] if len(kinds) == 1 else [places]


def _connected(count: int, edges: Edges) -> Iterator[list[int]]:
    """Numbers that edges connect, group by group."""
    root = list(range(count))

    def top(number: int) -> int:
        while root[number] != number:
            root[number] = root[root[number]]
            number = root[number]
        return number

    for one, other in edges.tolist():
        root[max(top(one), top(other))] = min(top(one), top(other))
    groups: dict[int, list[int]] = {}
    for number in range(count):
        groups.setdefault(top(number), []).append(number)
    yield from groups.values()


def _edges(graph: ArchitectureGraph, places: IntArray) -> Edges:
    """int32[e, 2]: the edges between some operations, numbered among these."""
    numbers = np.full(len(graph), -1, dtype=np.int32)
    numbers[places] = np.arange(len(places))
    found = numbers[graph.edges.reshape(-1, 2)]
    return np.asarray(found[(found >= 0).all(axis=1)])


def _taken(graph: ArchitectureGraph, places: IntArray) -> ArchitectureGraph:
    return _graph(graph, places, _edges(graph, places))


def _graph(graph: ArchitectureGraph, places: IntArray, edges: Edges) -> ArchitectureGraph:
    ops = tuple(graph.ops[place] for place in places.tolist())
    paths = tuple(graph.paths[place] for place in places.tolist())
    return ArchitectureGraph(ops, edges, paths, graph.classes)


def _label(graph: ArchitectureGraph, path: str) -> str:
    return module_label(path, graph.paths, graph.classes) or graph.classes.get(path, "")
