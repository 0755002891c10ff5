"""What every tensor of a trace comes from: a recorded call, a parameter, the data, or a constant.

Tensors are told by their `id`, so all that are noted here must live as long as the trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.utils._python_dispatch import _disable_current_modes

from nar_plugin.tracing.record.kernels import map_tensors, without_memory
from nar_plugin.tracing.record.record import CONST, DATA, PARAM, Move, Record
from nar_plugin.tracing.vocabulary import LOOKUPS

if TYPE_CHECKING:
    from nar_plugin.tracing.record.constants import Constants

_PLAIN = (torch.Tensor, torch.nn.Parameter)


class Before(NamedTuple):
    """Where a tensor came from, and what stood for it, before something was attempted."""

    source: int | None
    replaced: torch.Tensor | None


class Sources:
    """Where tensors come from, what stands for them, and what they are views of.

    Args:
        data: Tensors that count as the model's input.
        records: The calls so far; the recorder adds to them.

    Attributes:
        data: As given.
        made_by: The place of the record that made a tensor, or PARAM, DATA or CONST, by its id.
        replaced: What stands for a tensor that is real or was written to, by its id.
        base: What a view is one of, by its id.
        keep: What must live as long as the trace.
        packed_elements: Of weights that no parameter holds.
    """

    def __init__(self, data: list[torch.Tensor], records: list[Record]) -> None:
        self.data = data
        self.made_by: dict[int, int] = {id(tensor): DATA for tensor in data}
        self.replaced: dict[int, torch.Tensor] = {}
        self.base: dict[int, torch.Tensor] = {}
        self.keep: list[Any] = [*data]
        self.packed_elements = 0
        self._records = records
        self._unpacked: dict[tuple[int, tuple[int, ...]], torch.Tensor] = {}

    def of(self, tensor: torch.Tensor) -> int:
        """The record that made a tensor, or PARAM, DATA or CONST."""
        replaced = self.replaced.get(id(tensor))
        return self.made_by.get(id(tensor if replaced is None else replaced), CONST)

    def of_plain(self, tensor: Any) -> int:
        """The same for a plain tensor on meta that is live, else CONST."""
        plain = type(tensor) in _PLAIN and tensor.is_meta
        return self.made_by.get(id(tensor), CONST) if plain else CONST

    def is_live(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor depends on the data or on parameters."""
        return self.of(tensor) != CONST

    def is_learned(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor is a parameter or a view of one."""
        return self.of(tensor) == PARAM

    def is_known(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor's values are at hand."""
        return not self.standing_for(tensor).is_meta

    def standing_for(self, tensor: torch.Tensor) -> torch.Tensor:
        """What stands for a tensor; itself, where nothing else does."""
        return self.replaced.get(id(tensor), tensor)

    def maker(self, tensor: torch.Tensor) -> Record | None:
        """The record that made a tensor, if one did."""
        place = self.of(tensor)
        return self._records[place] if place >= 0 else None

    def learn(self, parameters: list[torch.Tensor]) -> None:
        """Register the meta tensors that count as learned."""
        self.made_by.update((id(tensor), PARAM) for tensor in parameters)
        self.keep.append(parameters)

    def learned(self, origin: Any, shape: torch.Size | None) -> torch.Tensor | None:
        """An empty weight in place of one that is packed or held as integers.

        Args:
            origin: What holds it; it holds one of a shape.
            shape: Of the weight; there is none without.
        """
        if shape is None:
            return None
        key = id(origin), tuple(shape)
        if key not in self._unpacked:
            with _disable_current_modes():
                weight = without_memory(torch.empty(shape, device="meta"))
            self._unpacked[key] = weight
            if not isinstance(origin, torch.Tensor):
                self.packed_elements += weight.numel()
            self.made_by[id(weight)] = PARAM
            self.keep.append(origin)
        return self._unpacked[key]

    def put_in_order(self, rows: torch.Tensor, constants: Constants) -> None:
        """Note that rows are to be packed: if they were sorted before, no others were chosen."""
        record = self.maker(rows)
        if record is None or record.name not in LOOKUPS:
            return
        read: list[torch.Tensor] = []
        map_tensors(record.args, read.append)
        for place, tensor in enumerate(read):
            if place > 0 and constants.is_order(tensor):
                record.sources[place] = CONST

    def parameters_read(self, moves: Mapping[int, Move]) -> set[int]:
        """The ids of the parameters that recorded calls read, through views and copies too.

        Args:
            moves: The calls that only moved values, by identity of the result.
        """
        found: set[int] = set()
        waiting: list[torch.Tensor] = []
        for record in self._records:
            if PARAM in record.sources:
                map_tensors((*record.args, *record.kwargs.values()), waiting.append)
        while waiting:
            tensor = waiting.pop()
            if id(tensor) in found:
                continue
            found.add(id(tensor))
            base, move = self.base.get(id(tensor)), moves.get(id(tensor))
            waiting += [item for item in (base, move and move.args[0]) if item is not None]
        return found

    def origins(
        self, tensors: list[torch.Tensor], inputs: dict[int, int | str]
    ) -> frozenset[int | str]:
        """Which inputs some tensors were computed from.

        Args:
            tensors: Those that are asked about.
            inputs: What to call each input, by the id of its tensor.
        """
        found: set[int | str] = set()
        seen: set[int] = set()
        waiting = list(tensors)
        while waiting:
            tensor = waiting.pop()
            if id(tensor) in inputs:
                found.add(inputs[id(tensor)])
            elif (made_by := self.of(tensor)) >= 0 and made_by not in seen:
                seen.add(made_by)
                record = self._records[made_by]
                map_tensors((*record.args, *record.kwargs.values()), waiting.append)
        return frozenset(found)

    def before(self, arguments: list[torch.Tensor]) -> dict[int, Before]:
        """What is known now of tensors and of all that they are views of, by their ids."""
        written = {id(tensor) for tensor in arguments}
        for tensor in arguments:
            base = self.base.get(id(tensor))
            while base is not None and id(base) not in written:
                written.add(id(base))
                base = self.base.get(id(base))
        return {key: Before(self.made_by.get(key), self.replaced.get(key)) for key in written}

    def put_back(self, before: dict[int, Before]) -> None:
        """Let tensors be as they were before they were written to."""
        for key, (source, replaced) in before.items():
            _put_back(self.made_by, key, source)
            _put_back(self.replaced, key, replaced)


def _put_back(table: dict[int, Any], key: int, value: Any) -> None:
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value
