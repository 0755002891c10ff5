"""One training: what it is of, where it is kept, and whether it has ended."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nar_plugin.train.vae.fit.protocol import Protocol

STATE = "training.pt"
_ENDED = "ended"


@dataclass(frozen=True)
class Run:
    """A training of a model.

    Attributes:
        work: Folder of all trainings.
        space: Name of the search space.
        model: A name of `models.MODELS`.
        protocol: The settings.
        seed: Of weights, order and noise.
    """

    work: Path
    space: str
    model: str
    protocol: Protocol
    seed: int

    @property
    def name(self) -> str:
        """Of its cell."""
        return f"{self.space}/{self.model}/{self.protocol.name}/{self.seed}"

    @property
    def folder(self) -> Path:
        """Where its state is kept."""
        return self.work / self.space / f"{self.model}-{self.protocol.name}-{self.seed}"

    @property
    def has_ended(self) -> bool:
        """Whether it ran through all its epochs."""
        return (self.folder / _ENDED).is_file()


def mark_ended(folder: Path) -> None:
    """Say that a training ran through all its epochs."""
    (folder / _ENDED).touch()
