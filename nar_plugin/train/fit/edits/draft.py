"""A graph that can be edited: operations that point at what they read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from nar_plugin.tracing.graph import ArchitectureGraph, Op

_SUM = Op("add")
_GIVEN = ("out", "width")  # attributes that state how many features an operation gives
PARAMETRIC = frozenset({"linear", "conv", "lstm", "gru", "rnn_tanh", "rnn_relu"})


class Step:
    """One operation of a draft.

    Attributes:
        op: What it computes.
        inputs: The steps that it reads, in order.
        path: The module path of the step.
    """

    __slots__ = ("inputs", "op", "path")

    def __init__(self, op: Op, inputs: Iterable[Step], path: str = "") -> None:
        self.op, self.inputs, self.path = op, list(inputs), path


class Draft:
    """The steps of a graph, to be changed, and back to a graph.

    Example:
        >>> draft = Draft(graph)
        >>> for step in draft.of("relu"):
        ...     draft.behind(step, [Op("tanh")])
        >>> draft.graph()

    Args:
        graph: What to start from; it stays as it is.
    """

    def __init__(self, graph: ArchitectureGraph) -> None:
        self._graph = graph
        self.steps: list[Step] = []
        for op, path, sources in zip(graph.ops, graph.paths, graph.sources(), strict=True):
            self.steps.append(Step(op, [self.steps[source] for source in sources], path))
        read = {id(source) for step in self.steps for source in step.inputs}
        self.results = [step for step in self.steps if id(step) not in read]

    def of(self, *kinds: str) -> list[Step]:
        """The steps of some kinds, in order."""
        return [step for step in self.steps if step.op.kind in kinds]

    def add(self, op: Op, inputs: Iterable[Step]) -> Step:
        """A further step, which nothing reads yet."""
        step = Step(op, inputs)
        self.steps.append(step)
        return step

    def chain(self, start: Step, ops: Sequence[Op]) -> Step:
        """Further steps, each reading the one before; the last of them."""
        for op in ops:
            start = self.add(op, [start])
        return start

    def redirect(self, old: Step, new: Step, *, but: Iterable[Step] = ()) -> None:
        """Let everything that reads one step read another.

        Args:
            old: What was read.
            new: What is read instead.
            but: Steps that go on reading the old one.
        """
        kept = {id(step) for step in but}
        for step in self.steps:
            if id(step) not in kept and step is not new:
                step.inputs = [new if source is old else source for source in step.inputs]
        self.results = [new if step is old else step for step in self.results]

    def behind(self, step: Step, ops: Sequence[Op]) -> Step:
        """Put a chain behind a step: what read the step reads the last of the chain."""
        before = len(self.steps)
        last = self.chain(step, ops)
        self.redirect(step, last, but=self.steps[before:])
        return last

    def heights(self) -> dict[int, int]:
        """By `id` of a step: how many steps the longest way to it has."""
        found: dict[int, int] = {}
        for step in self._ordered():
            found[id(step)] = 1 + max((found[id(source)] for source in step.inputs), default=0)
        return found

    def first_layers(self) -> set[int]:
        """The `id` of the steps ahead of which no layer with weights stands."""
        layered: dict[int, bool] = {}
        for step in self._ordered():
            layered[id(step)] = any(
                source.op.kind in PARAMETRIC or layered[id(source)] for source in step.inputs
            )
        return {key for key, after in layered.items() if not after}

    def last_layers(self) -> set[int]:
        """The `id` of the steps behind which no layer with weights stands."""
        below: set[int] = set()
        for step in reversed(self._ordered()):
            if id(step) in below or step.op.kind in PARAMETRIC:
                below.update(id(source) for source in step.inputs)
        return {id(step) for step in self.steps} - below

    def graph(self) -> ArchitectureGraph:
        """The graph of all that the results depend on; sums of sums are one, as in a trace."""
        self._join_sums()
        steps = self._ordered()
        places = {id(step): place for place, step in enumerate(steps)}
        known: dict[Op, Op] = {}
        edges = [
            (places[id(source)], place)
            for place, step in enumerate(steps)
            for source in step.inputs
        ]
        return replace(
            self._graph,
            ops=tuple(known.setdefault(step.op, step.op) for step in steps),
            paths=tuple(step.path for step in steps),
            edges=np.array(edges, dtype=np.int32).reshape(-1, 2),
        )

    def _join_sums(self) -> None:
        """Make (a + b) + c the sum of three, where nothing else reads a + b."""
        steps = self._ordered()
        read = Counter(id(source) for step in steps for source in step.inputs)
        results = {id(step) for step in self.results}

        def joined(step: Step) -> bool:
            plain = step.op == _SUM and len(step.inputs) > 1
            return plain and read[id(step)] == 1 and id(step) not in results

        for step in steps:
            if step.op == _SUM and len(step.inputs) > 1:
                parts = [source.inputs if joined(source) else [source] for source in step.inputs]
                step.inputs = [source for part in parts for source in part]

    def _ordered(self) -> list[Step]:
        """All steps that the results depend on, sources first."""
        done: set[int] = set()
        order: list[Step] = []
        waiting = [(step, False) for step in reversed(self.results)]
        while waiting:
            step, read = waiting.pop()
            if read:
                order.append(step)
            elif id(step) not in done:
                done.add(id(step))
                waiting.append((step, True))
                waiting += [(source, False) for source in reversed(step.inputs)]
        return order


def features(step: Step) -> int | None:
    """How many channels or features a step gives, by the last step that says so."""
    while True:
        op = step.op
        if op.kind == "attention":
            heads, width = op.get("heads"), op.get("value_width")
            return heads * width if isinstance(heads, int) and isinstance(width, int) else None
        for name in _GIVEN:
            given = op.get(name)
            if isinstance(given, int) and not isinstance(given, bool):
                return given
        if not step.inputs or op.kind == "cat":
            return None
        step = step.inputs[0]


def changed(op: Op, **attributes: int | str | bool) -> Op:
    """The operation with other values of some attributes."""
    return replace(op, attributes=tuple(sorted({**dict(op.attributes), **attributes}.items())))


def side(op: Op) -> int:
    """The kernel of a convolution where it is as long in all dimensions, else 0."""
    sizes = set(str(op.get("kernel")).split("x"))
    return int(sizes.pop()) if len(sizes) == 1 and op.kind == "conv" else 0


def sized(like: Op, name: str, size: int) -> str:
    """A kernel or stride of one size, in as many dimensions as that of another operation."""
    return "x".join([str(size)] * len(str(like.get(name)).split("x")))
