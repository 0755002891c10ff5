"""Records a forward on real tensors, for models that need values which meta tensors lack."""

from __future__ import annotations

from typing import Any

import torch

from nar_plugin.errors import TraceError
from nar_plugin.tracing.record import higher_order
from nar_plugin.tracing.record.kernels import run_on_meta
from nar_plugin.tracing.record.nested import is_taken_apart
from nar_plugin.tracing.record.recorder import EndlessLoop, Recorder
from nar_plugin.tracing.record.samples import Samples
from nar_plugin.tracing.record.stand_ins import STAND_INS
from nar_plugin.tracing.record.traits import trait_of

FRESH = STAND_INS["zeros_like"]
MOST_RECORDS = 50_000
MOST_BYTES = 1 << 30  # all results live until the graph is made


class RealRecorder(Recorder):  # type: ignore[no-untyped-call]
    """A recorder that runs every call as it is and tells constants by where they came from."""

    on_meta = False

    def __init__(
        self,
        data: list[torch.Tensor],
        samples: Samples | None = None,
        most_records: int = MOST_RECORDS,
    ) -> None:
        super().__init__(data, samples=samples)
        self._bytes = 0
        self._most_records = most_records

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one call and record it when it is live.

        Raises:
            TraceError: The results of the forward take more than `MOST_BYTES`.
            EndlessLoop: It made more than `most_records`.
        """
        kwargs = kwargs or {}
        if not hasattr(func, "_schema"):
            return higher_order.run(self, func, args, kwargs)
        if types and is_taken_apart(types):
            return NotImplemented
        trait = trait_of(func)
        if trait.instead is not None or (trait.composite and self.takes_apart()):
            return self._taken_apart(func, args, kwargs)
        tensors = _flat((*args, *kwargs.values()))
        if len(self.records) > self._most_records:
            raise EndlessLoop(f"the forward made over {self._most_records:,} calls and goes on")
        if not trait.view and not trait.writes:
            self._bytes += _bytes_of(func, args, kwargs)
        if self._bytes > MOST_BYTES:
            raise TraceError(f"its results take over {MOST_BYTES >> 30} GB")
        out = func(*args, **kwargs)
        if not tensors or trait.stand_in is FRESH:  # `zeros_like` depends on a shape alone
            self._keep.append(out)
            return out
        return self._follow(func, trait, args, kwargs, out, tensors, args)


def _bytes_of(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """What the result of a call will take, asked before it is made; 0 where nobody knows."""
    try:
        out = run_on_meta(func, args, kwargs)
    except Exception:
        return 0
    return sum(item.nbytes for item in _flat((out,)))


def _flat(items: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    for item in items:
        if isinstance(item, torch.Tensor):
            found.append(item)
        elif isinstance(item, list | tuple):
            found.extend(_flat(item))
    return found
