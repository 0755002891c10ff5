"""GCN and GAT on whole graphs: the paper's baselines (Table 1), without motifs.

Kipf & Welling, Semi-Supervised Classification with Graph Convolutional Networks (ICLR 2017), and
Velickovic et al., Graph Attention Networks (ICLR 2018), both through torch_geometric. Loss, epochs,
batch, rate, width and dropout are those of Table 5, row "Baselines"; the paper does not state the
optimiser (ours is AdamW), the heads of GAT (four), nor the readout (the mean, as ours). A batch
holds fewer than the table's 512 graphs where they have more than 100,000 operations together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GATConv, GCNConv, global_mean_pool
from tqdm import tqdm

from nar_plugin.encoder.features import FEATURES, operation_features
from nar_plugin.tracing.graph import Op
from nar_plugin.train.corpus import CorpusGraph
from nar_plugin.train.metrics import Vectors
from nar_plugin.train.pretrain import contrastive_loss
from nar_plugin.train.splits import IntArray

EPOCHS, BATCH, RATE, LAYERS, WIDTH, DROPOUT = 15, 512, 1e-3, 3, 512, 0.1  # Table 5
_HEADS = 4
_TEMPERATURE = 0.1
_LARGEST = 100_000  # operations in one batch, for memory; a larger graph is a batch of its own
_STATE = "training.pt"

_Parts: TypeAlias = dict[str, nn.Module | torch.optim.Optimizer]


class Batch(NamedTuple):
    """g graphs side by side.

    Attributes:
        op: int64[n], the row of `kind` and `attributes` of each of the n operations.
        kind: int64[u], vocabulary index of each distinct operation.
        attributes: float32[u, features].
        edges: int64[2, E], each edge in both directions.
        owner: int64[n], the graph of each operation.
    """

    op: Tensor
    kind: Tensor
    attributes: Tensor
    edges: Tensor
    owner: Tensor


class WholeGraphEncoder(nn.Module):
    """Three convolutions over all operations, then their mean, of length 1.

    Args:
        convolution: `gcn` or `gat`.
        kinds: Size of the operator vocabulary, with 0 for what training never saw.
        learned: Whether an operation enters as a learned vector for its kind plus a linear map of
            its attributes, or as a one-hot kind.
        width: Of every layer.

    Shapes:
        input: a `Batch` of g graphs; output: float32[g, width].
    """

    def __init__(
        self,
        convolution: Literal["gcn", "gat"],
        kinds: int,
        *,
        learned: bool = False,
        width: int = WIDTH,
    ) -> None:
        super().__init__()
        self.kinds = kinds
        self.kind = nn.Embedding(kinds, width) if learned else None
        self.attributes = nn.Linear(len(FEATURES), width) if learned else None
        sizes = [width if learned else kinds] + [width] * (LAYERS - 1)
        self.layers = nn.ModuleList(
            GCNConv(size, width)
            if convolution == "gcn"
            else GATConv(size, width // _HEADS, heads=_HEADS)
            for size in sizes
        )
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, batch: Batch) -> Tensor:
        """Embed the graphs."""
        if self.kind is not None and self.attributes is not None:
            rows = self.kind(batch.kind) + self.attributes(batch.attributes)  # [u, width]
        else:
            rows = functional.one_hot(batch.kind, self.kinds).float()  # [u, kinds]
        hidden = rows[batch.op]  # [n, width or kinds]
        for number, layer in enumerate(self.layers):
            hidden = layer(hidden, batch.edges)  # [n, width]
            if number < LAYERS - 1:
                hidden = self.dropout(functional.relu(hidden))
        return functional.normalize(global_mean_pool(hidden, batch.owner), dim=1)  # [g, width]


class WholeGraph:
    """GCN or GAT as a method of the tables; the state is saved after every epoch.

    Args:
        convolution: `gcn` or `gat`.
        seed: Of all random choices.
        folder: Receives the state of an interrupted training.
        learned: As for `WholeGraphEncoder`.
        width: As for `WholeGraphEncoder`.
        epochs: Of the training.
        device: `cpu`, `cuda` or None for CUDA where there is one.
    """

    parameters = 0

    def __init__(
        self,
        convolution: Literal["gcn", "gat"],
        seed: int,
        folder: Path,
        *,
        learned: bool = False,
        width: int = WIDTH,
        epochs: int = EPOCHS,
        device: str | None = None,
    ) -> None:
        self._convolution: Literal["gcn", "gat"] = convolution
        self._seed, self._folder = seed, folder
        self._learned, self._width, self._epochs = learned, width, epochs
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._kinds: dict[str, int] = {}
        self._encoder: WholeGraphEncoder | None = None

    def fit(self, items: Sequence[CorpusGraph], labels: IntArray) -> None:
        """Train on the sum of Eq. 5 and cross-entropy (Eq. 6), as stage two of the paper."""
        torch.manual_seed(self._seed)
        words = sorted({op.kind for item in items for op in item.graph.ops})
        self._kinds = {word: number for number, word in enumerate(words, start=1)}
        encoder = WholeGraphEncoder(
            self._convolution, 1 + len(words), learned=self._learned, width=self._width
        ).to(self._device)
        classes, numbers = np.unique(labels, return_inverse=True)
        targets = torch.from_numpy(numbers).to(self._device)
        trained = nn.ModuleList([encoder, nn.Linear(self._width, len(classes)).to(self._device)])
        optimiser = torch.optim.AdamW(trained.parameters(), lr=RATE)
        parts: _Parts = {"model": trained, "optimiser": optimiser}
        for epoch in range(self._resumed(parts), self._epochs):
            trained.train()
            for chosen in _batches(items, np.random.default_rng([self._seed, epoch]), epoch):
                vectors = encoder(self._batch([items[number] for number in chosen]))
                family = targets[torch.from_numpy(chosen).to(self._device)]
                loss = contrastive_loss(vectors, family, _TEMPERATURE)
                logits = trained[1](vectors) / _TEMPERATURE  # as stage two: the rows have length 1
                loss = loss + functional.cross_entropy(logits, family)
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
            self._save(parts, epoch + 1)
        self._encoder = encoder.eval()
        self.parameters = sum(part.numel() for part in encoder.parameters())

    @torch.no_grad()
    def embed(self, items: Sequence[CorpusGraph]) -> Vectors:
        """float32[n, width]: the rows of all graphs."""
        if self._encoder is None:
            raise RuntimeError("fit() comes before embed().")
        rows = np.zeros((len(items), self._width), dtype=np.float32)
        for chosen in _batches(items):
            batch = self._batch([items[number] for number in chosen])
            rows[chosen] = self._encoder(batch).cpu().numpy()
        return rows

    def _batch(self, items: Sequence[CorpusGraph]) -> Batch:
        distinct: dict[Op, int] = {}
        rows: list[int] = []
        edges, sizes = [], []
        for item in items:
            edges.append(item.graph.edges.astype(np.int64) + len(rows))
            sizes.append(len(item.graph))
            rows.extend(distinct.setdefault(op, len(distinct)) for op in item.graph.ops)
        kind, attributes = operation_features(list(distinct), self._kinds)
        ways = np.concatenate(edges).T  # [2, E]
        arrays = (
            np.array(rows, dtype=np.int64),
            kind,
            attributes,
            np.concatenate([ways, ways[::-1]], axis=1),
            np.repeat(np.arange(len(items)), sizes),
        )
        return Batch(*(torch.from_numpy(array).to(self._device) for array in arrays))

    def _resumed(self, parts: _Parts) -> int:
        """Restore what an interrupted training saved; the first epoch that is not done."""
        path = self._folder / _STATE
        if not path.is_file():
            return 0
        saved = torch.load(path, weights_only=True, map_location=self._device)
        for name, part in parts.items():
            part.load_state_dict(saved[name])
        torch.set_rng_state(saved["random"].cpu())
        return int(saved["epoch"])

    def _save(self, parts: _Parts, epoch: int) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        partial = self._folder / "training.partial"
        content = {name: part.state_dict() for name, part in parts.items()}
        torch.save({**content, "epoch": epoch, "random": torch.get_rng_state()}, partial)
        partial.replace(self._folder / _STATE)


def _batches(
    items: Sequence[CorpusGraph], random: np.random.Generator | None = None, epoch: int = 0
) -> Iterator[IntArray]:
    """Numbers of graphs, at most 512 and at most 100,000 operations at once."""
    order = np.arange(len(items)) if random is None else random.permutation(len(items))
    word = "embed" if random is None else f"epoch {epoch + 1}"
    chosen: list[int] = []
    total = 0
    for number in tqdm(order.tolist(), desc=word, unit="graph", leave=False, delay=1):
        size = len(items[number].graph)
        if chosen and (len(chosen) == BATCH or total + size > _LARGEST):
            yield np.array(chosen)
            chosen, total = [], 0
        chosen.append(number)
        total += size
    if chosen:
        yield np.array(chosen)
