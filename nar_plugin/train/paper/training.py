"""Algorithm 1: motifs against their contexts, then graphs by family with the motifs fixed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from tqdm import tqdm

from nar_plugin.encoder.paper.cutting import Cut, folded, folded_pieces
from nar_plugin.encoder.paper.folding import Folded, FoldedBatch, Ints
from nar_plugin.encoder.paper.graph_convolutions import device_of
from nar_plugin.encoder.paper.model import motif_vectors
from nar_plugin.train.fit.checkpoints import write_whole
from nar_plugin.train.paper.ablations import Recipe
from nar_plugin.train.paper.losses import family_loss, motif_loss
from nar_plugin.train.paper.networks import PaperNetworks

_STATE = "training.pt"
_logger = logging.getLogger("nar_plugin")


def train(
    networks: PaperNetworks,
    data: Cut,
    labels: Tensor,
    recipe: Recipe,
    seed: int,
    folder: Path,
    stage_one: Path,
) -> float:
    """Train both stages; what an interrupted run saved after its last epoch is gone on from.

    Args:
        networks: Are trained where they are.
        data: The training graphs, with contexts.
        labels: int64[g], the family of each graph.
        recipe: The settings.
        seed: Of shuffling and dropout.
        folder: Receives the state.
        stage_one: Receives what stage one learned, or holds what it learned for another recipe
            that differs in stage two alone.

    Returns:
        The seconds that interrupted runs took up to the last epoch that they saved, or that
        another recipe's stage one took.
    """
    state = State(folder)
    if stage_one.is_file() and not state.exists:
        saved = torch.load(stage_one, weights_only=True, map_location=device_of(networks))
        _learned(networks).load_state_dict(saved["networks"])
        state.earlier = float(saved["seconds"])
    else:
        started = time.perf_counter()
        _stage_one(networks, data, recipe, seed, state)
        if not stage_one.is_file():
            seconds = state.earlier + time.perf_counter() - started
            learned = _learned(networks).state_dict()
            write_whole({"networks": learned, "seconds": seconds}, stage_one)
    _stage_two(networks, data, labels, recipe, seed, state)
    return state.earlier


def _stage_one(networks: PaperNetworks, data: Cut, recipe: Recipe, seed: int, state: State) -> None:
    """Eq. 4 over the distinct motifs; F_s and F_c learn."""
    optimiser = torch.optim.Adam(_learned(networks).parameters(), lr=recipe.motif_rate)
    parts = {"encoder": networks, "optimiser": optimiser}
    done = state.load("motifs", parts)
    if done >= recipe.motif_epochs:
        return
    motifs = folded_pieces(data.motifs, recipe)
    contexts = folded_pieces(data.contexts, recipe)
    device = device_of(networks)
    for epoch in range(done, recipe.motif_epochs):
        started, losses = time.perf_counter(), []
        networks.train()
        for chosen in _shuffled(len(motifs), recipe.motif_batch, seed, 1, epoch):
            own = networks.motif_head(networks.motifs(motifs.batch(chosen, device)))
            around = networks.motif_head(networks.contexts(contexts.batch(chosen, device)))
            loss = motif_loss(own, around, recipe.motif_temperature)
            losses.append(_step(loss, optimiser))
        state.save("motifs", epoch + 1, parts)
        _tell("motifs", epoch, losses, started)


def _learned(networks: PaperNetworks) -> nn.Module:
    """What stage one trains."""
    return nn.ModuleList([networks.motifs, networks.contexts, networks.motif_head])


def _stage_two(
    networks: PaperNetworks, data: Cut, labels: Tensor, recipe: Recipe, seed: int, state: State
) -> None:
    """Eq. 6 over the macro graphs; F_m and f learn, and F_s if the recipe tunes it.

    Eq. 7 has F_s as stage one made it: then the vectors of the motifs are computed once.
    """
    fixed: list[Tensor] = []
    motifs = folded_pieces(data.motifs, recipe) if recipe.tuned else None

    def embedded(batch: FoldedBatch) -> Tensor:
        if motifs is not None:
            chosen = motifs.batch(batch.inputs.cpu().numpy(), batch.inputs.device)
            vectors = networks.motifs(chosen)
        else:
            if not fixed:
                fixed.append(motif_vectors(networks.motifs, data, recipe))
            vectors = fixed[0][batch.inputs]
        rows: Tensor = networks.graphs(vectors, batch)
        return rows

    trained = [networks.graphs, networks.classifier, networks.graph_head]
    trained += [networks.motifs] if recipe.tuned else []
    learned = [number for part in trained for number in part.parameters()]
    graphs = folded(data.nodes, data.edges, data.sizes, recipe)
    learn_families(
        *(embedded, networks, networks.classifier, learned, graphs, labels, recipe, seed, state),
        head=networks.graph_head,
    )


def learn_families(
    embedded: Callable[[FoldedBatch], Tensor],
    encoder: nn.Module,
    classifier: nn.Module,
    learned: Sequence[nn.Parameter],
    graphs: Folded,
    labels: Tensor,
    recipe: Recipe,
    seed: int,
    state: State,
    *,
    head: nn.Module | None = None,
) -> None:
    """Minimise Eq. 6: Table 5's rows "Graph CL" and "Baselines".

    Args:
        embedded: From graphs to their vectors float32[b, width].
        encoder: What is saved, f among it.
        classifier: f.
        learned: What is trained.
        graphs: The g training graphs.
        labels: int64[g], the family of each.
        recipe: The settings.
        seed: Of shuffling and dropout.
        state: Where the epochs are saved.
        head: What Eq. 5 compares the vectors through.
    """
    optimiser = torch.optim.Adam(learned, lr=recipe.graph_rate)
    parts = {"encoder": encoder, "optimiser": optimiser}
    device = device_of(encoder)
    labels = labels.to(device)
    for epoch in range(state.load("graphs", parts), recipe.graph_epochs):
        started, losses = time.perf_counter(), []
        encoder.train()
        for chosen in _shuffled(len(graphs), recipe.graph_batch, seed, 2, epoch):
            rows = embedded(graphs.batch(chosen, device))  # [b, width]
            family = labels[torch.from_numpy(chosen).to(device)]
            loss = rows.new_zeros(())
            if "cl" in recipe.objective:
                compared = rows if head is None else head(rows)
                loss = loss + family_loss(compared, family, recipe.graph_temperature)
            if "ce" in recipe.objective:
                loss = loss + functional.cross_entropy(classifier(rows), family)
            losses.append(_step(loss, optimiser))
        state.save("graphs", epoch + 1, parts)
        _tell("graphs", epoch, losses, started)


class State:
    """What is needed to go on after an interruption: a file in a folder.

    Attributes:
        earlier: Seconds that interrupted runs took up to the last epoch that they saved.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _STATE
        self._started = time.perf_counter()
        self._fresh = True
        self.earlier = 0.0

    def load(self, stage: str, parts: dict[str, Any]) -> int:
        """Restore the parts and return how many epochs of the stage are done."""
        if not self._path.is_file():
            return 0
        where = device_of(parts["encoder"])
        saved = torch.load(self._path, weights_only=True, map_location=where)
        parts["encoder"].load_state_dict(saved["encoder"])
        if self._fresh:
            self.earlier = float(saved.get("seconds", 0))
        if saved["stage"] != stage:
            return 0 if stage == "graphs" else 1 << 30
        parts["optimiser"].load_state_dict(saved["optimiser"])
        return int(saved["epoch"])

    def save(self, stage: str, epoch: int, parts: dict[str, Any]) -> None:
        """Write the parts after an epoch, whole or not at all."""
        content: dict[str, Any] = {name: part.state_dict() for name, part in parts.items()}
        seconds = self.earlier + time.perf_counter() - self._started
        content |= {"stage": stage, "epoch": epoch, "seconds": seconds}
        write_whole(content, self._path)
        self._fresh = False

    @property
    def exists(self) -> bool:
        """Whether an epoch was saved."""
        return self._path.is_file()


def _shuffled(count: int, size: int, seed: int, stage: int, epoch: int) -> Iterator[Ints]:
    """Batches of an epoch; its number seeds the order and the dropout, so that it can be redone."""
    random = np.random.default_rng([seed, stage, epoch])
    torch.manual_seed(int(random.integers(1 << 62)))
    order = random.permutation(count)
    name = f"{('motifs', 'graphs')[stage - 1]} {epoch + 1}"
    for start in tqdm(range(0, count, size), desc=name, unit="batch", leave=False, delay=1):
        yield order[start : start + size]


def _step(loss: Tensor, optimiser: torch.optim.Optimizer) -> float:
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()
    return float(loss.detach())


def _tell(stage: str, epoch: int, losses: list[float], started: float) -> None:
    seconds = time.perf_counter() - started
    _logger.info("%s epoch %d: loss %.4f, %.0f s", stage, epoch + 1, np.mean(losses), seconds)
