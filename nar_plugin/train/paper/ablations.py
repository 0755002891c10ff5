"""Table 5 of the paper, its ablations, and what the paper leaves open."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from nar_plugin.encoder.paper.reading import Reading

Objective = Literal["ce+cl", "ce", "cl"]
# Settings that came when cells were measured already: at its default one is not told, so that these
# cells count as measured.
_LATER = frozenset(
    {"steps", "longest", "motif_temperature", "graph_temperature", "heads", "tuned", "both_ways"}
)


@dataclass(frozen=True)
class Recipe(Reading):
    """How the method is trained: the defaults are the recipe `paper`.

    Attributes:
        motif_epochs: Of stage one (Table 5: 5).
        motif_batch: Motifs in a batch of stage one (Table 5: 256).
        motif_rate: Learning rate of stage one (Table 5: 1e-2).
        motif_temperature: Divides the cosines of Eq. 4; the paper has none.
        graph_epochs: Of stage two (Table 5: 15).
        graph_batch: Graphs in a batch of stage two (Table 5: 512).
        graph_rate: Learning rate of stage two (Table 5: 1e-3).
        graph_temperature: Divides the cosines of Eq. 5; the paper has none.
        dropout: Between the layers of stage two (Table 5: 0.1).
        hops: k of the context graph's k-hop neighbours, which the paper leaves open.
        heads: Whether Eq. 4 and 5 compare what a perceptron makes of the vectors, which is then
            thrown away (SimCLR, ICML 2020); the paper says nothing of it.
        tuned: Whether stage two trains F_s too; Eq. 7 fixes it.
        objective: The terms of Eq. 6 that are minimised (Table 3).
        nas: Architectures of the search space to train on first (Table 4); 0 is from scratch.
    """

    motif_epochs: int = 5
    motif_batch: int = 256
    motif_rate: float = 1e-2
    motif_temperature: float = 1.0
    graph_epochs: int = 15
    graph_batch: int = 512
    graph_rate: float = 1e-3
    graph_temperature: float = 1.0
    dropout: float = 0.1
    hops: int = 1
    heads: bool = False
    tuned: bool = False
    objective: Objective = "ce+cl"
    nas: int = 0

    def told(self) -> dict[str, Any]:
        """The settings as a cell tells them."""
        later = {each.name: each.default for each in fields(self) if each.name in _LATER}
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in later or value != later[name]
        }

    def reading(self) -> Reading:
        """What the encoder keeps of it."""
        return Reading(**{each.name: getattr(self, each.name) for each in fields(Reading)})


# Chosen on validation sides (docs/decisions/the-papers-method.md).
TUNED = Recipe(
    width=128,
    splitting="sequence",
    steps=2,
    longest=20,
    both_ways=False,
    motif_temperature=0.1,
    graph_epochs=30,
    graph_temperature=0.1,
    tuned=True,
)
RECIPES = {"paper": Recipe(), "paper-tuned": TUNED}
