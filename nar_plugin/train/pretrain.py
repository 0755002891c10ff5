"""The two-stage pre-training of section 3 (Eq. 4 to 7, Algorithm 1), in a first, plain form."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from tqdm import tqdm

from nar_plugin.encoder import ArchitectureEncoder, save_encoder
from nar_plugin.encoder.batch import block_batch, graph_batch
from nar_plugin.encoder.model import BlockEncoder
from nar_plugin.mining import MacroGraph
from nar_plugin.train.context import Block, blocks_with_context
from nar_plugin.train.corpus import CorpusGraph, read_corpus


@dataclass(frozen=True)
class Recipe:
    """What Table 5 states, and what the paper leaves open.

    Attributes:
        motif_epochs: Epochs of stage one (Table 5: 5).
        motif_batch: Motifs in one batch of stage one (Table 5: 256).
        motif_rate: Learning rate of stage one (Table 5: 1e-2, for its optimiser; ours is AdamW).
        graph_epochs: Epochs of stage two (Table 5: 15).
        graph_batch: Graphs in one batch of stage two (Table 5: 512).
        graph_rate: Learning rate of stage two (Table 5: 1e-3).
        temperature: Divides the cosines in Eq. 4 and 5.
        hops: k of the context graph's k-hop neighbours.
        seed: Of all random choices.
    """

    motif_epochs: int = 5
    motif_batch: int = 256
    motif_rate: float = 1e-3
    graph_epochs: int = 15
    graph_batch: int = 128
    graph_rate: float = 1e-3
    temperature: float = 0.1
    hops: int = 1
    seed: int = 0


def pretrain(corpus: Path, folder: Path, recipe: Recipe, *, device: str | None = None) -> None:
    """Train the encoder on a corpus and write it.

    The state is saved after every epoch: a run that was interrupted goes on from there.

    Args:
        corpus: Folder of a corpus.
        folder: Receives the encoder; its `training.pt` is the state between epochs.
        recipe: The settings.
        device: `cpu`, `cuda` or None for CUDA where there is one.
    """
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(recipe.seed)
    folder.mkdir(parents=True, exist_ok=True)
    items = read_corpus(corpus)
    graphs = [item.macro() for item in items]
    kinds = sorted({op.kind for item in items for op in item.graph.ops})
    encoder = ArchitectureEncoder(kinds).to(device)
    state = _State(folder / "training.pt", recipe, items)
    blocks = blocks_with_context([item.graph for item in items], graphs, recipe.hops)
    _stage_one(encoder, blocks, recipe, state, device)
    _stage_two(encoder, graphs, items, recipe, state, device)
    facts = {"recipe": asdict(recipe), "graphs": len(graphs), "blocks": len(blocks)}
    save_encoder(encoder, folder, recipe="first", training=facts)


class _State:
    """What is needed to go on after an interruption."""

    def __init__(self, path: Path, recipe: Recipe, items: Sequence[CorpusGraph]) -> None:
        self.path = path
        corpus = hashlib.sha256("".join(item.fingerprint for item in items).encode())
        self.recipe = {**asdict(recipe), "corpus": corpus.hexdigest()}

    def load(self, stage: str, parts: dict[str, Any]) -> int:
        """Restore the parts and return the first epoch that is not done."""
        if not self.path.is_file():
            return 0
        saved = torch.load(self.path, weights_only=True)
        if json.loads(saved["recipe"]) != self.recipe:
            return 0
        if saved["stage"] != stage:
            return 0 if stage == "graphs" else 1 << 30
        for name, part in parts.items():
            part.load_state_dict(saved[name])
        torch.set_rng_state(saved["random"])
        return int(saved["epoch"])

    def save(self, stage: str, epoch: int, parts: dict[str, Any]) -> None:
        """Write the parts after an epoch, whole or not at all."""
        content = {name: part.state_dict() for name, part in parts.items()}
        content |= {"stage": stage, "epoch": epoch, "recipe": json.dumps(self.recipe)}
        content["random"] = torch.get_rng_state()
        partial = self.path.with_suffix(".partial")
        torch.save(content, partial)
        partial.replace(self.path)


def _stage_one(
    encoder: ArchitectureEncoder,
    blocks: Sequence[Block],
    recipe: Recipe,
    state: _State,
    device: str,
) -> None:
    """Motif-level contrast, Eq. 4: a motif against its own context graph among the others."""
    context_encoder = BlockEncoder(len(encoder.kinds) + 1).to(device)
    trained = nn.ModuleList([encoder.blocks, context_encoder])
    optimiser = torch.optim.AdamW(trained.parameters(), lr=recipe.motif_rate)
    parts = {"encoder": encoder, "context": context_encoder, "optimiser": optimiser}
    where = torch.device(device)
    for epoch in range(state.load("motifs", parts), recipe.motif_epochs):
        losses = []
        trained.train()
        for batch in _shuffled(len(blocks), recipe.motif_batch, f"motifs {epoch + 1}"):
            chosen = [blocks[number] for number in batch]
            inner = block_batch([block.inner for block in chosen], encoder.kinds, where)
            outer = block_batch([block.context for block in chosen], encoder.kinds, where)
            motifs = functional.normalize(encoder.blocks(inner), dim=1)  # [b, width]
            contexts = functional.normalize(context_encoder(outer), dim=1)  # [b, width]
            logits = motifs @ contexts.T / recipe.temperature  # [b, b]
            loss = functional.cross_entropy(logits, torch.arange(len(chosen), device=where))
            losses.append(_step(loss, optimiser))
        state.save("motifs", epoch + 1, parts)
        tqdm.write(f"motifs  epoch {epoch + 1}: loss {np.mean(losses):.4f}")


def _stage_two(
    encoder: ArchitectureEncoder,
    graphs: Sequence[MacroGraph],
    items: Sequence[CorpusGraph],
    recipe: Recipe,
    state: _State,
    device: str,
) -> None:
    """Graph-level contrast and classification by family, Eq. 5 and 6."""
    labels = family_labels(items)
    where = torch.device(device)
    classifier = nn.Linear(int(str(encoder.config["width"])), int(labels.max()) + 1).to(device)
    trained = nn.ModuleList([encoder, classifier])
    steps = recipe.graph_epochs * -(-len(graphs) // recipe.graph_batch)
    optimiser = torch.optim.AdamW(trained.parameters(), lr=recipe.graph_rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, recipe.graph_rate, steps)
    parts = {"encoder": encoder, "classifier": classifier, "optimiser": optimiser}
    parts["schedule"] = schedule
    for epoch in range(state.load("graphs", parts), recipe.graph_epochs):
        losses = []
        trained.train()
        started = time.perf_counter()
        for batch in _shuffled(len(graphs), recipe.graph_batch, f"graphs {epoch + 1}"):
            chosen = graph_batch([graphs[number] for number in batch], encoder.kinds, where)
            vectors = encoder(chosen)  # [b, width]
            family = labels[torch.tensor(batch)].to(where)  # [b]
            loss = contrastive_loss(vectors, family, recipe.temperature)
            loss = loss + functional.cross_entropy(classifier(vectors) / 0.1, family)
            losses.append(_step(loss, optimiser))
            schedule.step()
        state.save("graphs", epoch + 1, parts)
        seconds = time.perf_counter() - started
        tqdm.write(f"graphs  epoch {epoch + 1}: loss {np.mean(losses):.4f} in {seconds:.0f} s")


def contrastive_loss(vectors: Tensor, labels: Tensor, temperature: float) -> Tensor:
    """Eq. 5: -log of the share of e^d that falls on graphs of the same family, averaged.

    A graph without another of its family in the batch does not count.

    Shapes:
        vectors: float32[b, width], rows of length 1; labels: int64[b].
    """
    exponents = vectors @ vectors.T / temperature  # [b, b]
    itself = torch.eye(len(vectors), dtype=torch.bool, device=vectors.device)
    exponents = exponents.masked_fill(itself, -torch.inf)
    same = (labels[:, None] == labels[None, :]) & ~itself
    rows = same.any(dim=1)
    if not rows.any():
        return exponents.new_zeros(())
    positive = exponents.masked_fill(~same, -torch.inf)[rows].logsumexp(dim=1)
    return (exponents[rows].logsumexp(dim=1) - positive).mean()


def family_labels(items: Sequence[CorpusGraph]) -> Tensor:
    """int64[n]: the number of each graph's commonest family among its names."""
    families = [
        Counter(name["family"] for name in item.names).most_common(1)[0][0] for item in items
    ]
    numbers = {family: number for number, family in enumerate(sorted(set(families)))}
    return torch.tensor([numbers[family] for family in families])


def _shuffled(count: int, size: int, name: str) -> Iterator[list[int]]:
    order = torch.randperm(count).tolist()
    starts = range(0, count, size)
    for start in tqdm(starts, desc=name, unit="batch", leave=False):
        yield order[start : start + size]


def _step(loss: Tensor, optimiser: torch.optim.Optimizer) -> float:
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()
    return float(loss.detach())
