"""What tensors hold after they were written to: new sources for them and what they are views of.

Of a write into a part, `partial_writes.py` says what the whole is made of.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from nar_plugin.tracing.record.constants import FILLER, KNOWN_ELEMENTS, Constants
from nar_plugin.tracing.record.kernels import map_tensors, meta_twin
from nar_plugin.tracing.record.partial_writes import Parts, Write
from nar_plugin.tracing.record.record import CONST, Record, name_of
from nar_plugin.tracing.record.samples import Samples
from nar_plugin.tracing.record.sources import Sources
from nar_plugin.tracing.record.traits import Trait


class Writes:
    """The writes of a trace.

    Args:
        records: The calls so far; what joins a whole with its parts is added to them.
        sources: Of all tensors.
        constants: Those that are known or seen.
        samples: As of the recorder.
        on_meta: Whether live tensors have no values.

    Attributes:
        parts: What whole tensors are made of.
    """

    def __init__(
        self,
        records: list[Record],
        sources: Sources,
        constants: Constants,
        samples: Samples | None,
        *,
        on_meta: bool,
    ) -> None:
        self.parts = Parts()
        self._records = records
        self._sources = sources
        self._constants = constants
        self._samples = samples
        self._on_meta = on_meta
        self._allocated: set[int] = set()  # by the forward, to be written to

    def allocate(self, made: Any) -> Any:
        """Note that a tensor was made to be written to."""
        self._allocated.add(id(made))
        return made

    def is_fresh(self, tensor: torch.Tensor) -> bool:
        """Whether the forward has allocated a tensor of floats and written nothing into it yet."""
        if self._sources.is_live(tensor) or not tensor.is_floating_point():
            return False
        if not self._on_meta:
            return True
        root, seen = tensor, {id(tensor)}
        while (base := self._sources.base.get(id(root))) is not None and id(base) not in seen:
            seen.add(id(base))
            root = base
        with _disable_current_modes():
            return id(root) in self._allocated and (tensor.is_meta or not bool(tensor.any()))

    def is_whole(self, target: torch.Tensor) -> bool:
        """Whether a tensor is no view, or one of all that it is a view of."""
        bases = self._sources.base
        base = bases.get(id(target))
        while base is not None and base.numel() == target.numel():
            base = bases.get(id(base))
        return base is None

    def empty(self, func: Any, args: tuple[Any, ...], target: torch.Tensor) -> torch.Tensor:
        """After `zero_` and its like: nothing is left of what the data made."""
        value = args[1] if name_of(func) in ("copy_", "fill_") else FILLER
        if name_of(func) == "zero_":
            value = 0
        known = not (isinstance(value, torch.Tensor) and value.is_meta)
        sources = self._sources
        written: torch.Tensor | None = target
        while written is not None:
            current = sources.standing_for(written)
            sources.made_by.pop(id(current), None)
            self._constants.add(current)
            if self._on_meta and known and target.numel() <= KNOWN_ELEMENTS:
                with _disable_current_modes():
                    values = torch.empty(target.shape, dtype=target.dtype)
                    values.copy_(torch.as_tensor(value))
                sources.replaced[id(written)] = self._constants.know(values.view(written.shape))
            written = sources.base.get(id(written))
        sources.keep.append(target)
        return target

    def scatter(
        self,
        trait: Trait,
        args: tuple[Any, ...],
        out: torch.Tensor,
        sources: list[int],
        path: str,
    ) -> torch.Tensor:
        """The copy of a whole with a part written, as `copy_` into that part leaves it."""
        whole, old, new = args[0], *sources
        assert trait.part is not None
        with _disable_current_modes():
            part = trait.part(whole if whole.is_meta or not self._on_meta else out, *args[2:])
        if old == CONST or self.parts.is_buffer(whole):
            self.parts.fill(out)
            whole = out
        self._sources.keep.append((out, part))
        write = Write(whole, part, args[1], old, new, out, path)
        self._sources.made_by[id(out)] = self._joined(write)
        return out

    def mark(
        self, target: torch.Tensor, index: int, path: str, value: torch.Tensor | None = None
    ) -> None:
        """Let a tensor have a new source, and what it is a part of be joined with it.

        Args:
            target: What was written to.
            index: The new source.
            path: The module that writes.
            value: What was copied there; None where it was computed in place.
        """
        held = self._held(target)
        self._sources.keep.append(target)
        if index == CONST:
            return
        joined = False
        for tensor in held:
            if not joined and tensor.numel() > target.numel():
                index = self._joined_up(held, held[0] if value is None else value, index, path)
                joined = True
            self._sources.made_by[id(tensor)] = index

    def keep_shape(self, tensor: torch.Tensor, shape: torch.Size) -> None:
        """Let the calls so far have a tensor as it was before `set_`, `squeeze_` and their like."""
        with _disable_current_modes():
            before = torch.empty(shape, dtype=tensor.dtype, device="meta")
        source = self._sources.of(tensor)
        self._sources.made_by[id(before)] = source
        self._sources.keep.append(before)
        for place in range(max(source, 0), len(self._records)):
            args, kwargs, out = self._records[place][1:4]
            args, kwargs, out = map_tensors(
                [args, list(kwargs.items()), out],
                lambda item: before if item is tensor else item,
            )
            self._records[place] = self._records[place]._replace(
                args=args, kwargs=dict(kwargs), out=out
            )

    def _held(self, target: torch.Tensor) -> list[torch.Tensor]:
        """What stands for a target and for all that it is a view of, on meta from now on."""
        sources = self._sources
        held: list[torch.Tensor] = []
        written: torch.Tensor | None = target
        while written is not None:
            current = sources.standing_for(written)
            base = sources.base.get(id(written))
            if base is None and current is not written:
                base = sources.base.get(id(current))
            if self._on_meta and not current.is_meta:
                current = sources.replaced[id(written)] = meta_twin(current)
                sources.keep.append(current)
            held.append(current)
            written = base
        return held

    def _joined_up(
        self, held: list[torch.Tensor], value: torch.Tensor, index: int, path: str
    ) -> int:
        """The source of a whole whose part, the first of a chain of views, got a new one."""
        wholes = [tensor for tensor in held if tensor.numel() == held[-1].numel()]
        whole = next((tensor for tensor in wholes if self.parts.is_buffer(tensor)), wholes[0])
        old = self._sources.made_by.get(id(whole), CONST)
        if old == CONST:
            for tensor in wholes:
                self.parts.fill(tensor)
        return self._joined(Write(whole, held[0], value, old, index, whole, path))

    def _joined(self, write: Write) -> int:
        """The source of a whole when a value was written into a part of it."""
        if CONST in (write.old, write.new) or write.old == write.new:
            return max(write.old, write.new)
        index = len(self._records)
        for place, record in self.parts.records(write, index).items():
            self._records[place : place + 1] = [record]
            self._sources.keep.append(record)
        if self._samples is not None:
            read, sources = [write.part, write.value], [write.old, write.new]
            self._samples.compute("copy_", read, sources, write.into, index)
        return index
