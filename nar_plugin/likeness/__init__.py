"""How alike two designs are, from 0 to 1, and which of their parts correspond.

One number serves ranking, comparing and novelty:

    likeness = s(1 - sqrt(1 - overlap) exp(-2 cosine^2))

with s a stretching of the scale that changes no order (`score.py`).

The *overlap* is what two designs have in common, counted: each design spreads a mass of 1 over the
labels of its operations (`nar_plugin.encoder.labels`), and the overlap is the mass that can be
moved from one to the other at no cost, the sum of the smaller shares. That is one minus the total
variation distance, and the optimal assignment of operations under the hierarchy of labels (Kriege,
Giscard & Wilson, On Valid Optimal Assignment Kernels, NIPS 2016, section 4.2, weighted). The
*cosine* is that of the encoder's vectors, which have learned which designs the field calls
relatives; it counts as much as it is certain.

The *alignment* reads the overlap out: which block went where, and what differs. The *verdict* says
in a sentence what two designs are to each other (docs/explanations.md).
"""

from nar_plugin.likeness.alignment import Alignment, align
from nar_plugin.likeness.overlap import LabelTable, Postings, overlaps
from nar_plugin.likeness.score import DIFFERENT, PULL, SCALE, likeness
from nar_plugin.likeness.verdict import Verdict, verdict_of

__all__ = [
    "DIFFERENT",
    "PULL",
    "SCALE",
    "Alignment",
    "LabelTable",
    "Postings",
    "Verdict",
    "align",
    "likeness",
    "overlaps",
    "verdict_of",
]
