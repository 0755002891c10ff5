"""The backbone of a graph: what is left of it without head, stem and readout.

It is what lies between the first and the last block that the graph holds twice, widths aside, both
included. A graph without such a block has its whole `design` as backbone. So BERT with five heads
is one backbone, and a ResNet-50 with another stem is ResNet-50's.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from nar_plugin.encoder.trunk import part
from nar_plugin.mining import MacroGraph
from nar_plugin.tracing.fingerprint import fingerprint

SMALLEST = 4  # operations of a block that counts: a convolution with its norm is in all designs


def backbone(macro: MacroGraph, design: str) -> str:
    """A hash that graphs of one backbone share, all widths of the backbone included.

    Args:
        macro: The graph, cut into blocks.
        design: Its hash without the sizes of head and vocabulary (`ArchitectureGraph.design`).
    """
    shapes = [macro.motifs[node].shape for node in macro.nodes.tolist()]
    sizes = np.diff(macro.spans, axis=1)[:, 0]
    counts = Counter(shapes)
    repeated = [
        place
        for place, shape in enumerate(shapes)
        if counts[shape] > 1 and sizes[place] >= SMALLEST
    ]
    if not repeated:
        return design
    start, stop = macro.spans[repeated[0], 0], macro.spans[repeated[-1], 1]
    places = np.arange(len(macro.graph))
    return fingerprint(part(macro.graph, (places >= start) & (places < stop)))
