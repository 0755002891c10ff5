"""What a trace costs: beside the bare forward, beside its peers, over the number of operations."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

from nar_plugin.bench.query import bare_forward
from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.references import resolve
from nar_plugin.tracing import trace
from nar_plugin.tracing.run import inputs as example
from nar_plugin.tracing.run.forward import recorded_on_meta
from nar_plugin.train.corpus.build import list_architectures


@dataclass(frozen=True)
class Cost:
    """Milliseconds for one model, in one thread, warm, the least of several runs.

    Attributes:
        model: Its reference.
        ops: Operations of its canonical graph.
        bare: Its own forward on the meta device.
        recorder: The twin and the recorded forward.
        trace: All of `trace()`, guesses, canonical form and fingerprint included.
    """

    model: str
    ops: int
    bare: float
    recorder: float
    trace: float


@dataclass(frozen=True)
class Peers:
    """Milliseconds for one model with weights, in one thread, the least of several runs."""

    model: str
    trace: float
    torch_export: float
    torchlens: float


def trace_cost(reference: str, repeats: int) -> Cost:
    """Time a trace and its parts.

    Args:
        reference: A model reference.
        repeats: Runs of each part.

    Raises:
        TraceError: The model does not trace.
    """
    model = resolve(reference).eval()
    graph = trace(model)
    guess = _guess_of(model, graph.inputs)

    def record() -> None:
        with recorded_on_meta(model, guess):
            pass

    with one_thread():
        return Cost(
            reference,
            len(graph),
            _least(bare_forward(model), repeats),
            _least(record, repeats),
            _least(lambda: trace(model).fingerprint, repeats),
        )


def peer_costs(repeats: int) -> list[Peers]:
    """Time `trace`, `torch.export` and TorchLens on the models of `peer_models` with weights.

    TorchLens comes last for all of them: once it has run, each function of torch that it follows
    stays wrapped in one of its own, which slows whatever runs behind it.

    Args:
        repeats: Runs of each.

    Raises:
        ImportError: TorchLens is not installed; the extra `dev` has it.
    """
    import torchlens

    models = {name: (make().eval(), inputs) for name, (make, inputs) in peer_models().items()}

    def least(run: Callable[[nn.Module, tuple[Any, ...]], Any]) -> list[float]:
        return [_least(partial(run, *item), repeats) for item in models.values()]

    with one_thread(), torch.no_grad():
        ours = least(lambda model, inputs: trace(model, inputs).fingerprint)
        theirs = least(torch.export.export), least(torchlens.trace)
    return [Peers(*row) for row in zip(models, ours, *theirs, strict=True)]


def peer_models() -> dict[str, tuple[Callable[[], nn.Module], tuple[Any, ...]]]:
    """The four models on which peers are timed, with their inputs.

    Raises:
        ImportError: torchvision or transformers is not installed.
    """
    import torchvision
    from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel

    image = (torch.rand(1, 3, 224, 224),)
    ids = (torch.arange(64)[None],)
    return {
        "ResNet-18": (torchvision.models.resnet18, image),
        "ViT-B/16": (torchvision.models.vit_b_16, image),
        "BERT-base": (lambda: BertModel(BertConfig()), ids),
        "GPT-2": (lambda: GPT2LMHeadModel(GPT2Config(use_cache=False)), ids),
    }


def spread_names(count: int) -> Iterator[str]:
    """Names for `trace_cost`, evenly spread over all that plugins list; more than `count`."""
    names = [item.name for item in list_architectures()]
    yield from names[:: max(1, len(names) // (2 * count))]


def chain_cost(blocks: int, repeats: int) -> Cost:
    """Time a chain of blocks of four operations each, for the growth with their number."""
    model = nn.Sequential()
    with torch.device("meta"):
        for _ in range(blocks):
            model.append(_Block())
    guess = ExampleInputs((torch.empty(1, 16, 32, device="meta"),))

    def record() -> None:
        with recorded_on_meta(model, guess):
            pass

    with one_thread():
        return Cost(
            f"{blocks} blocks",
            len(trace(model, guess)),
            _least(_forward(model, guess, "meta"), repeats),
            _least(record, repeats),
            _least(lambda: trace(model, guess).fingerprint, repeats),
        )


class _Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(32)
        self.mix = nn.Linear(32, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.relu(self.mix(self.norm(x)))


def memory_cost(reference: str) -> tuple[float, float]:
    """Megabytes that a process holds with the built model, and at the peak of its trace.

    A process of its own, since a peak is never forgotten.
    """
    answer = subprocess.run(
        [sys.executable, "-c", _MEMORY, reference], capture_output=True, text=True, check=True
    )
    before, peak = json.loads(answer.stdout.splitlines()[-1])
    return before, peak


_MEMORY = """
import json, resource, sys
from nar_plugin import isolation
from nar_plugin.references import resolve
from nar_plugin.tracing import trace
isolation.stay()
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
model = resolve(sys.argv[1])
before = peak()
trace(model).fingerprint
print(json.dumps([before, peak()]))
"""


def _guess_of(model: nn.Module, text: str) -> ExampleInputs:
    """The guess that a trace took, by its description."""
    return next(guess for guess, _ in example.guesses(model) if example.describe(guess) == text)


def _forward(model: nn.Module, inputs: ExampleInputs, device: str) -> Callable[[], Any]:
    args = example.changed(inputs.args, lambda tensor: tensor.to(device))
    kwargs = example.changed(dict(inputs.kwargs), lambda tensor: tensor.to(device))

    def forward() -> Any:
        with torch.no_grad():
            return model(*args, **kwargs)

    return forward


def _least(run: Callable[[], Any], repeats: int) -> float:
    run()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        times.append((time.perf_counter() - started) * 1000)
    return min(times)


def median_ratio(costs: list[Cost], part: str) -> float:
    """The median of a part's time over the bare forward's."""
    ratios: list[float] = [getattr(cost, part) / cost.bare for cost in costs]
    return statistics.median(ratios)


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch with a single thread inside the block."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
