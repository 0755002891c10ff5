"""Explanation: why two designs are as alike as they are, the alignment read out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from nar_plugin.encoder.sizes import weights
from nar_plugin.likeness.alignment import Lone, Pair, Part, align
from nar_plugin.likeness.differences import INSERTED, Difference
from nar_plugin.likeness.idioms import short
from nar_plugin.likeness.verdict import Verdict, verdict_of
from nar_plugin.tracing.work import flops_of_operations
from nar_plugin.visible_text import clean, counted, times

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nar_plugin.mining import MacroGraph


@dataclass(frozen=True)
class ExplainedPart:
    """Neighbouring blocks of one of the designs.

    Attributes:
        name: Their modules and what they are, such as `layer2.0-3 Bottleneck x4`.
        paths: The module of each block; of what is no module the first and the last.
        label: Class of the blocks, or their operations.
        stacked: Whether they are layers of a stack.
        count: How many blocks.
        ops: Operations in them.
        share: The part of the design's mass that they have, from 0 to 1.
        weights: Numbers in the matrices and kernels of their layers.
        made_of: The operations of the first block, such as `depthwise conv 7x7`.
        flops: Floating point operations of one sample; None for a design of the index, whose
            FLOPs are known of the whole alone.
    """

    name: str
    paths: tuple[str, ...]
    label: str
    stacked: bool
    count: int
    ops: int
    share: float
    weights: int
    made_of: tuple[str, ...]
    flops: int | None = None


@dataclass(frozen=True)
class ExplainedDifference:
    """One thing that differs, from the first design to the second.

    Attributes:
        sort: `replaced`, `inserted`, `removed`, `order`, `number`, `wiring` or `detail`.
        text: Such as `a squeeze-and-excitation gate after the third convolution`.
        count: In how many of the blocks that correspond.
        of: How many correspond.
    """

    sort: str
    text: str
    count: int
    of: int


@dataclass(frozen=True)
class ExplainedRow:
    """A part of one design beside its partner in the other.

    Attributes:
        a: Part of the first; None where the second has something more.
        b: Part of the second; None where the first has something more.
        likeness: How alike their blocks are, from 0 to 1; None without a partner.
        moved: The mass that both have in common; None without a partner.
        matched: How many blocks correspond one to one.
        differences: What differs in blocks that correspond.
    """

    a: ExplainedPart | None
    b: ExplainedPart | None
    likeness: float | None
    moved: float | None
    matched: int
    differences: tuple[ExplainedDifference, ...]


@dataclass(frozen=True, repr=False)
class Explanation:
    """What two designs have in common and what not, part by part.

    Attributes:
        verdict: What they are to each other, by the rules of docs/explanations.md.
        likeness: Of the two, from 0 to 1.
        overlap: The mass that both have in common: what of the likeness is counted.
        a: Name of the first.
        b: Name of the second.
        rows: Block by block along the depth.
        families: How many known families have the very design of the second; 0 if unknown.
    """

    verdict: Verdict
    likeness: float
    overlap: float
    a: str
    b: str
    rows: tuple[ExplainedRow, ...]
    families: int = 0

    @property
    def limits(self) -> str:
        """What it does not say."""
        shared = (
            f"; {counted(self.families, 'known family').replace('familys', 'families')} "
            f"{'has' if self.families == 1 else 'share'} it"
            if self.families
            else ""
        )
        return "This is about design, not weights: an equal design proves no copying" + shared + "."

    def __repr__(self) -> str:
        """The explanation as plain text, as wide as the terminal."""
        from nar_plugin.report.terminal import plain_text

        return plain_text(self)

    def __rich__(self) -> RenderableType:
        """The explanation as rich prints it."""
        from nar_plugin.report.explanation_table import explanation_table

        return explanation_table(self)

    def _repr_html_(self) -> str:
        """The explanation as a notebook shows it."""
        from nar_plugin.report.explanation_html import explanation_html

        return explanation_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values under the field names, as `nar compare --json` prints them."""
        return {
            "verdict": asdict(self.verdict),
            "likeness": self.likeness,
            "overlap": self.overlap,
            "a": self.a,
            "b": self.b,
            "rows": [_listed(asdict(row)) for row in self.rows],
            "families": self.families,
            "limits": self.limits,
        }


def explain(
    a: MacroGraph, b: MacroGraph, likeness: float, names: tuple[str, str], families: int = 0
) -> Explanation:
    """Explain how alike two designs are.

    Args:
        a: The first design.
        b: The second.
        likeness: Of the two (`nar_plugin.likeness`).
        names: What they are called.
        families: How many known families have the design of the second.
    """
    alignment = align(a, b)
    one, other = (_Design(macro, flops_of_operations(macro.graph)) for macro in (a, b))
    rows = tuple(_row(row, one, other) for row in alignment.rows)
    return Explanation(
        verdict_of(alignment, likeness),
        likeness,
        alignment.overlap,
        names[0],
        names[1],
        rows,
        families,
    )


class _Design(NamedTuple):
    """One of the two, and the FLOPs of its operations where they are known."""

    macro: MacroGraph
    flops: list[float] | None


def _row(row: Pair | Lone, a: _Design, b: _Design) -> ExplainedRow:
    if isinstance(row, Lone):
        part = _part(row.part, b if row.second else a)
        one, other = (None, part) if row.second else (part, None)
        return ExplainedRow(one, other, None, None, 0, ())
    told = tuple(_difference(each, count, row.matched) for each, count in row.changes)
    left, right = _part(row.a, a), _part(row.b, b)
    return ExplainedRow(left, right, row.likeness, row.moved, row.matched, told)


def _difference(difference: Difference, count: int, of: int) -> ExplainedDifference:
    text = f"with {difference}" if difference.sort == INSERTED else str(difference)
    return ExplainedDifference(difference.sort, text, count, of)


def _part(part: Part, design: _Design) -> ExplainedPart:
    ops, work = design.macro.graph.ops, design.flops
    places = [place for block in part.blocks for place in block.places.tolist()]
    numbers = sum(weights(ops[place]) for place in places)
    flops = round(sum(work[place] for place in places)) if work else None
    paths = [block.path for block in part.blocks]
    if not part.stacked:
        paths = _of_rest(paths[0], part.blocks[-1].last)
    label = clean(part.label if part.blocks[0].named else f"({part.label})")
    name = f"{_range([clean(path) for path in paths], part.stacked)} {label}".strip()
    name += f" {times(len(part))}" if part.stacked and len(part) > 1 else ""
    kinds = tuple(short(ops[place]) for place in part.blocks[0].places.tolist())
    return ExplainedPart(
        name,
        tuple(paths),
        label,
        part.stacked,
        len(part),
        part.ops,
        part.share,
        numbers,
        kinds,
        flops,
    )


def _of_rest(first: str, last: str) -> list[str]:
    """The module that holds all of a rest, or the first and the last one in it."""
    both = zip(first.split("."), last.split("."), strict=False)
    common = ".".join(name for name, _ in takewhile(lambda names: names[0] == names[1], both))
    return [common] if common or first == last else [first, last]


def _range(paths: Sequence[str], stacked: bool) -> str:
    """Such as `layer2.0-3` or `conv1 … maxpool`."""
    first, last = paths[0], paths[-1]
    if first == last:
        return first
    if not stacked:
        return f"{first} … {last}"
    stack, _, child = last.rpartition(".")
    if child.isdecimal() and first.rpartition(".")[0] == stack:
        return f"{first}\N{EN DASH}{child}"
    return f"{first} … {child}"


def _listed(value: dict[str, Any]) -> dict[str, Any]:
    """Tuples as lists, as JSON has them."""
    value["differences"] = list(value["differences"])
    for side in ("a", "b"):
        if value[side]:
            value[side] |= {name: list(value[side][name]) for name in ("paths", "made_of")}
    return value
