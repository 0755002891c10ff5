"""How well one known design explains the tensors of a file, and what is left over on either side.

A file may spell a design otherwise than its graph: query, key and value in one layer or in three,
experts packed or one by one, a patch kernel as a matrix, other classes, another vocabulary. Each
rule explains what the ones before it left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import sqrt

from nar_plugin.checkpoints.compositions import best_way, by_rest, compositions, one_expert
from nar_plugin.checkpoints.parameters import Shape, elements

RESIZED = 0.8  # credit for a layer that has other classes or another vocabulary
MOST_RESIZED = 2  # of these, of as many sides: one at each end
MOST_TIED = 2  # how often such a layer occurs: words come in and go out by one matrix
LEAST_EQUAL = 64  # numbers from which on tensors of as many numbers are one in another form
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


def match(
    have: Counts,
    tied: Counts,
    needs: Mapping[Shape, Need],
    params: int,
    weigh: Weigh,
    adapter: bool = False,
) -> Match:
    """Explain a file's tensors by a design.

    Args:
        have: By shape, how many tensors the file has.
        tied: By shape, how many of these share the numbers of another.
        needs: By shape, what the design's operations need.
        params: How many parameters the design has.
        weigh: How much a tensor of a shape tells.
        adapter: Whether the file has a few layers only, so that nothing is missing.
    """
    both = _BothSides(have, needs, weigh)
    both.unpack_experts()
    both.join_layers()
    both.split_layers()
    both.reshape()
    if adapter:
        return both.part()
    both.resize(params, tied)
    return both.result(params, tied)


@dataclass
class _BothSides:
    """A file and a design while rule after rule explains them.

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
            count = min(self.left[shape], need.most)
            self.open[shape] = max(need.least, count)
            self.explain({shape: count}, {shape: count})
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

    def of_file(self, shape: Shape) -> float:
        """What one tensor of the file weighs."""
        return self.weigh(shape) / sqrt(max(self.have.get(shape, 0), 1))

    def of_design(self, shape: Shape) -> float:
        """What one parameter of the design weighs."""
        need = self.needs.get(shape)
        return self.weigh(shape) / sqrt(max(need.least, self.have.get(shape, 0), 1) if need else 1)

    def drop_empty(self) -> None:
        self.left, self.open = +self.left, +self.open

    def unpack_experts(self) -> None:
        """Explain packed matrices of experts by one for each, or by one for each gate and value."""
        parts = by_rest(self.left)
        for shape in list(self.open):
            packed = self.needs[shape].packed
            one = one_expert(shape, packed)
            if one is None:
                continue
            ways = [(one,), *compositions(one, parts)]
            if found := best_way(ways, self.left, self.open[shape], packed):
                pieces, count = found
                self.explain({p: n * packed * count for p, n in pieces.items()}, {shape: count})
        self.drop_empty()

    def join_layers(self) -> None:
        """Explain one layer of the design by the two or three of the file that are as wide.

        One of them at least must be left over. The others may have explained a layer of their own
        shape, which is missing then: a file that lacks one matrix lacks that one alone.
        """
        parts = by_rest(self.left)
        for shape in sorted(self.open, key=elements, reverse=True):
            while found := best_way(compositions(shape, parts), self.left, self.open[shape]):
                pieces, count = found
                self.explain({p: n * count for p, n in pieces.items()}, {shape: count})
            had = Counter({piece: self.left[piece] + self.used[piece] for piece in self.have})
            ways = [
                way for way in compositions(shape, parts) if any(self.left[piece] for piece in way)
            ]
            if found := best_way(ways, had, min(self.open[shape], 1)):
                pieces, _ = found
                freed = {piece: max(n - self.left[piece], 0) for piece, n in pieces.items()}
                self.explain(_negative(freed), _negative(freed))
                self.explain(pieces, {shape: 1})
            if len(shape) == 1 and shape[0] % 3 == 0:  # a bias that the key alone lacks
                third = (shape[0] // 3,)
                if count := min(self.left[third] // 2, self.open[shape]):
                    self.explain({third: 2 * count}, {shape: count})
        self.drop_empty()

    def split_layers(self) -> None:
        """Explain one layer of the file by the two or three of the design that are as wide.

        One of them at least must be open. The others may have been explained by tensors of the
        file that are left over then.
        """
        parts = by_rest(self.needs)
        for shape in sorted(self.left, key=elements, reverse=True):
            had = Counter({piece: self.open[piece] + self.used[piece] for piece in self.needs})
            ways = [
                way for way in compositions(shape, parts) if any(self.open[piece] for piece in way)
            ]
            if found := best_way(ways, had, self.left[shape]):
                pieces, most = found
                opened = max(self.open[piece] // n for piece, n in pieces.items())
                count = min(most, opened)
                if not count:
                    continue
                freed = {p: max(n * count - self.open[p], 0) for p, n in pieces.items()}
                self.explain(_negative(freed), _negative(freed))
                self.explain({shape: count}, {p: n * count for p, n in pieces.items()})
        self.drop_empty()

    def reshape(self) -> None:
        """Explain a tensor by one of as many numbers, such as a kernel of patches by a matrix."""
        by_size: dict[int, list[Shape]] = {}
        for shape in self.open:
            by_size.setdefault(elements(shape), []).append(shape)
        for shape in list(self.left):
            for other in by_size.get(elements(shape), ()):
                count = min(self.left[shape], self.open[other])
                if count > 0 and elements(shape) > LEAST_EQUAL:
                    self.explain({shape: count}, {other: count})
        self.drop_empty()

    def resize(self, params: int, tied: Counts) -> None:
        """Explain a layer of classes or words by one that differs in a single side.

        Such a layer occurs once, or twice if its weights are tied. Of several, the one after which
        the file has as much left over as the design has parameters that no operation shows: a table
        of positions may differ from a head in one side as well.
        """
        hidden = params - self.sizes(tied)[1]
        for shape in sorted(self.open, key=elements, reverse=True):
            alike = [theirs for _, theirs in self.resized if len(theirs) == len(shape)]
            seldom = self.open[shape] == 1 and self.needs[shape].least <= MOST_TIED
            if not seldom or len(alike) >= MOST_RESIZED:
                continue
            others = [o for o, n in self.left.items() if n == 1 and _differ_in_one(shape, o)]
            if others:
                loose = self.loose() - hidden
                other = min(others, key=lambda each: abs(loose - elements(each)))
                self.resized.append((other, shape))
                self.left[other] = self.open[shape] = 0
        self.drop_empty()
        self.exchange(hidden)

    def exchange(self, hidden: int) -> None:
        """Resize a layer that a table took, and leave the table over.

        A head of two classes has the shape of a table of two kinds of tokens, which no operation
        may show. In a file with other classes the table looks like the head.
        """
        for other in [shape for shape, count in self.left.items() if count == 1]:
            room = hidden - self.loose() + elements(other)  # for what would be left over
            taken = [
                shape
                for shape, count in self.used.items()
                if count == self.needs[shape].least == 1
                and elements(shape) <= room
                and _differ_in_one(shape, other)
            ]
            if taken:
                shape = max(taken, key=elements)
                self.explain({shape: -1}, {shape: -1})
                self.resized.append((other, shape))
                self.left[other] = self.open[shape] = 0
        self.drop_empty()

    def loose(self) -> int:
        """How many numbers of the file are left over."""
        return sum(elements(shape) * count for shape, count in self.left.items())

    def result(self, params: int, tied: Counts) -> Match:
        """What is explained and what is not, on both sides."""
        whole, own, buffers = self.sizes(tied)
        beside = buffers + sum(elements(ours) - elements(theirs) for ours, theirs in self.resized)
        exact = whole == params + beside
        loose, hidden = self.loose(), max(params - own, 0)
        unseen = max(hidden - loose, 0)
        absent = unseen + sum(elements(shape) * count for shape, count in self.open.items())
        cost = self.weight(self.open, self.of_design)
        for ours, theirs in self.resized:
            cost += (1 - RESIZED) * (self.of_file(ours) + self.of_design(theirs))
        if not exact:
            cost += self.weight(self.left, self.of_file)
            cost += self.satisfied * unseen / max(params, 1)
            cost += ABSENT * self.satisfied * min(absent / max(params, 1), 1.0)
        whole_weight = self.weight(self.have, self.of_file)
        score = whole_weight / (whole_weight + cost) if whole_weight else 0.0
        alike = hidden and 1 / ROOM <= loose / hidden <= ROOM
        direct = self.left if exact or alike else Counter[Shape]()
        left = self.left - direct
        return Match(
            score=score + (EXACT * (1 - score) if exact else 0.0),
            explained=sum(self.have.values()) - sum(left.values()),
            resized=tuple(self.resized),
            direct=direct,
            left=left,
            missing=self.open,
            exact=exact,
            slack=round(self.slack(), 6),
        )

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

    def sizes(self, tied: Counts) -> tuple[int, int, int]:
        """The numbers of the file, of the design's operations, and of buffers in the file."""
        whole = own = buffers = 0
        for shape, count in self.have.items():
            whole += elements(shape) * (count - tied.get(shape, 0))
        for shape, need in self.needs.items():
            learned = min(self.used[shape], need.most - need.buffers)
            own += elements(shape) * max(need.least, learned - tied.get(shape, 0))
            buffers += elements(shape) * (self.used[shape] - learned)
        return whole, own, buffers

    def slack(self) -> float:
        """The weight of what the design may have, and the file has not."""
        return sum(
            self.weigh(shape) * max(need.most - max(self.used[shape], need.least), 0)
            for shape, need in self.needs.items()
        )

    def weight(self, shapes: Counts, weigh: Weigh) -> float:
        return sum(weigh(shape) * count for shape, count in shapes.items())


def _negative(counts: Counts) -> dict[Shape, int]:
    return {shape: -count for shape, count in counts.items() if count}


def _differ_in_one(a: Shape, b: Shape) -> bool:
    """Whether two shapes of as many sides differ in exactly one of them."""
    return len(a) == len(b) and sum((Counter(a) - Counter(b)).values()) == 1
