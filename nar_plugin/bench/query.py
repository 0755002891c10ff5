"""What one query costs, stage by stage."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from nar_plugin import api
from nar_plugin.encoder import load_encoder
from nar_plugin.index import EMBEDDED
from nar_plugin.mining import mine
from nar_plugin.references import resolve
from nar_plugin.tracing import trace
from nar_plugin.tracing.run import inputs

STAGES = (
    "bare_meta_forward",
    "trace",
    "trace_to_bare",
    "mine",
    "encode",
    "search",
    "find_similar",
)


def time_query(reference: str, repeats: int) -> dict[str, float | str]:
    """Median milliseconds of each stage for one model, in one thread, warm.

    Args:
        reference: A model reference.
        repeats: Runs of each stage.

    Returns:
        The reference under `model`, the ratio under `trace_to_bare`, and a time for each other
        entry of `STAGES`.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        model = resolve(reference).eval()
        index = api.load_index()
        encoder = load_encoder(EMBEDDED)
        graph = trace(model)
        macro = mine(graph)
        vector = encoder.encode([macro])[0].numpy()
        result: dict[str, float | str] = {"model": reference}
        result["bare_meta_forward"] = _median(bare_forward(model), repeats)
        result["trace"] = _median(lambda: trace(model).fingerprint, repeats)
        result["trace_to_bare"] = float(result["trace"]) / float(result["bare_meta_forward"])
        result["mine"] = _median(lambda: mine(graph), repeats)
        result["encode"] = _median(lambda: encoder.encode([macro]), repeats)
        result["search"] = _median(lambda: index.search(vector, 10), repeats)
        result["find_similar"] = _median(lambda: api.find_similar(model), repeats)
        return result
    finally:
        torch.set_num_threads(threads)


def bare_forward(model: torch.nn.Module) -> Callable[[], Any]:
    """The model's own forward on the meta device, with the first guess that it takes there.

    A trace can take an earlier guess: it answers questions about values, which meta tensors cannot.
    """
    for guess, _ in inputs.guesses(model):
        args = [_moved(item) for item in guess.args]
        kwargs = {key: _moved(item) for key, item in guess.kwargs.items()}

        def forward(args: Any = args, kwargs: Any = kwargs) -> Any:
            with torch.no_grad():
                return model(*args, **kwargs)

        try:
            forward()
        except Exception:  # the next guess, as the tracer does
            continue
        return forward
    return lambda: None


def _moved(item: Any) -> Any:
    return item.to("meta") if isinstance(item, torch.Tensor) else item


def _median(run: Callable[[], Any], repeats: int) -> float:
    run()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)
