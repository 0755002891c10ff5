"""Novelty: how far a model is from everything known, and what that number is worth."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from nar_plugin.errors import NarError
from nar_plugin.html_table import html_table
from nar_plugin.likeness.idioms import chain
from nar_plugin.likeness.novelty import percentile
from nar_plugin.report.wording import query_text
from nar_plugin.visible_text import clean

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nar_plugin.report.explanation import ExplainedPart, Explanation
    from nar_plugin.report.hit import Hit
    from nar_plugin.report.similar import SimilarArchitectures


class Novelty(float):
    """How far a model is from everything known, from 0 to 1: a number that explains itself.

        ```python
        found = nar_plugin.novelty(model)
        found < 0.2  # a number
        found.unseen_families  # 0.4: more novel than 40% of designs of families that nobody knew
        found.nearest.name  # the nearest prior art
        print(found)
        ```

    Attributes:
        similar: The nearest known architecture, as `find_similar` answers.
    """

    similar: SimilarArchitectures

    def __new__(cls, similar: SimilarArchitectures) -> Novelty:
        """One minus the score of the first hit; 0 for a known design."""
        found = super().__new__(cls, max(0.0, 1.0 - similar.hits[0].score))
        found.similar = similar
        return found

    def __getnewargs__(self) -> tuple[SimilarArchitectures]:  # type: ignore[override]
        """What a copy is made of."""
        return (self.similar,)

    @property
    def nearest(self) -> Hit:
        """The nearest prior art."""
        return self.similar.hits[0]

    @property
    def unseen_families(self) -> float:
        """The part of designs of held-out families that are less novel, from 0 to 1."""
        return percentile(self, "unseen_families")

    @property
    def new_sizes(self) -> float:
        """The part of held-out sizes of known families that are less novel, from 0 to 1."""
        return percentile(self, "new_sizes")

    @cached_property
    def explanation(self) -> Explanation:
        """Block by block what the nearest prior art has and what it has not.

        Raises:
            NarError: It cannot be built here, since its library is not installed.
        """
        return self.similar.explain(0)

    @property
    def without_partner(self) -> tuple[ExplainedPart, ...]:
        """The blocks that the nearest prior art does not have.

        Raises:
            NarError: See `explanation`.
        """
        return tuple(row.a for row in self.explanation.rows if row.a and not row.b)

    @property
    def partners_alike(self) -> tuple[float, float] | None:
        """The least and the greatest likeness of a block and its partner; None without partners.

        Raises:
            NarError: See `explanation`.
        """
        found = [row.likeness for row in self.explanation.rows if row.likeness is not None]
        return (min(found), max(found)) if found else None

    def __repr__(self) -> str:
        """The report as plain text, as wide as the terminal."""
        from nar_plugin.report.terminal import plain_text

        return plain_text(self)

    __str__ = __repr__

    def __format__(self, form: str) -> str:
        """As a number is formatted."""
        return format(float(self), form)

    def __rich__(self) -> RenderableType:
        """The report as rich prints it."""
        from rich.console import Group
        from rich.text import Text

        lines = [Text(_title(self), style="bold")]
        lines += [Text(note, style="yellow") for note in self.similar.notes]
        return Group(*lines, *map(Text, _facts(self)))

    def _repr_html_(self) -> str:
        """The report as a notebook shows it."""
        return html_table(
            _title(self), (), [(line,) for line in (*self.similar.notes, *_facts(self))]
        )

    def to_dict(self) -> dict[str, Any]:
        """What `nar novelty --json` prints; what of the blocks is not known is null."""
        parts: list[str] | None = []
        alike = None
        try:
            if self:
                parts = [part.name for part in self.without_partner]
                alike = self.partners_alike
        except NarError:
            parts = None
        return {
            "novelty": float(self),
            "more_novel_than": {
                "unseen_families": self.unseen_families,
                "new_sizes": self.new_sizes,
            },
            "nearest": self.nearest.to_dict(),
            "without_partner": parts,
            "partners_alike": list(alike) if alike else None,
        }


def _title(found: Novelty) -> str:
    return f"novelty of {query_text(found.similar.query)}: {found:.3f}"


def _facts(found: Novelty) -> list[str]:
    """The lines of the report below its first."""
    nearest = clean(found.nearest.name)
    if not found:
        return [f"a known design: {nearest}"]
    lines = [
        f"more novel than {found.unseen_families:.0%} of designs of families that nobody knew, "
        f"and than {found.new_sizes:.0%} of new sizes of known families",
        f"nearest prior art: {nearest} ({clean(found.nearest.family or 'no family')}), "
        f"score {found.nearest.score:.3f}",
    ]
    try:
        parts = found.without_partner
    except NarError as error:
        return [*lines, f"which blocks it lacks is not known: {clean(error)}"]
    alike = _alike_text(found.partners_alike)
    if not parts:
        return [*lines, f"every block has a partner there{alike}: {found.explanation.verdict.text}"]
    told = [f"  {_part_text(part)}" for part in parts]
    others = [f"the others have one{alike}"] * bool(alike)
    return [*lines, "blocks without a partner there:", *told, *others]


def _part_text(part: ExplainedPart) -> str:
    """Its modules and what they are; a class says nothing without its operations."""
    inside = chain(part.made_of)
    return part.name if part.label.startswith("(") else f"{part.name}: {inside}"


def _alike_text(ends: tuple[float, float] | None) -> str:
    """Such as `, 0.17 to 0.44 alike`: a partner need not be like a block."""
    if ends is None:
        return ""
    least, most = (f"{end:.2f}" for end in ends)
    return f", {least if least == most else f'{least} to {most}'} alike"
