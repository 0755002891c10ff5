"""Comparison: two models side by side, the answer to `compare`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from nar_plugin.errors import NarError
from nar_plugin.report.asked import Query
from nar_plugin.report.hit import SharedMotif, shared_motifs

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nar_plugin.drawing import Picture
    from nar_plugin.mining import MacroGraph
    from nar_plugin.report.explanation import Explanation


@dataclass(frozen=True, repr=False)
class Comparison:
    """How alike two models are.

    Attributes:
        likeness: How alike the two are, from 0 to 1 (`nar_plugin.likeness`).
        identical: Whether the graphs are equal, all widths included.
        same_design: Whether they differ at most in the sizes of classifier and vocabulary.
        shared_motifs: The blocks in common; `count_query` counts in `a`, `count_hit` in `b`.
        a: The first model.
        b: The second model.
        explanation: Part by part what they have in common and what differs; None where one of
            them is only known as a row of the index, without its graph.
        macros: Their designs, which `draw` reads; None where `explanation` is.
    """

    likeness: float
    identical: bool
    same_design: bool
    shared_motifs: tuple[SharedMotif, ...]
    a: Query
    b: Query
    explanation: Explanation | None = None
    macros: tuple[MacroGraph, MacroGraph] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        """The tables as plain text, as wide as the terminal."""
        from nar_plugin.report.terminal import plain_text

        return plain_text(self)

    def __rich__(self) -> RenderableType:
        """The tables as rich prints them."""
        from nar_plugin.report.side_by_side import comparison_table

        return comparison_table(self)

    def _repr_html_(self) -> str:
        """The explanation as a notebook shows it; the tables where there is none."""
        from nar_plugin.report.explanation_html import comparison_html

        return comparison_html(self)

    def draw(self) -> Picture:
        """Both designs side by side; what corresponds has one colour.

        Example:
            ```python
            nar_plugin.compare("timm:resnet50", "timm:seresnet50").draw().save("both.svg")
            ```

        Raises:
            NarError: The graph of one of them is not here.
        """
        from nar_plugin.drawing import Picture
        from nar_plugin.report.wording import name_text

        if self.macros is None:
            raise NarError(
                "The graphs of both are needed for a picture, and the index came without one. "
                "compare(a, b, trace=True) builds and traces them."
            )
        one, other = self.macros
        return Picture(one, name_text(self.a), other, name_text(self.b))

    def to_dict(self) -> dict[str, Any]:
        """What `nar compare --json` prints."""
        return {
            "likeness": self.likeness,
            "identical": self.identical,
            "same_design": self.same_design,
            "shared_motifs": [asdict(motif) for motif in self.shared_motifs],
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "explanation": self.explanation.to_dict() if self.explanation else None,
        }


def comparison_of(
    a: Query,
    b: Query,
    likeness: float,
    macros: tuple[MacroGraph | None, MacroGraph | None],
    families: int = 0,
) -> Comparison:
    """Two models side by side, explained where both have a graph.

    Args:
        a: The first model.
        b: The second.
        likeness: How alike they are.
        macros: Their designs; None of a row of the index.
        families: How many known families have the design of the second.
    """
    from nar_plugin.report.explanation import explain
    from nar_plugin.report.wording import name_text

    one, other = macros
    explanation = both = None
    if one is not None and other is not None:
        both = one, other
        explanation = explain(one, other, likeness, (name_text(a), name_text(b)), families)
    return Comparison(
        likeness=likeness,
        identical=a.fingerprint == b.fingerprint,
        same_design=a.design == b.design,
        shared_motifs=shared_motifs(a.motifs, b.motifs),
        a=a,
        b=b,
        explanation=explanation,
        macros=both,
    )
