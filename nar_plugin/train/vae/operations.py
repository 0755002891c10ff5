"""What stands for an operation: a fixed one-hot vector or a learned one (section 3.3)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

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
        learned = isinstance(self.table, nn.Parameter)
        return INPUT_SCALE / (self.width**0.5 if learned else 1)

    def forward(self, types: Tensor) -> Tensor:
        """The vectors of types."""
        return self.table[types]
