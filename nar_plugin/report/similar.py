"""SimilarArchitectures: the answer to `find_similar`, most similar first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from nar_plugin.errors import NarError
from nar_plugin.report.answer import Answer
from nar_plugin.report.asked import IndexInfo, Query
from nar_plugin.report.hit import Hit

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nar_plugin.mining import MacroGraph
    from nar_plugin.report.explanation import Explanation


Designs: TypeAlias = "Callable[[str], MacroGraph | None]"  # of a fingerprint, where it is known


def nothing_stored(fingerprint: str) -> MacroGraph | None:
    """The `Designs` of an index that came without graphs."""
    return None


@dataclass(frozen=True, repr=False)
class SimilarArchitectures(Answer[Hit]):
    """The known architectures that resemble a model.

    It is a sequence of `Hit` and shows itself as a table in a terminal and in a notebook:

        ```python
        similar = nar_plugin.find_similar(model)
        similar[0].name, similar[0].score
        similar[:3]          # a shorter table
        similar.to_pandas()
        ```

    Attributes:
        query: The model asked about.
        index: The index that answered. (It hides `Sequence.index`: a hit knows its own rank.)
        hits: The answers, most similar first.
        macro: The model's design, which `explain` reads; None where its row answered.
        designs: Gives the stored design of a fingerprint, which `explain` reads too.
        unknown: Of each text in `where` that no design in the index has, a line that says so.
    """

    query: Query
    # field(): without it the dataclass would take the inherited method for a default value.
    index: IndexInfo = field()  # type: ignore[assignment]
    hits: tuple[Hit, ...]
    macro: MacroGraph | None = field(default=None, compare=False)
    designs: Designs = field(default=nothing_stored, compare=False)
    unknown: tuple[str, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        """All but the index behind `designs`, which a pickle would copy."""
        return {**vars(self), "designs": nothing_stored}

    def __rich__(self) -> RenderableType:
        """The table as rich prints it."""
        from nar_plugin.report.similar_table import SimilarTable

        return SimilarTable(self)

    def _repr_html_(self) -> str:
        """The table as a notebook shows it."""
        from nar_plugin.report.html import similar_html

        return similar_html(self)

    def explain(self, item: int = 0) -> Explanation:
        """Why a hit is as alike as it is: part by part what both have and what differs.

        Example:
            ```python
            print(model.find_similar(k=3).explain(1))  # of the second hit
            ```

        Args:
            item: Which of the hits, as in `similar[item]`.

        Raises:
            NarError: The index came without graphs, and one of the two cannot be built here.
        """
        from nar_plugin.report.explaining import explained_hit

        return explained_hit(self.query, self.macro, self.hits[item], self.designs)

    @property
    def notes(self) -> tuple[str, ...]:
        """What stands above the table: unknown words, what was not followed, how far hits are."""
        from nar_plugin.report.wording import far_text, trace_text

        texts = (*self.unknown, trace_text(self.query), far_text(self.query, self.hits))
        return tuple(text for text in texts if text)

    def to_dict(self) -> dict[str, Any]:
        """What `nar find --json` prints."""
        return {
            "query": self.query.to_dict(),
            "index": self.index.to_dict(),
            "hits": [hit.to_dict() for hit in self.hits],
            "notes": list(self.notes),
        }

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` with a row for each hit and a column for each of its fields.

        Raises:
            NarError: When pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise NarError(
                "to_pandas wants pandas, which is not installed: pip install 'nar-plugin[pandas]'"
            ) from error
        return pd.DataFrame(
            [hit.to_dict() | {"overlay": hit.overlay} for hit in self.hits],
            columns=[*Hit.__dataclass_fields__, "code_license"],
        )
