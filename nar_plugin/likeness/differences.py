"""What differs between two blocks that correspond, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from nar_plugin.encoder.words import ACTIVATIONS, NORMS
from nar_plugin.likeness.idioms import ROUTER, name_of
from nar_plugin.likeness.matching import in_order
from nar_plugin.likeness.numbers import GELUS, changed_numbers
from nar_plugin.likeness.wiring import Wired
from nar_plugin.tracing.graph import Op

NUMBER, WIRING, DETAIL = "number", "wiring", "detail"
REPLACED, INSERTED, REMOVED, ORDER = "replaced", "inserted", "removed", "order"
STRUCTURAL = frozenset({REPLACED, INSERTED, REMOVED, ORDER})  # the others are more or less of one
_SORTS = (ACTIVATIONS, NORMS, frozenset({"max_pool", "avg_pool", "mean", "max"}))
_STYLES = {
    "before-act": "norm and activation before the convolutions (pre-activation)",
    "before": "norm at the start of each branch (pre-norm)",
    "after-sum": "norm after each sum (post-norm)",
    "after-branch": "norm at the end of each branch",
    "after-conv": "norm after each convolution",
}


@dataclass(frozen=True)
class Difference:
    """One thing in which the block of the second design differs from that of the first.

    Attributes:
        sort: `number`, `wiring`, `detail`, `replaced`, `inserted`, `removed` or `order`.
        text: Such as `batch_norm -> group_norm` or `8 instead of 12 heads`.
        place: Where in the block, such as `after the third convolution`; empty for all of it.
    """

    sort: str
    text: str
    place: str = ""

    def __str__(self) -> str:
        """The text with its place."""
        return f"{self.text} {self.place}".strip()


def differences(a: Wired, b: Wired) -> tuple[Difference, ...]:
    """What differs from a block to another, seen from the first.

    Operations are matched in order, the most equal ones first; what has no partner was inserted
    or removed, or was replaced where both have something in one place.
    """
    worth = _worth(a, b)
    if _name(a) > _name(b):  # equal choices are made alike from either side
        pairs = [(row, column) for column, row in in_order(worth.T)]
    else:
        pairs = in_order(worth)
    kept = (
        frozenset(a.places[row] for row, _ in pairs),
        frozenset(b.places[column] for _, column in pairs),
    )
    found: list[Difference] = []
    moved = _moved(a, b, pairs)
    styles = a.norm_style(), b.norm_style()
    if styles[0] != styles[1] and all(styles):
        found.append(Difference(ORDER, f"{_STYLES[styles[1]]} instead of {_STYLES[styles[0]]}"))
        moved = frozenset(NORMS | ACTIVATIONS)
    elif moved:
        found.append(Difference(ORDER, f"{' and '.join(sorted(moved))} in another place"))
    matched = [(a.places[row], b.places[column]) for row, column in pairs]
    replaced = _replaced([(a.op(one), b.op(other)) for one, other in matched])
    experts = _experts(a, b, matched)
    found += [*replaced, *experts]
    removed: dict[str, list[str]] = {}
    inserted: dict[str, list[str]] = {}
    for gone, new in _gaps(pairs, len(a.places), len(b.places)):
        lost = _names(a, [a.places[n] for n in gone], kept[0], moved)
        gained = _names(b, [b.places[n] for n in new], kept[1], moved)
        if experts:
            lost, gained = ([each for each in part if each[0] != ROUTER] for part in (lost, gained))
        if lost and gained:
            before, now = (
                " and ".join(dict.fromkeys(each[0] for each in part)) for part in (lost, gained)
            )
            found.append(Difference(REPLACED, f"{before} -> {now}"))
            continue
        for told, parts in ((removed, lost), (inserted, gained)):
            for name, place in parts:
                told.setdefault(name, []).append(place)
    found += [Difference(REMOVED, f"without {name}", _at(at)) for name, at in removed.items()]
    found += [Difference(INSERTED, name, _at(at)) for name, at in inserted.items()]
    found += [
        Difference(DETAIL if text in GELUS else NUMBER, text)
        for text in changed_numbers(a, b, matched)
    ]
    found += _joins(a, b, matched)
    return tuple(dict.fromkeys(found))


def _names(
    block: Wired, places: Sequence[int], kept: frozenset[int], moved: frozenset[str]
) -> list[tuple[str, str]]:
    """What was inserted or removed in one place: its name, and after what it stands."""
    found = []
    for part in _connected(block, places):
        if {block.op(place).kind for place in part} <= moved:
            continue
        sources = block.wiring.sources[part[0]]
        found.append((name_of(block, part), block.after(sources[0], kept) if sources else ""))
    return found


def _at(places: Sequence[str]) -> str:
    """Such as `after the second and the fourth linear layer`."""
    told = [place for place in dict.fromkeys(places) if place]
    if not told:
        return ""
    first, *others = told
    return " and ".join([first, *(place.removeprefix("after ") for place in others)])


def _experts(a: Wired, b: Wired, pairs: Sequence[tuple[int, int]]) -> list[Difference]:
    """A layer that became many, of which a router chooses, or the reverse."""
    for one, other in pairs:
        before, now = a.op(one).get("experts"), b.op(other).get("experts")
        if before != now and not (before and now):
            text = f"a mixture of {before or now} experts with a router"
            return [Difference(REPLACED, f"{text} -> the MLP" if before else f"the MLP -> {text}")]
    return []


def _joins(a: Wired, b: Wired, pairs: Sequence[tuple[int, int]]) -> list[Difference]:
    """Concatenations and sums of more values, or of fewer."""
    found = []
    for one, other in pairs:
        kind = b.op(other).kind
        before, now = len(a.wiring.sources[one]), len(b.wiring.sources[other])
        if kind == a.op(one).kind and kind in ("cat", "add") and before != now:
            noun = "concatenation" if kind == "cat" else "sum"
            found.append(
                Difference(WIRING, f"{noun} of {'more' if now > before else 'fewer'} values")
            )
    return found


def _name(block: Wired) -> list[str]:
    return [str(block.op(place)) for place in block.places]


def _worth(a: Wired, b: Wired) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    known: dict[tuple[int, int], float] = {}
    worth = np.zeros((len(a.places), len(b.places)))
    around = [_around(a), _around(b)]
    for row, one in enumerate(a.places):
        for column, other in enumerate(b.places):
            first, second = a.op(one), b.op(other)
            key = id(first), id(second)
            if key not in known:
                known[key] = _alike(first, second)
            if known[key]:
                near = sum(x == y for x, y in zip(around[0][row], around[1][column], strict=True))
                worth[row, column] = known[key] + 0.1 * near
    return worth


def _around(block: Wired) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The kinds of what each operation reads, and of what reads it."""
    wiring = block.wiring
    return [
        (
            tuple(sorted(map(wiring.kind, wiring.sources[place]))),
            tuple(sorted(map(wiring.kind, wiring.readers[place]))),
        )
        for place in block.places
    ]


def _alike(one: Op, other: Op) -> float:
    """How much of two operations is the same; 0 where they do different things."""
    if one.kind in NORMS | ACTIVATIONS:  # they follow their layer wherever it goes
        return 1.6 if one == other else 1.4 if one.kind == other.kind else _of_one_sort(one, other)
    if one == other:
        return 4.0
    if one.kind == other.kind:
        return 3.0 if one.get("kernel") == other.get("kernel") else 2.0
    return _of_one_sort(one, other)


def _of_one_sort(one: Op, other: Op) -> float:
    return 1.0 if any(one.kind in sort and other.kind in sort for sort in _SORTS) else 0.0


def _replaced(pairs: Sequence[tuple[Op, Op]]) -> Iterator[Difference]:
    """Operations that another of its sort stands for."""
    found = Counter((one.kind, other.kind) for one, other in pairs if one.kind != other.kind)
    for one, other in found:
        yield Difference(REPLACED, f"{one} -> {other}")


def _moved(a: Wired, b: Wired, pairs: Sequence[tuple[int, int]]) -> frozenset[str]:
    """Kinds that both blocks have equally often: what has no partner of them only moved."""
    rows, columns = {row for row, _ in pairs}, {column for _, column in pairs}
    gone = Counter(a.op(p).kind for n, p in enumerate(a.places) if n not in rows)
    new = Counter(b.op(p).kind for n, p in enumerate(b.places) if n not in columns)
    return frozenset(
        kind for kind in gone if gone[kind] == new[kind] and kind in NORMS | ACTIVATIONS
    )


def _gaps(
    pairs: Sequence[tuple[int, int]], rows: int, columns: int
) -> Iterator[tuple[range, range]]:
    """What lies between one pair and the next on either side."""
    ends = [(-1, -1), *pairs, (rows, columns)]
    for (row, column), (next_row, next_column) in pairwise(ends):
        yield range(row + 1, next_row), range(column + 1, next_column)


def _connected(block: Wired, places: Sequence[int]) -> list[list[int]]:
    """Operations in groups that read one another, or read the same and are of one kind."""
    groups: list[list[int]] = []
    for place in places:
        sources = set(block.wiring.sources[place])
        joined = [
            group
            for group in groups
            if sources & set(group)
            or any(
                block.op(other).kind == block.op(place).kind
                and block.wiring.sources[other] == block.wiring.sources[place]
                for other in group
            )
        ]
        merged = sorted([place, *(other for group in joined for other in group)])
        groups = [group for group in groups if group not in joined] + [merged]
    return sorted(groups)
