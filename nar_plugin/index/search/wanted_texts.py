"""What a filter asks of a text: some that it accepts, some that it refuses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nar_plugin.errors import NarError, in_words
from nar_plugin.index.store.columns import BoolArray, one_of, whole_numbers

if TYPE_CHECKING:
    import pyarrow as pa

NOT = "!"  # before a text that a condition refuses


@dataclass(frozen=True)
class WantedTexts:
    """A condition on a text.

    Attributes:
        accepted: One of them must be there; any text will do where it is empty.
        refused: None of them may be there.
    """

    accepted: frozenset[str]
    refused: frozenset[str]

    def meets(self, *words: str | None) -> bool:
        """Whether texts that say the same thing meet the condition; no text at all meets none."""
        said = {word for word in words if word}
        accepted = not self.accepted or bool(said & self.accepted)
        return bool(said) and accepted and not said & self.refused

    def among(self, column: pa.ChunkedArray) -> BoolArray:
        """Where the text of a column, or the texts of its list, meet the condition.

        Shapes:
            [n].
        """
        found = ~_lacks(column)
        if self.accepted:
            found &= _has(column, self.accepted)
        if self.refused:
            found &= ~_has(column, self.refused)
        return found


def read_texts(key: str, value: Any) -> WantedTexts:
    """The condition in a text or a list of texts, of which those after `!` are refused.

    Raises:
        NarError: It is neither.
    """
    values = [value] if issubclass(type(value), str) else value
    if issubclass(type(values), list | tuple | set | frozenset) and values:
        # No row has half a surrogate, and Arrow takes none.
        texts = [
            str(text).encode("utf-8", "replace").decode()
            for text in values
            if issubclass(type(text), str) and text != NOT
        ]
        if len(texts) == len(values):
            refused = frozenset(text[1:] for text in texts if text.startswith(NOT))
            return WantedTexts(_accepted(texts), refused)
    raise NarError(
        f"where={{{in_words(key)}: {in_words(value)}}}: expected a text or a list of texts; "
        f"'{NOT}text' leaves a text out."
    )


def _accepted(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(text for text in texts if not text.startswith(NOT))


def _has(column: pa.ChunkedArray, texts: Iterable[str]) -> BoolArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = sorted(texts)
    if not pa.types.is_list(column.type):
        return one_of(column, wanted)
    lists = column.combine_chunks()
    owners = whole_numbers(pc.list_parent_indices(lists))
    elements = pa.chunked_array([pc.list_flatten(lists)])
    found = np.zeros(len(column), dtype=np.bool_)
    found[owners[one_of(elements, wanted)]] = True
    return found


def _lacks(column: pa.ChunkedArray) -> BoolArray:
    """Where there is no text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_list(column.type):
        empty = one_of(column, [""])
        known = np.zeros(len(column), dtype=np.bool_)
        known[whole_numbers(pc.indices_nonzero(column.is_valid()))] = True
        return ~known | empty
    lists = column.combine_chunks()
    known = np.zeros(len(column), dtype=np.bool_)
    known[whole_numbers(pc.list_parent_indices(lists))] = True
    return ~known
