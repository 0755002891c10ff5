"""The terminal table of similar architectures, in one of three layouts by width.

From 150 columns on, a hit is one line. Below, it is two: the task stands under the family, the
FLOPs under the parameters, the second motif under the first, so that 80 columns hold them all.
Below 72 there is room for the name, with its family and parameters below it, and for the score.
Only the name folds, and it is never cut: it is a reference to copy into the next command.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text

from nar_plugin.report.table import add_numbers, open_table
from nar_plugin.report.wording import (
    index_text,
    inputs_text,
    is_web,
    motif_legend,
    motif_text,
    other_names,
    query_text,
)
from nar_plugin.visible_text import clean, flops_text, params_text

if TYPE_CHECKING:
    from nar_plugin.report.hit import Hit
    from nar_plugin.report.similar import SimilarArchitectures

WIDE = 150  # columns from which on a hit is one line
ROOMY = 100  # and from which on there is room for the labels of motifs
NARROW = 72  # and below which there are no columns but the name's and the score's
SHOWN_MOTIFS = 2


@dataclass(frozen=True)
class SimilarTable:
    """The query, a row for each hit, and the index that answered, as rich prints them."""

    similar: SimilarArchitectures

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Choose the layout that fits."""
        yield Text(f"similar to {query_text(self.similar.query)}", style="bold")
        if inputs := inputs_text(self.similar.query):
            yield Text(inputs, style="dim")
        for note in self.similar.notes:
            yield Text(note, style="yellow")
        if self.similar.hits:
            yield Text()
            yield _layout(self.similar, options.max_width)
            if legend := motif_legend(self.similar) if options.max_width >= NARROW else "":
                yield Text(legend, style="dim")
            yield Text()
        else:
            yield Text("no architecture in the index matches")
        yield Text(index_text(self.similar.index), style="dim")


def _layout(similar: SimilarArchitectures, width: int) -> Table:
    if width < NARROW:
        return _narrow(similar)
    if width < WIDE:
        return _stacked(similar, label_width=20 if width >= ROOMY else 12)
    return _wide(similar)


def _narrow(similar: SimilarArchitectures) -> Table:
    table = open_table(gap=1, ruled=True)
    add_numbers(table, "#")
    table.add_column("name", overflow="fold")
    add_numbers(table, "score")
    for hit in similar:
        about = Text(f"\n{clean(hit.family or '')} {params_text(hit.params)}", style="dim")
        table.add_row(str(hit.rank), _name(hit, separator="\n") + about, f"{hit.score:.3f}")
    return table


def _wide(similar: SimilarArchitectures) -> Table:
    table = open_table()
    add_numbers(table, "#")
    table.add_column("name", overflow="fold")
    add_numbers(table, "score")
    for heading in ("family", "task"):
        table.add_column(heading, no_wrap=True, max_width=20)
    add_numbers(table, "params", "FLOPs")
    table.add_column("code license", no_wrap=True, max_width=12)
    table.add_column("shared motifs", no_wrap=True)
    for hit in similar:
        table.add_row(
            str(hit.rank),
            _name(hit, separator=" "),
            f"{hit.score:.3f}",
            Text(clean(hit.family or "")),
            Text(clean(hit.task or "")),
            params_text(hit.params),
            flops_text(hit.flops),
            Text(clean(hit.code_license or "")),
            Text(", ".join(_motifs(hit, 20))),
        )
    return table


def _stacked(similar: SimilarArchitectures, label_width: int) -> Table:
    table = open_table(gap=1, ruled=True)
    add_numbers(table, "#")
    table.add_column("name", overflow="fold")
    add_numbers(table, "score")
    table.add_column("family\ntask", no_wrap=True, max_width=20)
    add_numbers(table, "params\nFLOPs")
    table.add_column("shared motifs", no_wrap=True)
    for hit in similar:
        table.add_row(
            str(hit.rank),
            _name(hit, separator="\n"),
            f"{hit.score:.3f}",
            Text(f"{clean(hit.family or '')}\n{clean(hit.task or '')}"),
            f"{params_text(hit.params)}\n{flops_text(hit.flops)}",
            Text("\n".join(_motifs(hit, label_width))),
        )
    return table


def _name(hit: Hit, *, separator: str) -> Text:
    """The name, then what is remarkable about it."""
    remarks = Text(" ").join(
        [Text("identical", style="bold green")] * hit.exact
        + [Text("yours", style="bold")] * hit.overlay
        + [Text(others, style="dim") for others in (other_names(hit),) if others]
    )
    name = Text(clean(hit.name), style=f"link {clean(hit.url)}" if is_web(hit.url) else "")
    return Text(separator).join((name, remarks)) if remarks else name


def _motifs(hit: Hit, label_width: int) -> list[str]:
    return [motif_text(motif, label_width) for motif in hit.shared_motifs[:SHOWN_MOTIFS]]
