"""What stands for an operation: a fixed one-hot vector or a learned one (section 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from nar_plugin.train.fit.checkpoints import write_json

FILE = "operations.json"

INPUT_SCALE = 0.87  # deviation of what an operation adds to each unit that reads it, at first


class Operations(nn.Module):
    """The table O of one vector for each type of vertex.

    Args:
        kinds: How many types there are.
        width: d_op of a learned table, drawn from N(0, 1); None for one-hot vectors.

    Shapes:
        types int64[...] -> float32[..., width], or kinds in the place of width.
    """

    table: Tensor

    def __init__(self, kinds: int, width: int | None) -> None:
        super().__init__()
        if width is None:
            self.register_buffer("table", torch.eye(kinds), persistent=False)
        else:
            self.table = nn.Parameter(torch.randn(kinds, width))

    @property
    def width(self) -> int:
        """The numbers of one vector."""
        return self.table.shape[1]

    @property
    def first_deviation(self) -> float:
        """Of first weights on a vector: the longer the vectors, the smaller the weights.

        One-hot vectors have length 1, and learned ones about the root of their width. So both move
        a state by as much, and a comparison of the two is none of first weights.
        """
        return INPUT_SCALE / (self.width**0.5 if self.learned else 1)

    @property
    def learned(self) -> bool:
        """Whether the vectors are learned."""
        return isinstance(self.table, nn.Parameter)

    def forward(self, types: Tensor) -> Tensor:
        """The vectors of types."""
        return self.table[types]


def write_operations(network: nn.Module, names: Sequence[str], folder: Path) -> None:
    """Write the learned vectors of operations to `operations.json`; of one-hot vectors nothing.

    The file has a list of d_op numbers for `input`, `output` and each name.

    Args:
        network: A trained autoencoder.
        names: Of the types of vertices after the first two.
        folder: Receives the file.
    """
    for module in network.modules():
        if isinstance(module, Operations) and module.learned:
            rows = module.table.detach().cpu().tolist()
            named = zip(("input", "output", *names), rows, strict=True)
            write_json(dict(named), folder / FILE)
