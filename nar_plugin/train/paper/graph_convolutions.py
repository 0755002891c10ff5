"""The graph convolutional networks F_s, F_c and F_m (Eq. 3)."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from nar_plugin.train.paper.ablations import Recipe
from nar_plugin.train.paper.folding import FoldedBatch, mixed


class Convolutions(nn.Module):
    """H' = sigma(D^-1/2 (M + I) D^-1/2 H W + b) some times, and the mean over each graph.

    sigma is ELU, as in the code that the paper's authors published; after the last layer there is
    none, as in Kipf & Welling (ICLR 2017).

    Args:
        wide_in: Width of the input.
        recipe: `width` and `layers`.
        dropout: Probability of dropping a feature between layers, in training.

    Shapes:
        features: float32[n, wide_in], one row for each row of `batch.inputs`;
        result: float32[graphs, width].
    """

    def __init__(self, wide_in: int, recipe: Recipe, dropout: float = 0.0) -> None:
        super().__init__()
        widths = [wide_in] + [recipe.width] * (recipe.layers - 1)
        self.layers = nn.ModuleList(nn.Linear(width, recipe.width) for width in widths)
        self.dropout = nn.Dropout(dropout)

    def forward(self, features: Tensor, batch: FoldedBatch) -> Tensor:
        """Embed each graph."""
        hidden = features
        for number, mix in enumerate(batch.mixes):
            layer = cast(nn.Linear, self.layers[number])
            if number:
                hidden = self.dropout(functional.elu(hidden))
            hidden = mixed(hidden @ layer.weight.T, mix) + layer.bias  # [rows of the level, width]
        return mixed(hidden, batch.readout)


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


def operation_rows(kinds: int, recipe: Recipe) -> nn.Module:
    """How operations enter: one-hot, or as learned vectors of the layers' width.

    Those start normally distributed (Operation Embeddings, ICCVW 2021, section 3.3).
    """
    if recipe.operations == "learned":
        return nn.Embedding(kinds + 1, recipe.width, padding_idx=0)
    return OneHot(kinds)


class PieceEncoder(nn.Module):
    """F_s or F_c: operations to the vector of a motif or of a context graph.

    Args:
        kinds: The number of known kinds.
        recipe: The settings.

    Shapes:
        result: float32[pieces, width].
    """

    def __init__(self, kinds: int, recipe: Recipe) -> None:
        super().__init__()
        self.operations = operation_rows(kinds, recipe)
        learned = recipe.operations == "learned"
        self.convolutions = Convolutions(recipe.width if learned else kinds, recipe)

    def forward(self, batch: FoldedBatch) -> Tensor:
        """Embed each piece."""
        pieces: Tensor = self.convolutions(self.operations(batch.inputs), batch)
        return pieces


class PaperEncoder(nn.Module):
    """F_s and F_m of Eq. 8, with F_c and the classifier f of the training beside them.

    Args:
        kinds: The number of known kinds.
        families: The number of families that f tells apart.
        recipe: The settings.
    """

    def __init__(self, kinds: int, families: int, recipe: Recipe) -> None:
        super().__init__()
        self.motifs = PieceEncoder(kinds, recipe)
        self.contexts = PieceEncoder(kinds, recipe)
        self.graphs = Convolutions(recipe.width, recipe, recipe.dropout)
        self.classifier = nn.Linear(recipe.width, families)

    @property
    def inference_parameters(self) -> int:
        """The learned numbers of F_s and F_m, which embed."""
        parts = [*self.motifs.parameters(), *self.graphs.parameters()]
        return sum(part.numel() for part in parts)

    def initialise_from(self, other: PaperEncoder) -> None:
        """Take over the three networks of an encoder of the same kinds, not its classifier."""
        for mine, its in (
            (self.motifs, other.motifs),
            (self.contexts, other.contexts),
            (self.graphs, other.graphs),
        ):
            mine.load_state_dict(its.state_dict())


def device_of(module: nn.Module) -> torch.device:
    """Where the parameters are."""
    return next(module.parameters()).device
