"""What the paper's two stages train: F_s, F_c, F_m and the classifier f."""

from __future__ import annotations

from torch import nn

from nar_plugin.encoder.paper.graph_convolutions import Convolutions, PieceEncoder
from nar_plugin.encoder.paper.model import PaperEncoder
from nar_plugin.train.paper.ablations import Recipe


class PaperNetworks(nn.Module):
    """F_s and F_m of Eq. 8, with F_c, the classifier f and the heads of the training beside them.

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
        self.motif_head = _head(recipe)  # of Eq. 4, for motifs and contexts alike
        self.graph_head = _head(recipe)  # of Eq. 5

    def encoder(self, words: list[str], recipe: Recipe, seed: int) -> PaperEncoder:
        """What answers: F_s and F_m alone.

        Args:
            words: The kinds, in the order of their numbers.
            recipe: The settings.
            seed: Of cutting at random.
        """
        made = PaperEncoder(words, recipe.reading(), seed)
        made.motifs.load_state_dict(self.motifs.state_dict())
        made.graphs.load_state_dict(self.graphs.state_dict())
        return made.eval().requires_grad_(False)

    def initialise_from(self, other: PaperNetworks) -> None:
        """Take over the three networks of another training of the same kinds."""
        for mine, its in (
            (self.motifs, other.motifs),
            (self.contexts, other.contexts),
            (self.graphs, other.graphs),
        ):
            mine.load_state_dict(its.state_dict())


def _head(recipe: Recipe) -> nn.Module:
    """A perceptron whose result is compared and thrown away, where the recipe has heads."""
    if not recipe.heads:
        return nn.Identity()
    width = recipe.width
    return nn.Sequential(nn.Linear(width, width), nn.ELU(), nn.Linear(width, width))
