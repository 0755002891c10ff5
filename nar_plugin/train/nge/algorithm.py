"""Algorithm 1: an epoch of the weights, then an epoch of the architecture, in turn."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from tqdm import tqdm

from nar_plugin.train.fit.checkpoints import write_whole
from nar_plugin.train.nge.images import Images

_logger = logging.getLogger("nar_plugin")


@dataclass(frozen=True)
class Schedule:
    """Settings of the search; the defaults are the paper's ("Cell Search").

    The paper states no batch; 64 is that of DARTS.
    """

    epochs: int = 25
    batch: int = 64
    weight_rate: float = 0.025  # SGD, to zero by a cosine
    momentum: float = 0.9
    weight_decay: float = 3e-4
    architecture_rate: float = 6e-4  # Adam, fixed
    architecture_decay: float = 1e-3


def search(
    supernet: nn.Module,
    chooser: nn.Module,
    halves: tuple[Images, Images],
    schedule: Schedule,
    seed: int,
    state: Path,
) -> Tensor:
    """Search with a supernet; goes on after the last epoch that `state` has.

    Args:
        supernet: From images and probabilities to logits.
        chooser: Gives the probabilities (`alternatives.METHODS`).
        halves: What the weights learn from, and what the architecture learns from.
        schedule: The settings.
        seed: Of the order of the images.
        state: A file that is written after every epoch.

    Returns:
        P, on the CPU.

    Shapes:
        result: float32[kinds, edges, operations].
    """
    device = next(chooser.parameters()).device
    weights = torch.optim.SGD(
        supernet.parameters(),
        lr=schedule.weight_rate,
        momentum=schedule.momentum,
        weight_decay=schedule.weight_decay,
    )
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(weights, schedule.epochs)
    architecture = torch.optim.Adam(
        chooser.parameters(),
        lr=schedule.architecture_rate,
        weight_decay=schedule.architecture_decay,
    )
    parts: dict[str, Any] = {
        "supernet": supernet,
        "chooser": chooser,
        "weights": weights,
        "cosine": cosine,
        "architecture": architecture,
    }
    done = _restored(parts, state, device)
    for epoch in tqdm(range(done, schedule.epochs), desc="search", unit="epoch", delay=1):
        torch.manual_seed(seed * 10_000 + epoch)
        supernet.train()
        with torch.no_grad():
            chances = chooser()  # lines 3 to 5: once for the epoch
        losses = [0.0, 0.0]
        for images, labels in _batches(halves[0], schedule.batch, device):
            loss = functional.cross_entropy(supernet(images, chances), labels)
            weights.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            weights.step()
            losses[0] += float(loss.detach()) * len(labels) / len(halves[0])
        cosine.step()
        supernet.requires_grad_(False)  # first order: the weights stay
        for images, labels in _batches(halves[1], schedule.batch, device):
            loss = functional.cross_entropy(supernet(images, chooser()), labels)
            architecture.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            architecture.step()
            losses[1] += float(loss.detach()) * len(labels) / len(halves[1])
        supernet.requires_grad_(True)
        content = {name: part.state_dict() for name, part in parts.items()}
        write_whole(content | {"epoch": epoch + 1}, state)
        _logger.info("epoch %d: loss %.3f, validation %.3f", epoch + 1, *losses)
    with torch.no_grad():
        result: Tensor = chooser().cpu()
    return result


def _batches(images: Images, size: int, device: torch.device) -> Iterator[tuple[Tensor, Tensor]]:
    """Shuffled; every second image is mirrored."""
    for chosen in torch.split(torch.randperm(len(images)), size):
        pixels, labels = images.pixels[chosen], images.labels[chosen]
        mirrored = torch.rand(len(chosen)) < 0.5
        pixels[mirrored] = pixels[mirrored].flip(-1)
        yield pixels.to(device), labels.to(device)


def _restored(parts: dict[str, Any], state: Path, device: torch.device) -> int:
    """Epochs that are done, after the parts were restored."""
    if not state.is_file():
        return 0
    saved = torch.load(state, map_location=device, weights_only=True)
    for name, part in parts.items():
        part.load_state_dict(saved[name])
    return int(saved["epoch"])
