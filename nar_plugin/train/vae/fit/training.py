"""Training of an autoencoder, epoch by epoch; goes on where it was interrupted."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from tqdm import tqdm

from nar_plugin.errors import NarError
from nar_plugin.train.fit.checkpoints import write_whole
from nar_plugin.train.vae.fit.protocol import BETA, Protocol
from nar_plugin.train.vae.fit.runs import STATE, Run, mark_ended
from nar_plugin.train.vae.models.autoencoder import Autoencoder
from nar_plugin.train.vae.models.by_name import build
from nar_plugin.train.vae.spaces.graphs import Graphs

_logger = logging.getLogger("nar_plugin")
_CHUNK = 2048  # graphs that are encoded at once


def train(run: Run, graphs: Graphs, device: torch.device) -> Autoencoder:
    """Train a model, or go on with what an interrupted run saved after its last epoch.

    Args:
        run: What is trained; its folder receives the state and the losses of each epoch.
        graphs: The training side.
        device: Where it is trained.

    Raises:
        NarError: The folder holds a training with other settings.
    """
    state, protocol, seed = _load(run), run.protocol, run.seed
    epochs, repeats = protocol.epochs_of(run.model), protocol.repeats_of(run.model)
    network = _built(run.model, graphs, protocol, seed, device, state)
    while len(state["history"]) < epochs * repeats:
        repeat, done = divmod(len(state["history"]), epochs)
        if done == 0 and repeat > 0:  # all from the start but the operation embeddings
            learned = network.state_dict()
            tables = {name: learned[name] for name in learned if name.endswith("operations.table")}
            state["parts"] = None
            network = _built(run.model, graphs, protocol, seed + repeat, device, state)
            network.load_state_dict(tables, strict=False)
        place = (seed, repeat, done)
        _repeat(network, graphs.to(device), protocol, epochs, place, state, run.folder)
    mark_ended(run.folder)
    return network.eval()


def trained(run: Run, graphs: Graphs) -> tuple[Autoencoder, list[dict[str, float]]]:
    """A model whose training has ended, on the CPU, and the losses and seconds of its epochs.

    Raises:
        NarError: It has not ended.
    """
    state, protocol = _load(run), run.protocol
    wanted = protocol.epochs_of(run.model) * protocol.repeats_of(run.model)
    if len(state["history"]) < wanted:
        raise NarError(
            f"{run.folder} has {len(state['history'])} of {wanted} epochs: nar dev vae train "
            f"--space {run.space} --model {run.model} --protocol {protocol.name} --seed {run.seed}"
        )
    network = _built(run.model, graphs, protocol, run.seed, torch.device("cpu"), state)
    return network.eval(), state["history"]


@torch.no_grad()
def means(network: Autoencoder, graphs: Graphs) -> Tensor:
    """float32[n, latent] on the CPU: where the posterior of each graph is centred."""
    device = next(network.parameters()).device
    parts = [graphs[start : start + _CHUNK] for start in range(0, len(graphs), _CHUNK)]
    return torch.cat([network.encode(part.to(device))[0].cpu() for part in parts])


def _repeat(
    network: Autoencoder,
    graphs: Graphs,
    protocol: Protocol,
    epochs: int,
    place: tuple[int, int, int],
    state: dict[str, Any],
    folder: Path,
) -> None:
    """The epochs of one repeat from `done` on; each is saved."""
    seed, repeat, done = place
    optimiser = torch.optim.Adam(network.parameters(), lr=protocol.rate, fused=True)
    falling = _falling(optimiser, protocol, epochs)
    parts: dict[str, Any] = {"network": network, "optimiser": optimiser, "falling": falling}
    if done:
        for name, part in parts.items():
            part.load_state_dict(state["parts"][name])
    for epoch in range(done, epochs):
        started = time.perf_counter()
        network.train()
        torch.manual_seed(1_000_003 * seed + 1009 * repeat + epoch)
        losses = _epoch(network, graphs, protocol, optimiser, f"epoch {epoch + 1}")
        loss = losses["reconstruction"] + BETA * losses["divergence"]
        if protocol.falls == "plateau":
            falling.step(loss)
        else:
            falling.step()
        losses["seconds"] = time.perf_counter() - started
        state["history"].append(losses)
        state["parts"] = {name: part.state_dict() for name, part in parts.items()}
        write_whole(state, folder / STATE)
        _logger.info("repeat %d epoch %d: %s", repeat + 1, epoch + 1, losses)


def _epoch(
    network: Autoencoder,
    graphs: Graphs,
    protocol: Protocol,
    optimiser: torch.optim.Optimizer,
    name: str,
) -> dict[str, float]:
    """One pass in a random order; the means of both losses."""
    sums = torch.zeros(2)
    batches = torch.split(torch.randperm(len(graphs)), protocol.batch)
    for chosen in tqdm(batches, desc=name, unit="batch", leave=False, delay=1):
        reconstruction, divergence = network.losses(graphs[chosen.to(graphs.types.device)])
        optimiser.zero_grad()
        (reconstruction + BETA * divergence).mean().backward()  # type: ignore[no-untyped-call]
        if protocol.clip is not None:
            nn.utils.clip_grad_norm_(network.parameters(), protocol.clip)
        optimiser.step()
        sums += torch.stack([reconstruction.sum(), divergence.sum()]).detach().cpu()
    mean = (sums / len(graphs)).tolist()
    return {"reconstruction": mean[0], "divergence": mean[1]}


def _falling(optimiser: torch.optim.Optimizer, protocol: Protocol, epochs: int) -> Any:
    if protocol.falls == "plateau":
        return torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, factor=0.1, patience=10)
    return torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs)


def _built(
    model: str,
    graphs: Graphs,
    protocol: Protocol,
    seed: int,
    device: torch.device,
    state: dict[str, Any],
) -> Autoencoder:
    """A new network, with the saved weights where there are any."""
    torch.manual_seed(seed)
    network = build(
        model, graphs.kinds, graphs.vertices, protocol.hidden, numbered=not graphs.chained
    )
    if state["parts"]:
        network.load_state_dict(state["parts"]["network"])
    return network.to(device)


def _load(run: Run) -> dict[str, Any]:
    """What an interrupted run saved, or an empty state."""
    settings = {"model": run.model, "seed": run.seed, **run.protocol.settings_of(run.model)}
    path = run.folder / STATE
    if not path.is_file():
        return {"settings": settings, "history": [], "parts": None}
    state: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu")
    if state["settings"] != settings:
        raise NarError(f"{path} is of other settings: give another --work, or delete it.")
    return state
