"""The paper's method among the methods of the tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch

from nar_plugin.encoder.paper.cutting import cut
from nar_plugin.encoder.paper.model import PaperEncoder, embed
from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.corpus.splits import IntArray, family_numbers
from nar_plugin.train.measure.metrics import Vectors
from nar_plugin.train.paper.ablations import Recipe
from nar_plugin.train.paper.nas import darts_corpus
from nar_plugin.train.paper.networks import PaperNetworks
from nar_plugin.train.paper.training import train


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
        self._networks: PaperNetworks | None = None

    def fit(self, items: Sequence[CorpusGraph], labels: IntArray) -> None:
        """Train both stages, first on the search space where the recipe wants it."""
        mined = self._recipe.splitting == "motifs"
        first = darts_corpus(self._recipe.nas, seed=0, mined=mined) if self._recipe.nas else []
        words = sorted({op.kind for item in (*items, *first) for op in item.graph.ops})
        self._kinds = {word: number for number, word in enumerate(words, start=1)}
        start = None
        if first:
            start = self._trained(first, family_numbers(first), self._folder / "nas", None)
        self._networks = self._trained(items, labels, self._folder, start)
        self.parameters = sum(part.numel() for part in self.encoder().parameters())

    def embed(self, items: Sequence[CorpusGraph]) -> Vectors:
        """float32[n, width]: the rows of all graphs."""
        if self._networks is None:
            raise RuntimeError("fit() comes before embed().")
        data = cut(items, self._kinds, self._recipe, seed=self._seed)
        networks = self._networks
        rows: Vectors = embed(networks.motifs, networks.graphs, data, self._recipe).numpy()
        return rows

    def encoder(self) -> PaperEncoder:
        """What was trained, as it answers."""
        if self._networks is None:
            raise RuntimeError("fit() comes before encoder().")
        return self._networks.encoder(list(self._kinds), self._recipe, self._seed).cpu()

    def _trained(
        self,
        items: Sequence[CorpusGraph],
        labels: IntArray,
        folder: Path,
        start: PaperNetworks | None,
    ) -> PaperNetworks:
        families, numbers = np.unique(labels, return_inverse=True)
        torch.manual_seed(self._seed)
        networks = PaperNetworks(len(self._kinds), len(families), self._recipe).to(self._device)
        if start is not None:
            networks.initialise_from(start)
        data = cut(items, self._kinds, self._recipe, seed=self._seed, hops=self._recipe.hops)
        stage_one = folder / "motifs.pt"
        if start is None:  # else it begins where all of another training has led
            stage_one = self._folder.parent / f"motifs-{self._stage_one_key(items)}.pt"
        targets = torch.from_numpy(numbers)
        self.earlier += train(networks, data, targets, self._recipe, self._seed, folder, stage_one)
        return networks

    def _stage_one_key(self, items: Sequence[CorpusGraph]) -> str:
        """Names what stage one depends on: methods that differ in stage two share it."""
        second = {"dropout", "objective", "nas", "tuned"}
        settings = {
            name: value
            for name, value in asdict(self._recipe).items()
            if name not in second and not name.startswith("graph_")
        }
        graphs = [item.fingerprint for item in items]
        text = json.dumps([settings, self._seed, sorted(self._kinds), graphs])
        return sha256(text.encode()).hexdigest()[:12]
