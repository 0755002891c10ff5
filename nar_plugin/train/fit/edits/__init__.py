"""What a designer changes in a design: one function for each kind of edit.

Each takes a canonical graph to that of the edited model, so that training and measuring need no
model. `tests/train/edits` edits real models and compares the traces.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nar_plugin.tracing.graph import ArchitectureGraph
from nar_plugin.train.fit.edits import (
    convolutions,
    depth,
    ends,
    insertions,
    mechanisms,
    operations,
    widths,
)
from nar_plugin.train.fit.edits.draft import Draft, Step

__all__ = ["EDITS", "EDITS_VERSION", "HELD_OUT", "TRAINED", "Draft", "Step", "edited"]

EDITS_VERSION = "2"  # of what the kinds do; cells of the split `edits` are measured by one

Edit = Callable[[ArchitectureGraph, np.random.Generator], ArchitectureGraph | None]

# A training may use these.
_TRAINED: dict[str, Edit] = {
    "norm": operations.norm,
    "no norms": operations.no_norms,
    "activation": operations.activation,
    "heads": operations.heads,
    "kernel": convolutions.kernel,
    "groups": convolutions.grouped,
    "width": widths.width,
    "inner width": widths.inner_width,
    "deeper": depth.deeper,
    "shallower": depth.shallower,
    "gate": insertions.gate,
    "adapter": insertions.adapter,
    "scale": insertions.scale,
    "no residual": insertions.no_residual,
    "head": ends.head,
    "no head": ends.no_head,
    "stem": ends.stem,
    "no positions": ends.no_positions,
}
# No training may use these: they say whether a method has learned to see past edits of any kind.
_HELD_OUT: dict[str, Edit] = {
    "gated residual": insertions.gated_residual,
    "separable": convolutions.separable,
    "pooling": convolutions.pooling,
    "mixer": mechanisms.mixer,
    "gated perceptron": mechanisms.gated_perceptron,
    "stage": mechanisms.stage,
    "tagger": ends.tagger,
    "no embeddings": ends.no_embeddings,
}
EDITS: dict[str, Edit] = _TRAINED | _HELD_OUT
TRAINED, HELD_OUT = tuple(_TRAINED), tuple(_HELD_OUT)


def edited(
    graph: ArchitectureGraph, kind: str, random: np.random.Generator
) -> ArchitectureGraph | None:
    """A graph after one edit.

    Example:
        >>> random = np.random.default_rng(0)
        >>> edited(graph, "gate", random)  # a ResNet becomes an SE-ResNet

    Args:
        graph: The graph, which stays as it is.
        kind: One of `EDITS`. A training draws from `TRAINED` alone.
        random: What draws the details, such as which norm.

    Returns:
        The edited graph, or None where the edit does not apply, changes nothing or leaves nothing.
    """
    found = EDITS[kind](graph, random)
    if found is None or len(found) < 2 or found.fingerprint == graph.fingerprint:
        return None
    return found
