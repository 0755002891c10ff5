"""What is kept of a training so that it goes on where it was interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from nar_plugin.encoder.paper.graph_convolutions import device_of


def write_whole(content: dict[str, Any], path: Path) -> None:
    """Write tensors and numbers to a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    torch.save(content, partial)
    partial.replace(path)


def keep(network: nn.Module, path: Path) -> None:
    """Write a network as it is, and the random generators, which what follows goes on with."""
    on_gpu = torch.cuda.get_rng_state_all() if device_of(network).type == "cuda" else []
    write_whole(
        {"network": network.state_dict(), "random": torch.get_rng_state(), "on_gpu": on_gpu}, path
    )


def taken_up(network: nn.Module, path: Path) -> bool:
    """Go on from what `keep` wrote; False where it wrote nothing."""
    if not path.is_file():
        return False
    state = torch.load(path, map_location=device_of(network), weights_only=True)
    network.load_state_dict(state["network"])
    torch.set_rng_state(state["random"].cpu())
    if state["on_gpu"]:
        torch.cuda.set_rng_state_all([item.cpu() for item in state["on_gpu"]])
    return True
