"""The paper's encoder as it answers: F_s and F_m of Eq. 8."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from nar_plugin.encoder.config import PAPER
from nar_plugin.encoder.graph_encoder import GraphEncoder
from nar_plugin.encoder.paper.cutting import Cut, cut, folded, folded_pieces
from nar_plugin.encoder.paper.graph_convolutions import Convolutions, PieceEncoder, device_of
from nar_plugin.encoder.paper.reading import Reading
from nar_plugin.mining import mine
from nar_plugin.mining.order import in_order
from nar_plugin.tracing.graph import ArchitectureGraph, IntArray

_BATCH = 64  # graphs that are cut at once
_CHUNK = 2048  # pieces or graphs that are embedded at once


class PaperEncoder(GraphEncoder):
    """Graphs to unit vectors by way of their motifs.

    Pei, Li, Dong & Xu, Neural Architecture Retrieval (ICLR 2024), Eq. 8: each motif is embedded by
    F_s, and the macro graph, whose nodes the motifs are, by F_m.

    Args:
        words: The kinds of operations that the training knew.
        reading: How graphs are read, as `Reading` or its fields.
        seed: Of cutting at random.

    Shapes:
        result of `encode_graphs`: float32[n, width], rows of length 1.
    """

    kind = PAPER

    def __init__(
        self, words: Sequence[str], reading: Reading | Mapping[str, Any], seed: int = 0
    ) -> None:
        super().__init__()
        self.reading = reading if isinstance(reading, Reading) else Reading.of(reading)
        self.words, self.seed = [str(word) for word in words], int(seed)
        self.config = {"words": self.words, "reading": asdict(self.reading), "seed": self.seed}
        self.dimensions = self.reading.width
        self.motifs = PieceEncoder(len(self.words), self.reading)
        self.graphs = Convolutions(self.reading.width, self.reading)
        self._numbers = {word: number for number, word in enumerate(self.words, start=1)}

    def encode_graphs(self, graphs: Sequence[ArchitectureGraph]) -> Tensor:
        """Unit vectors of graphs.

        Returns:
            float32[len(graphs), width] on the CPU.
        """
        parts = [torch.zeros(0, self.dimensions)]
        for start in range(0, len(graphs), _BATCH):
            items = [self._ordered(graph) for graph in graphs[start : start + _BATCH]]
            data = cut(items, self._numbers, self.reading, seed=self.seed)
            parts.append(embed(self.motifs, self.graphs, data, self.reading))
        return torch.cat(parts)

    def _ordered(self, graph: ArchitectureGraph) -> _Ordered:
        if self.reading.splitting == "motifs":
            macro = mine(graph)
            return _Ordered(macro.graph, "", macro.spans[:, 0])
        at_random = self.reading.splitting == "random"
        fingerprint = graph.fingerprint if at_random else ""
        return _Ordered(in_order(graph), fingerprint, np.zeros(1, dtype=np.int32))


class _Ordered(NamedTuple):
    """See `nar_plugin.encoder.paper.cutting.Ordered`."""

    graph: ArchitectureGraph
    fingerprint: str
    starts: IntArray


@torch.no_grad()
def embed(motifs: PieceEncoder, graphs: Convolutions, data: Cut, reading: Reading) -> Tensor:
    """float32[g, width] on the CPU: the embeddings of all graphs, of length 1."""
    motifs.eval()
    graphs.eval()
    device = device_of(motifs)
    vectors = motif_vectors(motifs, data, reading)
    macros = folded(data.nodes, data.edges, data.sizes, reading)
    rows = []
    for start in range(0, len(macros), _CHUNK):
        batch = macros.batch(np.arange(start, min(start + _CHUNK, len(macros))), device)
        rows.append(graphs(vectors[batch.inputs], batch).cpu())
    return functional.normalize(torch.cat(rows), dim=1)


@torch.no_grad()
def motif_vectors(motifs: PieceEncoder, data: Cut, reading: Reading) -> Tensor:
    """float32[m, width]: F_s of every distinct motif, once."""
    motifs.eval()
    pieces = folded_pieces(data.motifs, reading)
    numbers = np.arange(len(pieces))
    chunks = [numbers[start : start + _CHUNK] for start in range(0, len(numbers), _CHUNK)]
    return torch.cat([motifs(pieces.batch(chunk, device_of(motifs))) for chunk in chunks])
