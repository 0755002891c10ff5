"""The paper's method among the methods of the tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch

from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.corpus.splits import IntArray, family_numbers
from nar_plugin.train.measure.metrics import Vectors
from nar_plugin.train.paper.ablations import Recipe
from nar_plugin.train.paper.cutting import cut
from nar_plugin.train.paper.graph_convolutions import PaperEncoder
from nar_plugin.train.paper.nas import darts_corpus
from nar_plugin.train.paper.training import embed, train


class PaperMethod:
    """The recipe `paper` and its ablations.

    Args:
        recipe: The settings.
        seed: Of all random choices.
        folder: Receives the state of an interrupted training.
        device: `cpu`, `cuda` or None for CUDA where there is one.
    """

    parameters = 0
    earlier = 0.0

    def __init__(
        self, recipe: Recipe, seed: int, folder: Path, *, device: str | None = None
    ) -> None:
        self._recipe, self._seed, self._folder = recipe, seed, folder
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._kinds: dict[str, int] = {}
        self._encoder: PaperEncoder | None = None

    def fit(self, items: Sequence[CorpusGraph], labels: IntArray) -> None:
        """Train both stages, first on the search space where the recipe wants it."""
        first = darts_corpus(self._recipe.nas, seed=0) if self._recipe.nas else []
        words = sorted({op.kind for item in (*items, *first) for op in item.graph.ops})
        self._kinds = {word: number for number, word in enumerate(words, start=1)}
        start = None
        if first:
            start = self._trained(first, family_numbers(first), self._folder / "nas", None)
        self._encoder = self._trained(items, labels, self._folder, start)
        self.parameters = self._encoder.inference_parameters

    def embed(self, items: Sequence[CorpusGraph]) -> Vectors:
        """float32[n, width]: the rows of all graphs."""
        if self._encoder is None:
            raise RuntimeError("fit() comes before embed().")
        data = cut(items, self._kinds, self._recipe, seed=self._seed)
        rows: Vectors = embed(self._encoder, data, self._recipe).numpy()
        return rows

    def _trained(
        self,
        items: Sequence[CorpusGraph],
        labels: IntArray,
        folder: Path,
        start: PaperEncoder | None,
    ) -> PaperEncoder:
        families, numbers = np.unique(labels, return_inverse=True)
        torch.manual_seed(self._seed)
        encoder = PaperEncoder(len(self._kinds), len(families), self._recipe).to(self._device)
        if start is not None:
            encoder.initialise_from(start)
        data = cut(items, self._kinds, self._recipe, seed=self._seed, contexts=True)
        stage_one = folder / "motifs.pt"
        if start is None:  # else it begins where all of another training has led
            stage_one = self._folder.parent / f"motifs-{self._stage_one_key(items)}.pt"
        targets = torch.from_numpy(numbers)
        self.earlier += train(encoder, data, targets, self._recipe, self._seed, folder, stage_one)
        return encoder

    def _stage_one_key(self, items: Sequence[CorpusGraph]) -> str:
        """Names what stage one depends on: methods that differ in stage two share it."""
        second = ("graph_epochs", "graph_batch", "graph_rate", "dropout", "objective", "nas")
        settings = {
            name: value for name, value in asdict(self._recipe).items() if name not in second
        }
        graphs = [item.fingerprint for item in items]
        text = json.dumps([settings, self._seed, sorted(self._kinds), graphs])
        return sha256(text.encode()).hexdigest()[:12]
