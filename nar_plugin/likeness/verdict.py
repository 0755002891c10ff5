"""What the alignment of two designs amounts to, by stated rules (docs/explanations.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nar_plugin.likeness.alignment import Alignment, Lone, Pair, Part
from nar_plugin.likeness.blocks import MOTIF
from nar_plugin.likeness.body import Body, body_of
from nar_plugin.likeness.differences import (
    DETAIL,
    INSERTED,
    ORDER,
    REMOVED,
    REPLACED,
    STRUCTURAL,
    Difference,
)

SAME, BACKBONE, NUMBERS = "same design", "same backbone", "same blocks, other numbers"
PART, INSERTION, OMISSION = "one kind of part replaced", "with an insertion", "with an omission"
ORDERED, SOME, CONTAINS = (
    "same parts, another order",
    "all but some blocks",
    "one contains the other",
)
RELATIVES, DISTANT, NOTHING = "relatives", "distant relatives", "nothing near"

HALF = 0.5  # of the blocks, or of the operations
FEW = 0.1  # of the operations: what corresponds below it may do so by chance
CLOSE, EQUAL = 0.3, 0.8  # mean likeness of blocks from which on they are relatives, the same
ALIKE = 0.5  # likeness of whole designs from which on something is near
TOLD = 4  # differences that a sentence names
FEW_STACKS = 2  # that are named


@dataclass(frozen=True)
class Verdict:
    """What two designs are to each other.

    Attributes:
        kind: One of the rules of docs/explanations.md, such as `with an insertion`.
        text: A sentence.
    """

    kind: str
    text: str


def verdict_of(alignment: Alignment, likeness: float = 0.0) -> Verdict:
    """Say what two designs are to each other: the first rule that holds.

    Args:
        alignment: Of the two.
        likeness: Of the whole designs, which may be alike though no blocks are.
    """
    one, other = alignment.a.graph, alignment.b.graph
    if one.fingerprint == other.fingerprint:
        return Verdict(SAME, "The same architecture.")
    if one.design == other.design:
        return Verdict(SAME, "The same design; classifier or vocabulary differ in size.")
    body = body_of(alignment)
    if not body.pairs or body.coverage < FEW:
        near = "Nothing near: no" if likeness < ALIKE else "Alike in single operations alone: no"
        rest = "block of one corresponds to a block of the other, ends and single layers aside."
        return Verdict(NOTHING, f"{near} {rest}")
    return _of_parts(body) if body.lone else _of_whole(body)


def _of_whole(body: Body) -> Verdict:
    """Where every block has a partner, or is more of the same."""
    structure = {each: n for each, n in body.changes.items() if each.sort in STRUCTURAL}
    numbers, details = _numbers(body), _texts(_of_sort(body, {DETAIL}))
    but = f", but for a detail ({details[0]})" if details else ""
    if not structure and not numbers:
        return Verdict(BACKBONE, f"The same backbone{but}{_ends(body)}.")
    if not structure:
        return Verdict(NUMBERS, f"The same blocks, in other numbers: {_listed(numbers)}{but}.")
    also = f". Other numbers too: {_listed(numbers)}" if numbers else ""
    texts, sorts = _texts(structure), {each.sort for each in structure}
    if body.touched <= body.matched * HALF:
        same, told = body.matched - body.touched, _listed(texts)
        differ = f"{body.first_touched} differs" if body.touched == 1 else f"{body.touched} differ"
        return Verdict(
            SOME, f"{same} of {body.matched} blocks are the same, {differ}: {told}{also}."
        )
    for sort, kind, text in (
        (REPLACED, PART, "The same design with one kind of part replaced: "),
        (ORDER, ORDERED, "The same parts in another order: "),
        (INSERTED, INSERTION, "The same design with "),
        (REMOVED, OMISSION, "The same design "),
    ):
        if sorts == {sort} and (len(texts) == 1 or sort in (INSERTED, REMOVED)):
            return Verdict(kind, f"{text}{_and(texts)}{also}.")
    return Verdict(
        RELATIVES,
        f"Relatives: every block{_but_ends(body)} has a partner. "
        f"Differences: {_listed(texts)}{also}.",
    )


def _of_parts(body: Body) -> Verdict:
    """Where some blocks have no partner."""
    one, other = body.counts
    structure = _of_sort(body, STRUCTURAL)
    alone = {each.second for each in body.lone}
    if not structure and body.likeness >= EQUAL:
        more = ", ".join(_kinds(each.part) for each in body.lone[:TOLD])
        if len(alone) == 1:
            has, lacks = ("second", "first") if alone == {True} else ("first", "second")
            return Verdict(
                CONTAINS, f"The {has} contains the blocks of the {lacks}, and besides: {more}."
            )
        if body.coverage >= HALF:
            return Verdict(SOME, f"{body.matched} blocks are the same; without a partner: {more}.")
    near = body.coverage >= HALF and body.likeness >= CLOSE
    kind = RELATIVES if near else DISTANT
    names = _listed(list(dict.fromkeys(filter(None, map(_names, body.pairs)))))
    names = f" ({names})" if names else ""
    correspond = "1 block corresponds" if body.matched == 1 else f"{body.matched} blocks correspond"
    told = f". Differences of these: {_listed(_texts(structure))}" if structure else ""
    return Verdict(
        kind,
        f"{_kin(kind)}: {correspond}{names}, of {one} in the first and "
        f"{other} in the second{told}.",
    )


def _kin(kind: str) -> str:
    return kind[0].upper() + kind[1:]


def _names(pair: Pair) -> str:
    first = pair.a.blocks[0], pair.b.blocks[0]
    return " and ".join(dict.fromkeys(block.label for block in first if block.named))


def _numbers(body: Body) -> list[str]:
    """The numbers that differ, how many blocks first; widths that vary are told as such."""
    changes = {
        each: n for each, n in body.changes.items() if each.sort not in {*STRUCTURAL, DETAIL}
    }
    texts = _texts(changes)
    widths = [text for text in texts if "as wide" in text or text.startswith("inner width")]
    if len(widths) > 2:
        texts = [text for text in texts if text not in widths] + ["other widths"]
    return _depths(body) + texts


def _depths(body: Body) -> list[str]:
    """How many blocks there are; where, if that differs in one stack or two."""
    stacks = [pair for pair in body.pairs if len(pair.a) != len(pair.b)]
    if 0 < len(stacks) <= FEW_STACKS and not body.lone:
        return [
            f"{len(pair.b)} instead of {len(pair.a)} blocks in {_stack(pair)}" for pair in stacks
        ]
    one, other = body.counts
    return [f"{other} instead of {one} blocks"] if one != other else []


def _stack(pair: Pair) -> str:
    """The module that holds the blocks, or what they are where none does."""
    block = pair.a.blocks[0]
    return block.label if block.stack.startswith(MOTIF) else block.stack


def _of_sort(body: Body, sorts: Iterable[str]) -> dict[Difference, int]:
    return {each: n for each, n in body.changes.items() if each.sort in sorts}


def _texts(changes: dict[Difference, int]) -> list[str]:
    """Most frequent first; with the place where it is the same everywhere."""
    counts: Counter[str] = Counter()
    places: dict[str, set[str]] = {}
    for each, number in changes.items():
        counts[each.text] += number
        places.setdefault(each.text, set()).add(each.place)
    return [
        f"{text} {next(iter(places[text]))}".strip() if len(places[text]) == 1 else text
        for text, _ in counts.most_common()
    ]


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - TOLD
    return ", ".join(texts[:TOLD]) + (f" and {more} more" if more > 0 else "")


def _and(texts: Sequence[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last


def _but_ends(body: Body) -> str:
    """Such as ` but the head`: a stem or a head without a partner."""
    alone = [f"the {name}" for name, row in body.ends if isinstance(row, Lone)]
    return f" but {_and(list(dict.fromkeys(alone)))}" if alone else ""


def _ends(body: Body) -> str:
    """How stems and heads differ."""
    found = []
    for name, row in body.ends:
        if isinstance(row, Lone):
            found.append(f"{'with' if row.second else 'without'} a {name} ({_kinds(row.part)})")
        elif row.changes:
            told = [
                f"with {each}" if each.sort == INSERTED else str(each) for each, _ in row.changes
            ]
            found.append(f"another {name} ({', '.join(told)})")
    return f", {_and(found)}" if found else ""


def _kinds(part: Part) -> str:
    return f"{part.label} \N{MULTIPLICATION SIGN}{len(part)}" if part.stacked else part.label
