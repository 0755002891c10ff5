"""Where the steps of `nar dev bench gpu` run: on the GPU, or on the CPU to rehearse them."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import torch

from nar_plugin.bench.index import own_megabytes
from nar_plugin.index.search import backends


class Skipped(RuntimeError):
    """A step cannot run here; the text says what is missing."""


@dataclass(frozen=True)
class Place:
    """Where a step runs.

    Attributes:
        rehearsal: Whether everything is tiny and on the CPU.
    """

    rehearsal: bool

    @classmethod
    def of_environment(cls) -> Place:
        """Rehearse where `NAR_GPU_REHEARSAL` is 1."""
        return cls(os.environ.get("NAR_GPU_REHEARSAL") == "1")

    def device(self) -> torch.device:
        """The GPU, or the CPU in a rehearsal; called in children alone.

        Raises:
            Skipped: There is no CUDA device.
        """
        if self.rehearsal:
            return torch.device("cpu")
        if not torch.cuda.is_available():
            raise Skipped(f"no CUDA device, or torch {torch.__version__} cannot use it")
        return torch.device("cuda")

    def size(self, real: int, tiny: int) -> int:
        """How many of something."""
        return tiny if self.rehearsal else real

    def wait(self) -> None:
        """Until the GPU, if there is one, has done what it was told."""
        if not self.rehearsal and torch.cuda.is_available():
            torch.cuda.synchronize()

    def milliseconds(self, run: Callable[[], object], times: int) -> float:
        """The median of some runs, each until its end, after one that does not count."""
        spent = []
        for _ in range(times + 1):
            self.wait()
            started = time.perf_counter()
            run()
            self.wait()
            spent.append(1000 * (time.perf_counter() - started))
        return statistics.median(spent[1:])

    def held_mb(self) -> float:
        """Megabytes of the GPU that are in use, FAISS's too; of this process in a rehearsal."""
        if self.rehearsal:
            return own_megabytes()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        free, total = torch.cuda.mem_get_info()
        return (total - free) / 1e6

    @contextmanager
    def every_index_on_it(self) -> Iterator[None]:
        """Let an index of any size be searched on the GPU, as a large one is."""
        kept = backends.on_gpu, backends.torch_on_gpu
        backends.on_gpu = lambda rows: True
        if self.rehearsal:
            backends.torch_on_gpu = partial(backends.TorchCandidates, device="cpu")
        try:
            yield
        finally:
            backends.on_gpu, backends.torch_on_gpu = kept
