"""Answer: hits, most alike first, with the question and the index that answered."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

if TYPE_CHECKING:
    from rich.console import RenderableType

Found = TypeVar("Found", covariant=True)


class Answer(Sequence[Found]):
    """What a question finds. It shows itself as a table; a slice of it is a shorter answer.

    A dataclass with these and other fields inherits from it.

    Attributes:
        hits: The answers, most alike first.
    """

    hits: tuple[Found, ...]

    def __len__(self) -> int:
        """The number of hits."""
        return len(self.hits)

    @overload
    def __getitem__(self, item: int) -> Found: ...

    @overload
    def __getitem__(self, item: slice) -> Self: ...

    def __getitem__(self, item: int | slice) -> Found | Self:
        """One hit, or the same answer with fewer hits."""
        if isinstance(item, slice):
            fields: Any = self
            shorter: Self = replace(fields, hits=self.hits[item])
            return shorter
        return self.hits[item]

    def __repr__(self) -> str:
        """The table as plain text, as wide as the terminal."""
        from nar_plugin.report.terminal import plain_text

        return plain_text(self)

    @abstractmethod
    def __rich__(self) -> RenderableType:
        """The table as rich prints it."""
