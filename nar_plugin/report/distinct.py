"""Distinct designs: many models, grouped by what is the same in them; the answer to `dedupe`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from nar_plugin.visible_text import clean, counted

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class Asked:
    """One of the models that were asked about.

    Attributes:
        place: Its place among them, from 0.
        name: What it is called.
        design: A hash that equal designs share, whatever their classes and vocabulary.
        backbone: A hash that designs share which differ in head or stem alone.
        ops: The number of its operations.
        note: Why the answer is less sure, such as a forward that was not followed.
    """

    place: int
    name: str
    design: str
    backbone: str
    ops: int
    note: str = ""


@dataclass(frozen=True)
class DistinctDesign:
    """A design, and which of the models have it.

    Attributes:
        names: Of the models, in the order in which they were given.
        places: Where they stood in that order, from 0.
        design: See `Asked`.
        backbone: See `Asked`.
        ops: The number of its operations.
    """

    names: tuple[str, ...]
    places: tuple[int, ...]
    design: str
    backbone: str
    ops: int


@dataclass(frozen=True, repr=False)
class DistinctDesigns:
    """The designs among many models. Designs of one backbone stand together.

        ```python
        found = nar_plugin.dedupe(candidates)
        kept = [candidates[place] for place in found.first]
        ```

    Attributes:
        designs: In the order of the first model of each backbone.
        refused: Name and reason of what could not be built or traced.
        notes: What makes the answer less sure.
    """

    designs: tuple[DistinctDesign, ...]
    refused: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def first(self) -> tuple[int, ...]:
        """The place of one model of each design, ascending: what to keep."""
        return tuple(sorted(design.places[0] for design in self.designs))

    @property
    def backbones(self) -> tuple[tuple[DistinctDesign, ...], ...]:
        """The designs of each backbone."""
        return tuple(
            tuple(group) for _, group in groupby(self.designs, key=lambda each: each.backbone)
        )

    def __repr__(self) -> str:
        """The groups as plain text, as wide as the terminal."""
        from nar_plugin.report.terminal import plain_text

        return plain_text(self)

    def __rich__(self) -> RenderableType:
        """A line for each design; those of one backbone stand between two rules."""
        from rich.console import Group
        from rich.text import Text

        from nar_plugin.report.table import add_numbers, open_table

        models = sum(len(each.names) for each in self.designs)
        head = f"{counted(models, 'model')}, {counted(len(self.designs), 'design')}, "
        head += counted(len(self.backbones), "backbone")
        table = open_table()
        table.add_column("backbone", no_wrap=True)
        table.add_column("models of one design", overflow="fold")
        add_numbers(table, "ops")
        for number, group in enumerate(self.backbones, start=1):
            for design in group:
                shown = str(number) if design is group[0] else ""
                names = Text(" = ".join(clean(name) for name in design.names))
                table.add_row(shown, names, f"{design.ops:,}")
            table.add_section()
        warnings = [f"{clean(name)}: {clean(reason)}" for name, reason in self.refused]
        told = [Text(text, style="yellow") for text in (*self.notes, *warnings)]
        return Group(Text(head, style="bold"), *told, table)

    def to_dict(self) -> dict[str, Any]:
        """What `nar dedupe --json` prints."""
        return {
            "designs": [
                asdict(each) | {"names": list(each.names), "places": list(each.places)}
                for each in self.designs
            ],
            "first": list(self.first),
            "refused": [{"name": name, "reason": reason} for name, reason in self.refused],
            "notes": list(self.notes),
        }


def distinct_designs(
    asked: Iterable[Asked], refused: Iterable[tuple[str, str]] = ()
) -> DistinctDesigns:
    """Group models by design, and the designs by backbone, each in order of the first model."""
    backbones: dict[str, dict[str, list[Asked]]] = {}
    notes = []
    for each in asked:
        backbones.setdefault(each.backbone, {}).setdefault(each.design, []).append(each)
        if each.note:
            notes.append(f"{clean(each.name)}: {each.note}")
    designs = tuple(
        DistinctDesign(
            tuple(each.name for each in group),
            tuple(each.place for each in group),
            design,
            backbone,
            group[0].ops,
        )
        for backbone, found in backbones.items()
        for design, group in found.items()
    )
    return DistinctDesigns(designs, tuple(refused), tuple(notes))
