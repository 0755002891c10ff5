"""One recorded call, and where its tensors came from."""

from __future__ import annotations

from typing import Any, NamedTuple

from nar_plugin.tracing.graph import Op

PARAM, DATA, CONST = -1, -2, -3


class Record(NamedTuple):
    """One call: the operator, its arguments and results, and where its tensors came from.

    `sources` has one entry for each tensor argument in order: the index of the record that made
    it, or PARAM, DATA or CONST.
    """

    func: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    out: Any
    sources: list[int]
    path: str

    @property
    def name(self) -> str:
        """Of the operator, such as `add_`; empty for one that was recorded as a whole."""
        return "" if isinstance(self.func, Op) else name_of(self.func)


class Move(NamedTuple):
    """A call that moves or copies the values of its first argument and computes none.

    `place` says which of its results is meant, where it has several.
    """

    func: Any
    args: tuple[Any, ...]
    place: int | None = None


def name_of(func: Any) -> str:
    """Of an operator, such as `add_`."""
    return str(func._overloadpacket.__name__)
