"""GCN and GAT on whole graphs: the paper's baselines (Table 1), without motifs.

Kipf & Welling, Semi-Supervised Classification with Graph Convolutional Networks (ICLR 2017), and
Velickovic et al., Graph Attention Networks (ICLR 2018; through torch_geometric). They have the loss
and the recipe of the paper's second stage (Table 5, row "Baselines"; section 4.2 asks for the same
settings). The heads of GAT are not stated: four.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GATConv

from nar_plugin.encoder.paper.folding import Folded, FoldedBatch, mixed
from nar_plugin.encoder.paper.graph_convolutions import Convolutions, operation_rows
from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.corpus.splits import IntArray
from nar_plugin.train.measure.metrics import Vectors
from nar_plugin.train.paper.ablations import Recipe
from nar_plugin.train.paper.training import State, learn_families

_HEADS = 4
_CHUNK = 512  # graphs that are embedded at once


class Attentions(nn.Module):
    """Graph attention layers with ELU between them, and the mean over each graph.

    Args:
        wide_in: Width of the input.
        recipe: `width`, `layers` and `dropout`.

    Shapes:
        features: float32[n, wide_in], one row for each row of `batch.inputs`;
        result: float32[graphs, width].
    """

    def __init__(self, wide_in: int, recipe: Recipe) -> None:
        super().__init__()
        widths = [wide_in] + [recipe.width] * (recipe.layers - 1)
        self.layers = nn.ModuleList(
            # The folded edges hold the loops already.
            GATConv(width, recipe.width // _HEADS, heads=_HEADS, add_self_loops=False)
            for width in widths
        )
        self.dropout = nn.Dropout(recipe.dropout)

    def forward(self, features: Tensor, batch: FoldedBatch) -> Tensor:
        """Embed each graph."""
        hidden = features
        for number, (layer, mix) in enumerate(zip(self.layers, batch.mixes, strict=True)):
            if number:
                hidden = self.dropout(functional.elu(hidden))
            ends = torch.cat([mix.starts, mix.starts.new_tensor([len(mix.sources)])])
            rows = torch.arange(len(mix.starts), device=ends.device)
            edges = torch.stack([mix.sources, rows.repeat_interleave(ends.diff())])
            hidden = layer((hidden, hidden[mix.own]), edges)  # [rows of the level, width]
        return mixed(hidden, batch.readout)


class WholeGraphEncoder(nn.Module):
    """Graph layers over all operations, then their mean.

    Args:
        convolution: `gcn` or `gat`.
        kinds: The number of known kinds of operations.
        families: The number of families that the classifier tells apart.
        recipe: `width`, `layers`, `dropout` and `operations`.

    Shapes:
        result: float32[graphs, width].
    """

    def __init__(
        self, convolution: Literal["gcn", "gat"], kinds: int, families: int, recipe: Recipe
    ) -> None:
        super().__init__()
        self.operations = operation_rows(kinds, recipe)
        wide_in = recipe.width if recipe.operations == "learned" else kinds
        self.graphs = (
            Convolutions(wide_in, recipe, recipe.dropout)
            if convolution == "gcn"
            else Attentions(wide_in, recipe)
        )
        self.classifier = nn.Linear(recipe.width, families)

    def forward(self, batch: FoldedBatch) -> Tensor:
        """Embed the graphs."""
        graphs: Tensor = self.graphs(self.operations(batch.inputs), batch)
        return graphs


class WholeGraph:
    """GCN or GAT as a method of the tables; the state is saved after every epoch.

    Args:
        convolution: `gcn` or `gat`.
        recipe: The settings of stage two.
        seed: Of all random choices.
        folder: Receives the state of an interrupted training.
        device: `cpu`, `cuda` or None for CUDA where there is one.
    """

    parameters = 0
    earlier = 0.0

    def __init__(
        self,
        convolution: Literal["gcn", "gat"],
        recipe: Recipe,
        seed: int,
        folder: Path,
        *,
        device: str | None = None,
    ) -> None:
        self._convolution: Literal["gcn", "gat"] = convolution
        self._recipe, self._seed, self._folder = recipe, seed, folder
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._kinds: dict[str, int] = {}
        self._encoder: WholeGraphEncoder | None = None

    def fit(self, items: Sequence[CorpusGraph], labels: IntArray) -> None:
        """Train on the sum of Eq. 5 and cross-entropy (Eq. 6), as stage two of the paper."""
        words = sorted({op.kind for item in items for op in item.graph.ops})
        self._kinds = {word: number for number, word in enumerate(words, start=1)}
        families, numbers = np.unique(labels, return_inverse=True)
        torch.manual_seed(self._seed)
        encoder = WholeGraphEncoder(self._convolution, len(words), len(families), self._recipe)
        encoder.to(self._device)
        state = State(self._folder)
        learn_families(
            *(encoder, encoder, encoder.classifier, list(encoder.parameters())),
            *(self._folded(items), torch.from_numpy(numbers), self._recipe),
            *(self._seed, state),
        )
        self.earlier = state.earlier
        self._encoder = encoder.eval()
        used = sum(part.numel() for part in encoder.parameters())
        self.parameters = used - sum(part.numel() for part in encoder.classifier.parameters())

    @torch.no_grad()
    def embed(self, items: Sequence[CorpusGraph]) -> Vectors:
        """float32[n, width]: the rows of all graphs, of length 1."""
        if self._encoder is None:
            raise RuntimeError("fit() comes before embed().")
        graphs = self._folded(items)
        rows = []
        for start in range(0, len(graphs), _CHUNK):
            numbers = np.arange(start, min(start + _CHUNK, len(graphs)))
            rows.append(self._encoder(graphs.batch(numbers, self._device)).cpu())
        found: Vectors = functional.normalize(torch.cat(rows), dim=1).numpy()
        return found

    def _folded(self, items: Sequence[CorpusGraph]) -> Folded:
        sizes = [len(item.graph) for item in items]
        before = np.cumsum([0, *sizes[:-1]]).tolist()
        kinds = [self._kinds.get(op.kind, 0) for item in items for op in item.graph.ops]
        edges = [
            item.graph.edges.astype(np.int64).reshape(-1, 2) + start
            for item, start in zip(items, before, strict=True)
        ]
        inputs = np.array(kinds, dtype=np.int64)
        return Folded(inputs, np.concatenate(edges), sizes, self._recipe.layers)
