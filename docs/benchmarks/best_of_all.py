"""What whoever knew the best of six methods for each question would reach on the paper's split.

On the validation side of seed 0, where settings are chosen: each of six methods ranks the
candidates for every question, and the best of the six counts, for each measure apart.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nar_plugin.train.corpus import read_corpus
from nar_plugin.train.methods import METHODS
from nar_plugin.train.metrics import density_offsets, nearest
from nar_plugin.train.splits import split_corpus

NAMES = ("ops", "widths", "wl", "wl-attributes", "wl-widths", "default")
CUT = 20


def main() -> None:
    """Print MRR, MAP and NDCG at 20 of each method, and of the best for each question."""
    items = [item for item in read_corpus(Path("nar_plugin/data/corpus")) if item.is_searched]
    split = split_corpus(items, "paper", 0, validation=True)
    sizes = np.bincount(split.labels[split.candidates])
    ideal = np.minimum(sizes[split.labels[split.queries]] - 1, CUT)
    found = {}
    for name in NAMES:
        with tempfile.TemporaryDirectory() as folder:
            method = METHODS[name].make(0, Path(folder))
            method.fit(
                [items[graph] for graph in split.graphs[split.train]], split.labels[split.train]
            )
            vectors = method.embed(items)
        offsets = None
        if METHODS[name].corrected:
            rows = np.unique(split.graphs[split.candidates])
            offsets = density_offsets(vectors, rows)[split.graphs]
        top = nearest(vectors[split.graphs], split.queries, split.candidates, CUT, offsets)
        right = (top >= 0) & (split.labels[top] == split.labels[split.queries][:, None])
        found[name] = measures(right.astype(np.float64), ideal)
        show(name, found[name])
    show("the best for each question", np.max(list(found.values()), axis=0))
    first = np.max([of[0] for of in found.values()], axis=0) < 1
    print(f"{first.sum()} of {len(first)} questions are answered first by none of them")


def measures(right: NDArray[np.float64], ideal: NDArray[np.int64]) -> NDArray[np.float64]:
    """float64[3, q]: reciprocal rank, average precision and NDCG of each question.

    Args:
        right: float64[q, k], 1 where the candidate of a rank is relevant.
        ideal: int64[q], how many of the first k can be.
    """
    ranks = np.arange(1, right.shape[1] + 1)
    gains = 1 / np.log2(ranks + 1)
    return np.stack(
        [
            (right / ranks).max(axis=1),
            (right * right.cumsum(axis=1) / ranks).sum(axis=1) / ideal,
            (right @ gains) / gains.cumsum()[ideal - 1],
        ]
    )


def show(name: str, found: NDArray[np.float64]) -> None:
    """Print the means of the three measures."""
    print(f"{name:28s}" + "".join(f"{value:8.4f}" for value in found.mean(axis=1)))


if __name__ == "__main__":
    main()
