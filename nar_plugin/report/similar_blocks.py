"""SimilarBlocks: which known designs contain a block, or one like it, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from nar_plugin.report.answer import Answer
from nar_plugin.report.asked import IndexInfo
from nar_plugin.report.wording import index_text
from nar_plugin.visible_text import clean, counted, times

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nar_plugin.index.block_search import FoundBlock, Occurrence

SHOWN = 3  # designs that a table names
NEAR = 0.5  # likeness below which no block of the index is told as one like it


@dataclass(frozen=True)
class AskedBlock:
    """The block asked about.

    Attributes:
        model: Name or class of the model.
        at: The module; `.` for the model itself.
        label: Class of the module.
        ops: How many operations it has.
        reason: Why the forward was not followed; empty where it was.
    """

    model: str
    at: str
    label: str
    ops: int
    reason: str = ""

    def __str__(self) -> str:
        """Such as `layer3.0 of timm:resnet50 (Bottleneck, 12 ops)`."""
        whole = f"{self.at} of {self.model}" if self.at != "." else self.model
        label = f"{self.label}, " if self.label and self.at != "." else ""
        return clean(f"{whole} ({label}{counted(self.ops, 'op')})")


@dataclass(frozen=True, repr=False)
class SimilarBlocks(Answer["FoundBlock"]):
    """The known blocks that are most like one, each with the designs that have it.

        ```python
        found = nar_plugin.find_similar("timm:resnet50", at="layer3.1")
        found[0].label, found[0].designs
        found[0].occurrences[0]  # a design: its name, how often, and the first module
        ```

    Attributes:
        query: The block asked about.
        index: The index that answered.
        hits: The blocks, most alike first.
        notes: What was not asked or not followed.
    """

    query: AskedBlock
    index: IndexInfo = field()  # type: ignore[assignment]
    hits: tuple[FoundBlock, ...]
    notes: tuple[str, ...] = ()

    def __rich__(self) -> RenderableType:
        """The table as rich prints it."""
        return blocks_table(self)

    def _repr_html_(self) -> str:
        """The table as a notebook shows it."""
        from nar_plugin.report.html import blocks_html

        return blocks_html(self)

    def to_dict(self) -> dict[str, Any]:
        """What `nar find --at --json` prints."""
        return {
            "query": asdict(self.query),
            "index": self.index.to_dict(),
            "hits": [asdict(hit) for hit in self.hits],
            "notes": list(self.notes),
        }


def blocks_table(found: SimilarBlocks) -> RenderableType:
    """A row for each block: how alike it is, what it is called, and who has it."""
    from rich.console import Group
    from rich.text import Text

    from nar_plugin.report.table import add_numbers, open_table

    table = open_table()
    add_numbers(table, "#", "score")
    table.add_column("block", overflow="fold")
    add_numbers(table, "designs")
    table.add_column("in", overflow="fold")
    for rank, hit in enumerate(found.hits, start=1):
        shown = [occurrence_text(each) for each in hit.occurrences[:SHOWN]]
        label = Text(f"{clean(hit.label)}\n").append(counted(hit.ops, "op"), style="dim")
        table.add_row(
            str(rank), f"{hit.score:.3f}", label, f"{hit.designs:,}", Text("\n".join(shown))
        )
    lines = [Text(f"blocks like {found.query}", style="bold")]
    lines += [Text(note, style="yellow") for note in found.notes]
    if not found.hits:
        return Group(*lines, Text("no block in the index has anything in common with it"))
    footer = Text(index_text(found.index), style="dim")
    return Group(*lines, Text(), table, Text(), footer)


def occurrence_text(each: Occurrence) -> str:
    """Such as `timm:resnet50 x12, from layer1.1 (+61 with other heads)`."""
    path = f"{'from ' if each.times > 1 else ''}{clean(each.path)}"
    path += f" of {clean(each.traced)}" if each.traced else ""
    others = f" (+{each.others:,} with other heads)" if each.others else ""
    return f"{clean(each.name)} {times(each.times)}, {path}{others}"


def notes_of(query: AskedBlock, hits: Sequence[FoundBlock], *, own: bool) -> tuple[str, ...]:
    """What stands above the table.

    Args:
        query: The block.
        hits: What was found.
        own: Whether the user has models of their own, which have no blocks in the index.
    """
    from nar_plugin.report.wording import module_tree_text

    texts = [module_tree_text(query.reason)] if query.reason else []
    if hits and hits[0].score < NEAR:
        texts.append(f"No known block is like it: every score is below {NEAR}.")
    if own:
        texts.append("Your own models (`nar index add`) are not asked for blocks.")
    return tuple(texts)
