"""The constants of a trace: tensors that depend neither on parameters nor on the data.

Small ones have known values and are computed for real on the CPU; large ones are meta tensors.
"""

from __future__ import annotations

from typing import Any

import torch

from nar_plugin.tracing.record.kernels import map_tensors, plainly_on_meta, run_on_meta
from nar_plugin.tracing.record.traits import Trait

KNOWN_ELEMENTS = 1 << 16  # constants up to this many elements are computed for real
MOST_KNOWN_ELEMENTS = 1 << 18  # what is computed from them may grow to this
SMALL_ELEMENTS = 1 << 10
MOST_KEPT_ELEMENTS = 1 << 26  # of all that are computed; beyond, only small ones are
FILLER = 0.5  # the value of every random number


class Constants:
    """Which tensors are constants, and the calls that make new ones.

    Args:
        keep: Receives what must live as long as the trace, since tensors are told by their `id`.
        base: Receives, for the id of each view, the tensor that it is a view of.
    """

    def __init__(self, keep: list[Any], base: dict[int, torch.Tensor]) -> None:
        self.known: set[int] = set()
        self._keep = keep
        self._base = base
        self._on_meta: set[int] = set()  # without values
        self._filled: dict[int, tuple[float, int]] = {}  # by storage: the value, until one writes
        self._computed = 0  # elements of the known ones that were computed from others
        self._came_in: set[int] = set()
        self._given: set[int] = set()  # of the known: what came in, and what is computed from it
        self.calls_on_given = 0  # that computed something
        self._told: set[int] = set()  # of the known: what was made up for live data, and so on
        self._masked: set[int] = set()  # of the known: what a mask picked, and so on
        self._orders: set[int] = set()  # of the given: places in sorted order, and so on

    def __contains__(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor is known, or is a constant on meta that was seen being made."""
        return id(tensor) in self.known or id(tensor) in self._on_meta

    def know(self, tensor: torch.Tensor) -> torch.Tensor:
        """Register a small real tensor as a constant of the trace."""
        self.known.add(id(tensor))
        self._keep.append(tensor)
        return tensor

    def take(self, tensor: torch.Tensor) -> torch.Tensor:
        """Register a small real tensor that came in: a constant, except where it picks rows."""
        self._came_in.add(id(tensor))
        self._given.add(id(tensor))
        return self.know(tensor)

    def came_in(self, tensor: torch.Tensor) -> bool:
        """Whether a known tensor is an input as it came, or a view of one."""
        seen: set[int] = set()  # what is resized in place is a view of itself
        while id(tensor) in self._base and id(tensor) not in seen:
            seen.add(id(tensor))
            tensor = self._base[id(tensor)]
        return id(tensor) in self._came_in

    def tell(self, tensor: torch.Tensor) -> torch.Tensor:
        """Register real values that stand in for live ones: constant, but as places they vary."""
        self._told.add(id(tensor))
        return self.know(tensor)

    def add(self, tensor: torch.Tensor) -> torch.Tensor:
        """Register a meta tensor that holds a constant whose values do not matter."""
        self._keep.append(tensor)
        self._on_meta.add(id(tensor))
        return tensor

    def _fill(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: torch.Tensor
    ) -> torch.Tensor:
        """As `add`, of a tensor that `func` fills with one value."""
        name = func.name()
        value = 0.0 if "zeros" in name else 1.0 if "ones" in name else None
        if "full" in name:
            value = kwargs.get("fill_value", args[-1])
        counts = out.layout is torch.strided and not out.is_inference()  # the writes into it
        if isinstance(value, int | float) and counts:
            self._filled[out.untyped_storage()._cdata] = float(value), out._version
        return self.add(out)

    def filling(self, tensor: torch.Tensor) -> float | None:
        """The one value that a constant on meta holds, where that is known."""
        if tensor.layout is not torch.strided:
            return None
        value, version = self._filled.get(tensor.untyped_storage()._cdata, (None, 0))
        return value if value is None or tensor._version == version else None

    def add_all(self, out: Any) -> None:
        """Register the results of a call, which are kept already, as `add` does one."""
        for item in out if isinstance(out, tuple | list) else (out,):
            self._on_meta.add(id(item))

    def hold(self, tensors: list[torch.Tensor]) -> None:
        """Register the tensors that a model holds beside its parameters."""
        for tensor in tensors:
            (self._on_meta if tensor.is_meta else self.known).add(id(tensor))
        self._keep.append(tensors)

    def varies(self, places: torch.Tensor, *, learned: bool) -> bool:
        """Whether a known tensor picks other places of another input.

        Args:
            places: What a look-up reads at.
            learned: Whether it reads a parameter, of which made-up places are no choice.
        """
        return id(places) in self._given or (not learned and id(places) in self._told)

    def packs(self, lengths: torch.Tensor) -> bool:
        """Note that sequences are packed by their lengths; whether all of them are.

        The order of lengths that came in says which row goes first and is no choice of rows. Rows
        that a mask has picked before are one.
        """
        if id(lengths) in self._masked:
            return False
        self._given -= self._orders
        return True

    def is_order(self, places: torch.Tensor) -> bool:
        """Whether a known tensor holds places in sorted order."""
        return id(places) in self._orders

    def make(
        self, func: Any, trait: Trait, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> torch.Tensor:
        """A call without tensors: its result is known when it is small."""
        device = kwargs.get("device")
        if device is None and "dtype" not in kwargs:
            out = func(*args, **kwargs)
            return self.know(out) if isinstance(out, torch.Tensor) else out
        kwargs = {**kwargs, "device": torch.device("meta")}
        kwargs.pop("pin_memory", None)
        if "generator" in kwargs:
            kwargs["generator"] = None
        out = func(*args, **kwargs)
        if out.numel() > KNOWN_ELEMENTS:
            return self._fill(func, args, kwargs, out)
        if trait.random or "empty" in func.name():
            return self.know(_filled(func, out))
        kwargs["device"] = torch.device("cpu")
        return self.know(func(*args, **kwargs))

    def make_like(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], shape: torch.Tensor
    ) -> torch.Tensor:
        """A constant made after a live tensor's shape: known when it is small."""
        if shape.numel() > KNOWN_ELEMENTS:
            return self._fill(func, args, kwargs, shape)
        name = func.name()
        if "zeros" in name or "ones" in name:
            return self.know(torch.full(shape.shape, int("ones" in name), dtype=shape.dtype))
        if "full" in name:
            value = kwargs.get("fill_value", args[-1])
            return self.know(torch.full(shape.shape, value, dtype=shape.dtype))
        return self.know(_filled(func, shape))

    def compute(
        self,
        func: Any,
        trait: Trait,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        originals: tuple[Any, ...],
        tensors: list[torch.Tensor],
    ) -> Any:
        """A call on known constants alone: run it for real.

        Args:
            func: The operator.
            trait: Of it.
            args: Its arguments, with the known constants in them.
            kwargs: Likewise.
            originals: The arguments as the forward passed them.
            tensors: The tensors among the arguments.
        """
        out = self._run(func, trait, args, kwargs, originals)
        for marked in (self._given, self._told, self._masked, self._orders):
            if not marked.isdisjoint(map(id, tensors)):
                _mark(out, marked)
        if not trait.bookkeeping and not self._given.isdisjoint(map(id, tensors)):
            self.calls_on_given += 1
        if trait.looks_up and any(tensor.dtype == torch.bool for tensor in tensors):
            _mark(out, self._masked)
        if trait.sorts:
            _mark(out[-1] if isinstance(out, tuple | list) else out, self._orders)
        return out

    def _run(
        self,
        func: Any,
        trait: Trait,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        originals: tuple[Any, ...],
    ) -> Any:
        if trait.guard is not None:
            args = trait.guard(args)
        if "device" in kwargs and kwargs["device"] is not None:
            kwargs = {**kwargs, "device": torch.device("cpu")}
        if trait.random:
            if trait.writes:
                return args[0].fill_(FILLER if args[0].is_floating_point() else 0)
            shape = plainly_on_meta(func, args, kwargs)
            return self._know_all(map_tensors(shape, lambda tensor: _filled(func, tensor)))
        if not (trait.view or trait.writes):
            shape = self._large(func, trait, args, kwargs)
            if shape is not None:
                return self.add(shape)
        out = func(*args, **kwargs)
        if trait.writes:
            return originals[trait.writes[0]] if trait.writes[0] < len(originals) else out
        if trait.view:
            for item in out if isinstance(out, tuple | list) else (out,):
                if item is not args[0]:  # as of `lift_fresh`, with which torch.Tensor([0.0]) ends
                    self._base[id(item)] = originals[0]
        return self._know_all(out)

    def _large(
        self, func: Any, trait: Trait, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> torch.Tensor | None:
        """The meta result of a call on constants that is too large to be known, or None."""
        if trait.stand_in is not None:
            return None
        try:
            out = run_on_meta(func, args, kwargs, view=trait.view, writes=trait.writes)
        except Exception:  # the shape depends on the values
            return None
        if not isinstance(out, torch.Tensor):
            return None
        spent = self._computed > MOST_KEPT_ELEMENTS
        if out.numel() > (SMALL_ELEMENTS if spent else MOST_KNOWN_ELEMENTS):
            return out
        self._computed += out.numel()
        return None

    def _know_all(self, out: Any) -> Any:
        if isinstance(out, torch.Tensor):
            return self.know(out)
        if isinstance(out, tuple | list):
            for item in out:
                self._know_all(item)
        return out


def _mark(out: Any, marked: set[int]) -> None:
    map_tensors(out, lambda item: marked.add(id(item)))


def _filled(func: Any, shape: torch.Tensor) -> torch.Tensor:
    """What a random or empty factory returns: always the same values."""
    name = func.name()
    if "randperm" in name:
        return torch.arange(shape.numel(), dtype=shape.dtype)
    random = shape.is_floating_point() and "empty" not in name
    return torch.full(shape.shape, FILLER if random else 0, dtype=shape.dtype)
