"""The split `triples`: a design is nearer to one than to another, as people who know them say.

`triples.toml` has the triples, each with a reason, and pairs of designs that are near or far:

    [[triple]]
    id = "resnet-01"
    a = "timm:resnet50"      # is nearer to b than to c
    b = "timm:seresnet50"
    c = "torchvision:vgg16"
    task = "image-classification"
    reason = "the same bottlenecks in the same order, with a gate in each"
    half = "dev"             # or "test"

    [[pair]]
    a = "timm:vit_base_patch16_224"
    b = "timm:deit_base_patch16_224"
    near = true
    half = "dev"

Methods are trained on the whole corpus: they learn from families, and no family says an order.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.measure.metrics import IntArray, NothingToAsk
from nar_plugin.train.measure.unseen.scoring import Asked

_KEYS = ("a", "b", "c")


@dataclass(frozen=True)
class Triples:
    """The triples and pairs of one half, as numbers of graphs.

    Attributes:
        ids: Of the t triples.
        tasks: Of the triples.
        graphs: int64[t, 3]: a, what is nearer, what is farther.
        near: int64[p, 2], pairs that are near.
        far: int64[r, 2], pairs that are far.
    """

    ids: tuple[str, ...]
    tasks: tuple[str, ...]
    graphs: IntArray
    near: IntArray
    far: IntArray


@dataclass(frozen=True)
class TripleQuality:
    """How often the nearer design is said to be nearer, and how alike pairs are said to be.

    Attributes:
        triples: How many there are.
        right: Share whose nearer design has the greater likeness; a tie is wrong.
        by_task: The same by task.
        wrong: The ids of the others.
        near: Median likeness of the near pairs: of the pairs, or where there are none of a and b.
        far: Median likeness of the far pairs: of the pairs, or where there are none of a and c.
    """

    triples: int
    right: float
    by_task: dict[str, float]
    wrong: list[str]
    near: float
    far: float


def triples_table() -> str:
    """The content of `triples.toml`."""
    return (
        files("nar_plugin.train.measure.unseen")
        .joinpath("triples.toml")
        .read_text(encoding="utf-8")
    )


def read_triples(
    items: Sequence[CorpusGraph], *, validation: bool = False, text: str | None = None
) -> Triples:
    """The half that tests, or the half for development.

    Args:
        items: The graphs of the corpus.
        validation: Whether to take the half for development.
        text: TOML in the place of `triples.toml`.

    Raises:
        NothingToAsk: A name is not in the corpus.
    """
    found = tomllib.loads(triples_table() if text is None else text)
    places = {str(row["name"]): number for number, item in enumerate(items) for row in item.names}

    def place(name: str) -> int:
        if name not in places:
            raise NothingToAsk(f"triples.toml names {name!r}, which is not in the corpus.")
        return places[name]

    def rows(entries: Sequence[dict[str, str]], keys: Sequence[str]) -> IntArray:
        numbers = [[place(entry[key]) for key in keys] for entry in entries]
        return np.array(numbers, dtype=np.int64).reshape(-1, len(keys))

    half = "dev" if validation else "test"
    triples = [entry for entry in found.get("triple", ()) if entry["half"] == half]
    pairs = [entry for entry in found.get("pair", ()) if entry.get("half", half) == half]
    graphs = rows(triples, _KEYS)
    near = rows([pair for pair in pairs if pair["near"]], _KEYS[:2])
    far = rows([pair for pair in pairs if not pair["near"]], _KEYS[:2])
    return Triples(
        tuple(entry["id"] for entry in triples),
        tuple(entry["task"] for entry in triples),
        graphs,
        near,
        far,
    )


def triple_quality(scores: Asked, triples: Triples) -> TripleQuality:
    """Ask for the likeness of a and b and of a and c of each triple, and of the pairs."""
    nearer = scores.pairs(triples.graphs[:, 0], triples.graphs[:, 1])
    farther = scores.pairs(triples.graphs[:, 0], triples.graphs[:, 2])
    right = nearer > farther
    tasks = np.array(triples.tasks)
    near = scores.pairs(*triples.near.T) if len(triples.near) else nearer
    far = scores.pairs(*triples.far.T) if len(triples.far) else farther
    return TripleQuality(
        len(right),
        float(right.mean()) if len(right) else 0.0,
        {task: float(right[tasks == task].mean()) for task in sorted(set(triples.tasks))},
        [name for name, good in zip(triples.ids, right.tolist(), strict=True) if not good],
        float(np.median(near)) if len(near) else 0.0,
        float(np.median(far)) if len(far) else 0.0,
    )
