"""The graph convolutional networks F_s, F_c and F_m (Eq. 3)."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from nar_plugin.encoder.paper.folding import FoldedBatch, mixed
from nar_plugin.encoder.paper.reading import Reading


class Convolutions(nn.Module):
    """H' = sigma(D^-1/2 (M + I) D^-1/2 H W + b) some times, and the mean over each graph.

    sigma is ELU, as in the code that the paper's authors published; after the last layer there is
    none, as in Kipf & Welling (ICLR 2017).

    Args:
        wide_in: Width of the input.
        reading: `width` and `layers`.
        dropout: Probability of dropping a feature between layers, in training.

    Shapes:
        features: float32[n, wide_in], one row for each row of `batch.inputs`;
        result: float32[graphs, width].
    """

    def __init__(self, wide_in: int, reading: Reading, dropout: float = 0.0) -> None:
        super().__init__()
        widths = [wide_in] + [reading.width] * (reading.layers - 1)
        self.layers = nn.ModuleList(nn.Linear(width, reading.width) for width in widths)
        self.dropout = nn.Dropout(dropout)

    def forward(self, features: Tensor, batch: FoldedBatch) -> Tensor:
        """Embed each graph."""
        hidden = features
        for number, mix in enumerate(batch.mixes):
            layer = cast(nn.Linear, self.layers[number])
            if number:
                hidden = self.dropout(functional.elu(hidden))
            if number < len(batch.mixes) - 1:
                hidden = mixed(hidden @ layer.weight.T, mix)  # [rows of the level, width]
            else:  # nothing bends behind the last layer: the mean comes first, of fewer rows
                hidden = mixed(mixed(hidden, mix), batch.readout) @ layer.weight.T
            hidden = hidden + layer.bias
        return hidden  # [graphs, width]


class OneHot(nn.Module):
    """Kinds as rows of the identity; a kind that is not known is 0 and a row of zeros.

    Shapes:
        inputs: int64[n]; result: float32[n, kinds].
    """

    def __init__(self, kinds: int) -> None:
        super().__init__()
        self.kinds = kinds

    def forward(self, inputs: Tensor) -> Tensor:
        """The rows of kinds."""
        return functional.one_hot(inputs, self.kinds + 1)[:, 1:].float()


def operation_rows(kinds: int, reading: Reading) -> nn.Module:
    """How operations enter: one-hot, or as learned vectors of the layers' width.

    Those start normally distributed (Operation Embeddings, ICCVW 2021, section 3.3).
    """
    if reading.operations == "learned":
        return nn.Embedding(kinds + 1, reading.width, padding_idx=0)
    return OneHot(kinds)


class PieceEncoder(nn.Module):
    """F_s or F_c: operations to the vector of a motif or of a context graph.

    Args:
        kinds: The number of known kinds.
        reading: The settings.

    Shapes:
        result: float32[pieces, width].
    """

    def __init__(self, kinds: int, reading: Reading) -> None:
        super().__init__()
        self.operations = operation_rows(kinds, reading)
        learned = reading.operations == "learned"
        self.convolutions = Convolutions(reading.width if learned else kinds, reading)

    def forward(self, batch: FoldedBatch) -> Tensor:
        """Embed each piece."""
        pieces: Tensor = self.convolutions(self.operations(batch.inputs), batch)
        return pieces


def device_of(module: nn.Module) -> torch.device:
    """Where the parameters are."""
    return next(module.parameters()).device
