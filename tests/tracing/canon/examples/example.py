"""What an example of a rule is: ways of writing one design, and near misses."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

Forward = Callable[[Any, torch.Tensor], torch.Tensor]


class Written(nn.Module):
    """A model whose forward is a function of itself and x; its layers are given by name."""

    def __init__(self, forward: Forward, layers: dict[str, Any]) -> None:
        super().__init__()
        self.written = forward
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.written(self, x)


def no_layers() -> dict[str, Any]:
    """No layers."""
    return {}


@dataclass(frozen=True)
class Example:
    """One rule at work.

    Attributes:
        same: Forwards that are one design.
        different: Forwards that are other designs, each differing from `same` and from the others.
        shape: Of the input.
        layers: Builds the layers that the forwards use as attributes of `m`.
    """

    same: list[Forward]
    different: list[Forward]
    shape: tuple[int, ...] = (1, 6, 8)
    layers: Callable[[], dict[str, Any]] = no_layers

    def model(self, forward: Forward) -> Written:
        """A new model with this forward."""
        return Written(forward, self.layers())
