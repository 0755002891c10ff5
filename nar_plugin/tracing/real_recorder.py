"""Records a forward on real tensors, for models that need values which meta tensors lack."""

from __future__ import annotations

from typing import Any

import torch

from nar_plugin.errors import TraceError
from nar_plugin.tracing import higher_order
from nar_plugin.tracing.recorder import EndlessLoop, Recorder, trait_of
from nar_plugin.tracing.stand_ins import STAND_INS

FRESH = STAND_INS["zeros_like"]
MOST_CALLS = 100_000
MOST_BYTES = 4 << 30  # all results live until the graph is made


class RealRecorder(Recorder):  # type: ignore[no-untyped-call]
    """A recorder that runs every call as it is and tells constants by where they came from."""

    on_meta = False

    def __init__(self, data: list[torch.Tensor]) -> None:
        super().__init__(data)
        self._bytes = 0
        self._calls = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one call and record it when it is live.

        Raises:
            TraceError: The results of the forward take more than `MOST_BYTES`.
            EndlessLoop: It made more than `MOST_CALLS`.
        """
        kwargs = kwargs or {}
        if not hasattr(func, "_schema"):
            return higher_order.run(self, func, args, kwargs)
        trait = trait_of(func)
        tensors = _flat((*args, *kwargs.values()))
        out = func(*args, **kwargs)
        if not trait.view:
            self._bytes += sum(item.nbytes for item in _flat((out,)))
        self._calls += 1
        if self._calls > MOST_CALLS:
            raise EndlessLoop(f"the forward made over {MOST_CALLS:,} calls and goes on")
        if self._bytes > MOST_BYTES:
            raise TraceError(f"its results take over {MOST_BYTES >> 30} GB")
        if not tensors or trait.stand_in is FRESH:  # `zeros_like` depends on a shape alone
            self._keep.append(out)
            return out
        return self._follow(func, trait, args, kwargs, out, tensors, args)


def _flat(items: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    for item in items:
        if isinstance(item, torch.Tensor):
            found.append(item)
        elif isinstance(item, list | tuple):
            found.extend(_flat(item))
    return found
