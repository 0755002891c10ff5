"""The terminal table of designs that have a checkpoint's tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from nar_plugin.report.table import add_numbers, open_table
from nar_plugin.report.wording import index_text, is_web
from nar_plugin.visible_text import clean, params_text

if TYPE_CHECKING:
    from nar_plugin.report.weights import SimilarWeights, Tensors, WeightsHit

SHOWN = 6  # shapes that are told of the best hit
LOADERS = 3  # that are told of each
VARIANTS = 2


def weights_table(similar: SimilarWeights) -> RenderableType:
    """The question, a row for each design, and what the best of them does not explain."""
    lines = [Text(f"designs with the tensors of {similar.query}", style="bold")]
    lines += [Text(note, style="yellow") for note in similar.notes]
    footer = Text(index_text(similar.index), style="dim")
    if not similar.hits:
        return Group(*lines, Text("no architecture in the index has any of them"), footer)
    table = open_table(gap=1, ruled=True)
    add_numbers(table, "#")
    table.add_column("name", overflow="fold")
    add_numbers(table, "score", "tensors\nexplained", "params")
    table.add_column("loads it", overflow="fold")
    for hit in similar:
        table.add_row(
            str(hit.rank),
            _name(hit),
            f"{hit.score:.3f}",
            f"{hit.explained}/{hit.tensors}",
            params_text(hit.params),
            Text("\n".join(clean(line) for line in hit.loads[:LOADERS])),
        )
    details = [Text(line) for line in difference_lines(similar.hits[0])]
    return Group(*lines, Text(), table, Text(), *details, footer)


def _name(hit: WeightsHit) -> Text:
    name = Text(clean(hit.name), style=f"link {clean(hit.url)}" if is_web(hit.url) else "")
    remarks = [Text("as many parameters", style="bold green")] * hit.exact
    remarks += [Text("yours", style="bold")] * hit.overlay
    if hit.variants:
        shown = ", ".join(clean(variant) for variant in hit.variants[:VARIANTS])
        more = f" (+{len(hit.variants) - VARIANTS})" if hit.variants[VARIANTS:] else ""
        remarks.append(Text(f"or, of the same shapes, {shown}{more}", style="dim"))
    return Text("\n").join([name, *remarks])


def difference_lines(hit: WeightsHit) -> list[str]:
    """What a hit and the file do not have in common, a line each."""
    lines = [
        f"{list(ours)} in the file, {list(theirs)} in {clean(hit.name)}: other classes or words"
        for ours, theirs in hit.resized
    ]
    lines += _listed(f"left over, not in {clean(hit.name)}", hit.left_over)
    lines += _listed("missing in the file", hit.missing)
    lines += _listed("positions, tokens, scales and the like, told by their number", hit.direct)
    return lines


def _listed(what: str, tensors: Sequence[Tensors]) -> list[str]:
    if not tensors:
        return []
    more = f"; {len(tensors) - SHOWN} more shapes" if tensors[SHOWN:] else ""
    return [f"{what}: {'; '.join(str(each) for each in tensors[:SHOWN])}{more}"]
