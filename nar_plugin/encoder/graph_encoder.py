"""What an encoder is, and the classes of the two kinds that there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from torch import Tensor, nn

from nar_plugin.encoder.config import PAPER
from nar_plugin.encoder.labels import Counts
from nar_plugin.mining import MacroGraph
from nar_plugin.tracing.graph import ArchitectureGraph


class GraphEncoder(nn.Module):
    """Gives graphs unit vectors whose cosine says how near two designs are.

    To add a kind: a subclass, its name in `nar_plugin.encoder.config` and in `encoder_class`.

    Attributes:
        kind: The word by which `encoder.json` tells it.
        config: The arguments that make it again.
        dimensions: Of the vectors.
    """

    kind: ClassVar[str]
    config: dict[str, Any]
    dimensions: int

    def encode(self, macros: Sequence[MacroGraph]) -> Tensor:
        """As `encode_graphs`, of macro graphs."""
        return self.encode_graphs([macro.graph for macro in macros])

    def encode_graphs(self, graphs: Sequence[ArchitectureGraph]) -> Tensor:
        """Unit vectors of graphs.

        Returns:
            float32[len(graphs), dimensions] on the CPU.
        """
        raise NotImplementedError

    def encode_labelled(self, graphs: Sequence[ArchitectureGraph], counts: Counts) -> Tensor:
        """As `encode_graphs`, where the labels of the graphs are counted already."""
        return self.encode_graphs(graphs)


def encoder_class(kind: str) -> type[GraphEncoder]:
    """The class of a kind; imported when it is first asked for."""
    if kind == PAPER:
        from nar_plugin.encoder.paper.model import PaperEncoder

        return PaperEncoder
    from nar_plugin.encoder.model import ArchitectureEncoder

    return ArchitectureEncoder
