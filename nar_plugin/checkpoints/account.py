"""The tensors of a file set against the parameters of a design, and what is left on both sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import sqrt

from nar_plugin.checkpoints.parameters import Shape, elements

RESIZED = 0.8  # credit for a layer that has other classes or another vocabulary
ABSENT = 0.05  # cost of a design of which the file lacks nearly all, beside its shapes
ROOM = 1.05  # times the parameters that no operation shows: what is left over is these
EXACT = 0.5  # of what a score lacks is given where the file has exactly the design's parameters

Weigh = Callable[[Shape], float]
Counts = Mapping[Shape, int]


@dataclass(frozen=True, slots=True)
class Need:
    """What a design needs of one shape: see `WeightTable`."""

    least: int
    most: int
    buffers: int = 0
    packed: int = 0


@dataclass(frozen=True)
class Match:
    """What a design explains of a file.

    Attributes:
        score: From 0 to 1: the file's weight, of that and of what is unexplained on both sides.
        explained: How many tensors of the file are.
        resized: Pairs of a shape of the file and the design's, which differ in classes or words.
        direct: By shape, tensors that the design adds or multiplies as they are: positions, tokens.
        left: By shape, tensors of the file that it lacks.
        missing: By shape, parameters of the design that the file lacks.
        exact: Whether the file has exactly as many numbers as the design, resized layers aside.
        slack: The weight of what the design may have and the file has not.
    """

    score: float
    explained: int
    resized: tuple[tuple[Shape, Shape], ...]
    direct: Counts
    left: Counts
    missing: Counts
    exact: bool
    slack: float = 0.0


@dataclass
class Account:
    """A file and a design while rule after rule (`matching.py`) explains them.

    Tensors of one shape weigh as much as the square root of their number, so that a deep stack
    leaves something for what stands there once.
    """

    have: Counts
    needs: Mapping[Shape, Need]
    weigh: Weigh
    left: Counter[Shape] = field(default_factory=Counter)
    open: Counter[Shape] = field(default_factory=Counter)
    used: Counter[Shape] = field(default_factory=Counter)
    resized: list[tuple[Shape, Shape]] = field(default_factory=list)
    explained: float = 0.0
    satisfied: float = 0.0

    def __post_init__(self) -> None:
        """Explain what both have as it is."""
        self.left.update(self.have)
        for shape, need in self.needs.items():
            if count := min(self.left[shape], need.most):
                self.explain({shape: count}, {shape: count})
            self.open[shape] = max(need.least - count, 0)
        self.drop_empty()

    def explain(self, taken: Counts, given: Counts) -> None:
        """Set tensors of the file against needs of the design."""
        for shape, count in taken.items():
            self.left[shape] -= count
            self.explained += self.of_file(shape) * count
        for shape, count in given.items():
            self.open[shape] -= count
            self.used[shape] += count
            self.satisfied += self.of_design(shape) * count

    def resize(self, ours: Shape, theirs: Shape, tied: Counts) -> None:
        """Set what is left over of one shape against what is open of another, once a copy."""
        self.resized += [(ours, theirs)] * max(self.left[ours] - tied.get(ours, 0), 1)
        self.left[ours] = self.open[theirs] = 0

    def of_file(self, shape: Shape) -> float:
        """What one tensor of the file weighs."""
        return self.weigh(shape) / sqrt(max(self.have.get(shape, 0), 1))

    def of_design(self, shape: Shape) -> float:
        """What one parameter of the design weighs."""
        need = self.needs.get(shape)
        return self.weigh(shape) / sqrt(max(need.least, self.have.get(shape, 0), 1) if need else 1)

    def drop_empty(self) -> None:
        """Forget shapes of which none is left over, or open."""
        self.left, self.open = +self.left, +self.open

    def loose(self) -> int:
        """How many numbers of the file are left over."""
        return sum(elements(shape) * count for shape, count in self.left.items())

    def result(self, params: int, tied: Counts) -> Match:
        """What is explained and what is not, on both sides."""
        own, buffers = self.sizes(tied)
        whole = sum(
            elements(shape) * (count - tied.get(shape, 0)) for shape, count in self.have.items()
        )
        beside = buffers + sum(elements(ours) - elements(theirs) for ours, theirs in self.resized)
        exact = whole == params + beside
        hidden = max(params - own, 0)
        loose = self.loose()
        alike = hidden and 1 / ROOM <= loose / hidden <= ROOM
        direct = self.left.copy() if exact or alike else self.vectors(hidden)
        left = self.left - direct
        unseen = max(hidden - loose, 0)
        absent = unseen + sum(elements(shape) * count for shape, count in self.open.items())
        cost = self.weight(self.open, self.of_design)
        for ours, theirs in self.resized:
            cost += (1 - RESIZED) * (self.of_file(ours) + self.of_design(theirs))
        if not exact:
            cost += self.weight(self.left - self.vectors(hidden), self.of_file)
            cost += self.satisfied * unseen / max(params, 1)
            cost += ABSENT * self.satisfied * min(absent / max(params, 1), 1.0)
        whole_weight = self.weight(self.have, self.of_file)
        score = whole_weight / (whole_weight + cost) if whole_weight else 0.0
        return Match(
            score=score + (EXACT * (1 - score) if exact else 0.0),
            explained=sum(self.have.values()) - sum(left.values()),
            resized=tuple(dict.fromkeys(self.resized)),
            direct=direct,
            left=left,
            missing=self.open,
            exact=exact,
            slack=round(self.slack(), 6),
        )

    def vectors(self, hidden: int) -> Counter[Shape]:
        """Vectors that are left over, if the design hides as many numbers: gains and biases."""
        found = Counter[Shape]({s: count for s, count in self.left.items() if len(s) == 1})
        return found if self.weight(found, elements) <= ROOM * hidden else Counter[Shape]()

    def part(self) -> Match:
        """The share of an adapter's layers that the design has; a small design comes first."""
        whole = self.weight(self.have, self.of_file)
        return Match(
            score=self.explained / whole if whole else 0.0,
            explained=sum(self.have.values()) - sum(self.left.values()),
            resized=tuple(self.resized),
            direct={},
            left=self.left,
            missing={},
            exact=False,
            slack=round(self.weight(self.open, self.weigh) + self.slack(), 6),
        )

    def sizes(self, tied: Counts) -> tuple[int, int]:
        """The numbers of the design's operations, and of buffers in the file."""
        own = buffers = 0
        resized = Counter(theirs for _, theirs in self.resized)
        for shape, need in self.needs.items():
            size, used = elements(shape), self.used[shape]
            learned = min(used, need.most - need.buffers)
            own += size * max(need.least, learned - tied.get(shape, 0), resized[shape])
            buffers += size * (used - learned)
        return own, buffers

    def slack(self) -> float:
        """The weight of what the design may have, and the file has not."""
        return sum(
            self.weigh(shape) * max(need.most - max(self.used[shape], need.least), 0)
            for shape, need in self.needs.items()
        )

    def weight(self, shapes: Counts, weigh: Weigh) -> float:
        """The sum of what each of these tensors weighs."""
        return sum(weigh(shape) * count for shape, count in shapes.items())
