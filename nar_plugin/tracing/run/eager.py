"""Functions that `torch.compile` has wrapped run as they were written while a forward is followed.

Compiled under a dispatch mode, a function's graph would hold the recorder's own frames: minutes,
and gigabytes, where many answers are remembered.
"""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from types import TracebackType
from typing import Any

import torch


class Eagerly:
    """The stance `force_eager` while at least one thread is inside; then the one before.

    There is one stance for all threads, so two that each set and reset it could leave it set.
    """

    _lock = threading.Lock()
    _inside = 0
    _stance: Any = None

    def __enter__(self) -> None:
        """Set the stance; without dynamo nothing is compiled, and it takes a second to import."""
        with self._lock:
            Eagerly._inside += 1
            if self._stance is None and "torch._dynamo" in sys.modules:
                with suppress(RuntimeError):  # the trace itself is asked for by a compiled function
                    Eagerly._stance = torch.compiler.set_stance("force_eager")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Reset it, when nobody else is inside."""
        with self._lock:
            Eagerly._inside -= 1
            if self._inside == 0 and self._stance is not None:
                self._stance.__exit__(kind, error, traceback)
                Eagerly._stance = None
