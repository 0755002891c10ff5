"""Edits that insert something at the end of each residual branch."""

from __future__ import annotations

import numpy as np

from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.fit.edits.draft import Draft
from nar_plugin.train.fit.edits.residuals import read_instead, residuals
from nar_plugin.train.fit.written_operations import linear

_SQUEEZE = 16  # Hu et al. 2018, arXiv 1709.01507, section 6.1
_NARROWER = 8


def gate(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """A squeeze-and-excitation gate on each branch (Hu et al. 2018, arXiv 1709.01507)."""
    draft = Draft(graph)
    found = residuals(draft)
    pooled = Op("mean", (("over", "positions"),))
    for each in found:
        narrow = max(1, each.width // _SQUEEZE)
        layers = [linear(each.width, narrow), Op("relu"), linear(narrow, each.width)]
        weights = draft.chain(each.branch, [pooled, *layers, Op("sigmoid")])
        read_instead(each.total, each.branch, draft.add(Op("mul"), [each.branch, weights]))
    return draft.graph() if found else None


def adapter(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """A narrow perceptron with a shortcut on each branch (Houlsby et al. 2019, 1902.00751)."""
    draft = Draft(graph)
    found = residuals(draft)
    for each in found:
        narrow = max(1, each.width // _NARROWER)
        layers = [linear(each.width, narrow), Op("relu"), linear(narrow, each.width)]
        inner = draft.chain(each.branch, layers)
        read_instead(each.total, each.branch, draft.add(Op("add"), [each.branch, inner]))
    return draft.graph() if found else None


def scale(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """A learned factor for each channel of each branch (Touvron et al. 2021, arXiv 2103.17239)."""
    draft = Draft(graph)
    found = residuals(draft)
    factor = Op("mul", (("operand", "param"),))
    for each in found:
        read_instead(each.total, each.branch, draft.chain(each.branch, [factor]))
    return draft.graph() if found else None


def gated_residual(
    graph: ArchitectureGraph, random: np.random.Generator
) -> ArchitectureGraph | None:
    """A gate of the shortcut on each branch, x + f(x) sigmoid(W x) (Srivastava et al. 2015)."""
    draft = Draft(graph)
    found = residuals(draft)
    for each in found:
        weights = draft.chain(each.shortcut, [linear(each.width, each.width), Op("sigmoid")])
        read_instead(each.total, each.branch, draft.add(Op("mul"), [each.branch, weights]))
    return draft.graph() if found else None


def no_residual(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """A convolutional network without its shortcuts."""
    draft = Draft(graph)
    found = residuals(draft)
    if not found or draft.of("attention", "linear_attention", "embedding"):
        return None
    for each in found:
        draft.redirect(each.total, each.branch)
    return draft.graph()
