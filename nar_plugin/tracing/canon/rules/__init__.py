"""The rules of the canonical form: each module declares those of one concept.

Importing this package enters them all into the table; `fusion.py` tries the rules that start at
one kind in the order of the imports here.
"""

from nar_plugin.tracing.canon.rules import (  # isort: skip
    bookkeeping,
    arithmetic,
    expansions,
    layers,
    adapters,
    normalisation,
    normalisation_by_hand,
    activations,
    gates,
    softmax,
    contraction,
    adjacency,
    attention,
    rotary,
    packing,
    pooling,
    recurrence,
    tables,
    times,
    experts,
    joining,
)
from nar_plugin.tracing.canon.rules.rule import (
    CALLS,
    EXPANSIONS,
    FINISHING,
    FUSIONS,
    LAST,
    RULES,
    Rule,
)

__all__ = [
    "CALLS",
    "EXPANSIONS",
    "FINISHING",
    "FUSIONS",
    "LAST",
    "RULES",
    "Rule",
    "activations",
    "adapters",
    "adjacency",
    "arithmetic",
    "attention",
    "bookkeeping",
    "contraction",
    "expansions",
    "experts",
    "gates",
    "joining",
    "layers",
    "normalisation",
    "normalisation_by_hand",
    "packing",
    "pooling",
    "recurrence",
    "rotary",
    "softmax",
    "tables",
    "times",
]
