"""Flat and approximate search on a GPU: one query, a thousand at once, against its bandwidth.

The vectors are made on the GPU, with the mean and covariance of the index that answers, so that ten
million take seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from nar_plugin.bench.gpu_place import Place, Skipped
from nar_plugin.bench.index import spectrum
from nar_plugin.index.search.backends import FAISS_ERRORS, flat_on_gpu

SIZES = {15_000: 25.0, 1_000_000: 40.0, 10_000_000: 90.0}  # seconds that each may take
K, PROPOSED, BATCH = 10, 26, 1000  # 16 rows more than wanted, as the backends propose
_BLOCK = 1 << 17  # rows that are made, or multiplied by a batch of queries, at once

Found = tuple[np.ndarray, np.ndarray]  # scores and rows, [m, PROPOSED]


class Search(Protocol):
    """Proposes rows for queries that come from the host, and are answered there."""

    def __call__(self, queries: np.ndarray) -> Found:
        """The best rows of each query.

        Shapes:
            float32[m, dim]; float32 and int64[m, PROPOSED].
        """


def step(kind: str, rows: int) -> Callable[[Place], dict[str, Any]]:
    """The step that measures one kind of search over so many rows."""

    def run(place: Place) -> dict[str, Any]:
        return measure_search(place, kind, place.size(rows, 2000))

    return run


def measure_search(place: Place, kind: str, rows: int) -> dict[str, Any]:
    """Build one kind of search and ask it.

    Returns:
        `rows`, `p50_ms` of one query, `batch_ms` of a thousand at once, `times_cheaper` a query of
        the batch is, `read_gb_s` of one query, and its share `of_bandwidth` of a copy, which reads
        and writes; `recall` at 10 against float32 over all rows.

    Raises:
        Skipped: The GPU or the library is missing, or its memory is too small.
    """
    device = place.device()
    if not place.rehearsal:
        free = torch.cuda.mem_get_info()[0]
        wanted = rows * 1024 * (1 if kind == "torch" else 2.2) + 3e9
        if free < wanted:
            raise Skipped(
                f"{wanted / 1e9:.0f} GB of the GPU's memory wanted, {free / 1e9:.0f} free"
            )
    vectors = made(rows, device, seed=0)
    search = KINDS[kind](vectors, place)
    batch = place.size(BATCH, 20)
    asked = made(batch, device, seed=1).float().cpu().numpy()
    turns = iter(range(1 << 30))
    one = place.milliseconds(
        lambda: search(asked[(at := next(turns) % batch) : at + 1]), place.size(200, 3)
    )
    many = place.milliseconds(lambda: search(asked), place.size(5, 1))
    gb_s = rows * vectors.shape[1] * 2 / one / 1e6
    some = asked[: place.size(50, 5)]
    return {
        "rows": rows,
        "p50_ms": one,
        "batch_ms": many,
        "times_cheaper": one * batch / many,
        "read_gb_s": gb_s,
        "of_bandwidth": gb_s / bandwidth(place),
        "recall": recall(vectors, some, search(some)[1]),
    }


def bandwidth(place: Place) -> float:
    """GB a second that a copy from the device to itself reads and writes."""
    size = place.size(1 << 30, 1 << 22)
    source = torch.ones(size, dtype=torch.uint8, device=place.device())
    target = torch.empty_like(source)
    return 2 * size / place.milliseconds(lambda: target.copy_(source), 10) / 1e6


def made(rows: int, device: torch.device, *, seed: int) -> Tensor:
    """float16[rows, dim] on the device: unit vectors that spread as the index's do."""
    mean, spread = (torch.from_numpy(part).to(device) for part in spectrum())
    random = torch.Generator(device).manual_seed(seed)
    vectors = torch.empty(rows, len(mean), dtype=torch.float16, device=device)
    for part in torch.split(vectors, _BLOCK):
        normal = torch.randn(part.shape, device=device, generator=random)
        part.copy_(torch.nn.functional.normalize(normal @ spread.T + mean, dim=1))
    return vectors


def torch_flat(vectors: Tensor, place: Place) -> Search:
    """Every row by torch, in half precision."""

    def search(queries: np.ndarray) -> Found:
        asked = torch.from_numpy(queries).to(vectors.device, vectors.dtype)
        if len(asked) == 1:
            best = torch.mv(vectors, asked[0])[None].topk(PROPOSED)
            return best.values.float().cpu().numpy(), best.indices.cpu().numpy()
        scores, rows = [], []
        for number, part in enumerate(torch.split(vectors, _BLOCK)):
            found = (asked @ part.T).topk(min(PROPOSED, len(part)))
            scores.append(found.values)
            rows.append(found.indices + number * _BLOCK)
        best = torch.cat(scores, 1).topk(PROPOSED)
        chosen = torch.cat(rows, 1).gather(1, best.indices)
        return best.values.float().cpu().numpy(), chosen.cpu().numpy()

    return search


def faiss_flat(vectors: Tensor, place: Place) -> Search:
    """Every row by FAISS, in half precision; in a rehearsal by its index on the CPU."""
    dim = vectors.shape[1]
    try:
        if place.rehearsal:
            import faiss

            half = faiss.ScalarQuantizer.QT_fp16
            index: Any = faiss.IndexScalarQuantizer(dim, half, faiss.METRIC_INNER_PRODUCT)
        else:
            index = flat_on_gpu(dim)
    except FAISS_ERRORS as error:
        raise Skipped(f"FAISS: {error}") from error
    for part in torch.split(vectors, _BLOCK):
        index.add(part.float().cpu().numpy())

    def search(queries: np.ndarray) -> Found:
        scores, rows = index.search(queries, PROPOSED)
        return scores, rows

    return search


def cuvs_cagra(vectors: Tensor, place: Place) -> Search:
    """A graph of neighbours by cuVS; in a rehearsal all but its own calls."""
    if place.rehearsal:
        return torch_flat(vectors, place)
    try:
        from cuvs.neighbors import cagra
    except (ImportError, OSError) as error:
        raise Skipped(f"cuVS is not installed: {error}") from error
    index = cagra.build(cagra.IndexParams(metric="inner_product"), vectors)
    how = cagra.SearchParams(itopk_size=128)

    def search(queries: np.ndarray) -> Found:
        asked = torch.from_numpy(queries).to(vectors.device, vectors.dtype)
        scores, rows = cagra.search(how, index, asked, PROPOSED)
        return (
            torch.as_tensor(scores, device=vectors.device).cpu().numpy(),
            torch.as_tensor(rows, device=vectors.device).long().cpu().numpy(),
        )

    return search


KINDS: dict[str, Callable[[Tensor, Place], Search]] = {
    "torch": torch_flat,
    "faiss": faiss_flat,
    "cagra": cuvs_cagra,
}


def recall(vectors: Tensor, queries: np.ndarray, rows: np.ndarray) -> float:
    """The share of the `K` nearest by float32 that are among the proposed rows."""
    asked = torch.from_numpy(queries).to(vectors.device)
    scores, numbers = [], []
    for number, part in enumerate(torch.split(vectors, _BLOCK)):
        best = (asked @ part.float().T).topk(min(K, len(part)))
        scores.append(best.values)
        numbers.append(best.indices + number * _BLOCK)
    chosen = torch.cat(scores, 1).topk(K).indices
    true = torch.cat(numbers, 1).gather(1, chosen).cpu().numpy()
    hits = [
        len(set(one) & set(other)) for one, other in zip(true.tolist(), rows.tolist(), strict=True)
    ]
    return sum(hits) / true.size
