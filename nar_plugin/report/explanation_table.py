"""The terminal form of an explanation: verdict, parts side by side, differences in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from nar_plugin.report.table import add_numbers, open_table
from nar_plugin.visible_text import clean, flops_text, params_text

if TYPE_CHECKING:
    from nar_plugin.report.explanation import ExplainedPart, ExplainedRow, Explanation

NOTHING = "\N{EM DASH}"
MADE_OF = 12  # operations of a block that are named
SHOWN_PARTS = 3  # places that are named of a difference


def explanation_table(explanation: Explanation) -> RenderableType:
    """Verdict, how much corresponds, the parts, what differs, and what this does not say."""
    lines: list[RenderableType] = [
        Text(
            f"likeness {explanation.likeness:.3f}: {clean(explanation.verdict.text)}", style="bold"
        ),
        Text(common_text(explanation)),
        Text(),
        _parts(explanation),
    ]
    if told := differences_text(explanation):
        lines += [Text(), Text("From the first to the second:", style="bold")]
        lines += [Text(f"  {clean(text)}") for text in told]
    for heading, alone in zip(("first", "second"), alone_texts(explanation), strict=True):
        if alone:
            lines += [Text(), Text(f"Only in the {heading}:", style="bold")]
            lines += [Text(f"  {clean(text)}") for text in alone]
    return Group(*lines, Text(), Text(explanation.limits, style="dim"))


def common_text(explanation: Explanation) -> str:
    """How much of both corresponds, in a sentence."""
    return (
        f"{explanation.overlap:.0%} of what is counted is in both: operations with what stands "
        "around them."
    )


def differences_text(explanation: Explanation) -> list[str]:
    """What differs, each with the number of blocks and where they are."""
    counts: Counter[str] = Counter()
    places: dict[str, list[str]] = {}
    for row in explanation.rows:
        for each in row.differences:
            counts[each.text] += each.count
            places.setdefault(each.text, []).append(row.a.name.split(" ")[0] if row.a else "")
    whole = sum(row.matched for row in explanation.rows if row.a and row.a.stacked)
    return [
        f"{text}: in all {whole} blocks"
        if 1 < counts[text] == whole
        else _line(text, counts[text], places[text])
        for text in counts
    ]


def alone_texts(explanation: Explanation) -> tuple[list[str], list[str]]:
    """What has no partner on either side, each sort of block once, with what it is made of."""
    told: tuple[dict[str, int], dict[str, int]] = ({}, {})
    made_of: dict[str, str] = {}
    for row in explanation.rows:
        if (part := row.b if row.a is None else row.a if row.b is None else None) is None:
            continue
        side = told[row.a is None]
        side[part.label] = side.get(part.label, 0) + part.count
        made_of.setdefault(part.label, ", ".join(part.made_of[:MADE_OF]))
    first, second = (
        [
            label.strip("()") if label.startswith("(") else f"{count} {label}: {made_of[label]}"
            for label, count in side.items()
        ]
        for side in told
    )
    return first, second


def _line(text: str, count: int, places: list[str]) -> str:
    where = ", ".join(places[:SHOWN_PARTS])
    more = len(places) - SHOWN_PARTS
    where += f" and {more} more" if more > 0 else ""
    often = f"in {count} blocks" if count > 1 else "in one block"
    where = f"one of {where}" if count == 1 and "\N{EN DASH}" in where else where
    return f"{text}: {often} ({where})"


def _parts(explanation: Explanation) -> Table:
    table = open_table(gap=1)
    table.add_column(clean(explanation.a), overflow="fold", ratio=1)
    table.add_column(clean(explanation.b), overflow="fold", ratio=1)
    add_numbers(table, *number_headings(explanation))
    for row in explanation.rows:
        names = (Text(part.name if part else NOTHING) for part in (row.a, row.b))
        table.add_row(*names, *number_texts(row, explanation))
    return table


def number_headings(explanation: Explanation) -> tuple[str, ...]:
    """What is counted of the parts; FLOPs of those designs of which they are known."""
    first, second = _tell_flops(explanation)
    flops = {(True, True): "FLOPs", (True, False): "FLOPs, first", (False, True): "FLOPs, second"}
    return ("alike", "share", "weights", *filter(None, [flops.get((first, second))]))


def number_texts(row: ExplainedRow, explanation: Explanation) -> tuple[str, ...]:
    """The numbers of a row under these headings, those of both parts where they differ."""
    told = (
        "" if row.likeness is None else f"{row.likeness:.2f}",
        _of_both(row, lambda part: f"{part.share:.0%}"),
        _of_both(row, lambda part: params_text(part.weights)),
    )
    first, second = _tell_flops(explanation)
    if first and second:
        return (*told, _of_both(row, _flops))
    if first or second:
        part = row.a if first else row.b
        return (*told, _flops(part) if part else "")
    return told


def _tell_flops(explanation: Explanation) -> tuple[bool, bool]:
    """Whether FLOPs are known of the parts of the first design, and of the second."""
    sides = ((row.a for row in explanation.rows), (row.b for row in explanation.rows))
    first, second = (any(part and part.flops is not None for part in side) for side in sides)
    return first, second


def _flops(part: ExplainedPart) -> str:
    return "" if part.flops is None else flops_text(part.flops)


def _of_both(row: ExplainedRow, text: Callable[[ExplainedPart], str]) -> str:
    """A value of both parts, once where it is the same."""
    one, other = (text(part) if part else NOTHING for part in (row.a, row.b))
    return one if one == other else f"{one} / {other}"
