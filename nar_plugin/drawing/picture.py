"""Picture: a design, or two side by side, as SVG, HTML, Mermaid or DOT."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from nar_plugin.errors import NarError, in_words

if TYPE_CHECKING:
    from nar_plugin.drawing.figure import Figure
    from nar_plugin.mining import MacroGraph


@dataclass(frozen=True, repr=False)
class Picture:
    """What `draw` returns. A notebook shows it.

        ```python
        picture = nar_plugin.motifs(model).draw("my model")
        picture.save("model.svg")  # or .html, .mmd, .dot
        ```

    Attributes:
        macro: The design.
        title: What it is called.
        other: A second design, which stands beside it.
        other_title: What that is called.
    """

    macro: MacroGraph
    title: str = ""
    other: MacroGraph | None = None
    other_title: str = ""

    def __repr__(self) -> str:
        """What it shows, and how it is saved."""
        of = f"{self.title or 'a design'}{f' and {self.other_title}' if self.other else ''}"
        return f"Picture of {of}: .save('name.svg'), or .html, .mmd, .dot"

    def _repr_html_(self) -> str:
        """The picture as a notebook shows it."""
        return self.svg()

    @cached_property
    def figure(self) -> Figure:
        """What is drawn of the first design."""
        from nar_plugin.drawing.folding import figure_of

        return figure_of(self.macro, self.title)

    def svg(self) -> str:
        """The picture, for light, for dark and for paper."""
        from nar_plugin.drawing.pair import pair_svg
        from nar_plugin.drawing.svg import figure_svg

        if self.other is not None:
            return pair_svg(self.macro, self.other, (self.title, self.other_title))
        return figure_svg(self.figure)

    def thumbnail(self, height: int = 220) -> str:
        """The folded design alone, as SVG, so many pixels high."""
        from nar_plugin.drawing.svg import thumbnail_svg

        return thumbnail_svg(self.figure, height)

    def html(self) -> str:
        """A page whose boxes unfold, without JavaScript."""
        from nar_plugin.drawing.inside import Drawn
        from nar_plugin.drawing.page import figure_page, page

        if self.other is not None:
            return page(f"{self.title} and {self.other_title}", self.svg())
        return figure_page(self.figure, Drawn(self.macro.graph))

    def mermaid(self) -> str:
        """Text that GitHub draws in a block of ```mermaid."""
        from nar_plugin.drawing.diagram_text import mermaid

        return mermaid(self._alone("Mermaid"))

    def dot(self) -> str:
        """Text that Graphviz draws."""
        from nar_plugin.drawing.diagram_text import dot

        return dot(self._alone("DOT"))

    def save(self, path: str | Path) -> Path:
        """Write the picture in the format that the file's ending names.

        Args:
            path: Ends in `.svg`, `.html`, `.mmd` (Mermaid) or `.dot`.

        Raises:
            NarError: It has another ending, or cannot be written.
        """
        path = Path(path)
        forms = {".svg": self.svg, ".html": self.html, ".mmd": self.mermaid, ".dot": self.dot}
        if path.suffix not in forms:
            raise NarError(f"A picture is saved as {', '.join(forms)}; got {in_words(str(path))}.")
        text = forms[path.suffix]()
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise NarError(f"The picture cannot be written to {path}: {error.strerror}") from error
        return path

    def _alone(self, form: str) -> Figure:
        if self.other is not None:
            raise NarError(f"Two designs side by side are SVG or HTML, not {form}: draw one.")
        return self.figure
