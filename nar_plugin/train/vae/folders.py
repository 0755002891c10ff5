"""Where the training of a model is kept, and whether it has ended."""

from __future__ import annotations

from pathlib import Path

from nar_plugin.train.vae.protocol import Protocol

STATE = "training.pt"
_ENDED = "ended"


def folder_of(work: Path, model: str, protocol: Protocol, seed: int) -> Path:
    """The folder of one training."""
    return work / f"{model}-{protocol.name}-{seed}"


def has_ended(work: Path, model: str, protocol: Protocol, seed: int) -> bool:
    """Whether a training ran through all its epochs."""
    return (folder_of(work, model, protocol, seed) / _ENDED).is_file()


def mark_ended(folder: Path) -> None:
    """Say that a training ran through all its epochs."""
    (folder / _ENDED).touch()
