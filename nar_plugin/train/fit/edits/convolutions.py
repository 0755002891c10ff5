"""Edits of the spatial convolutions behind the stem: kernels, groups, separable, strides."""

from __future__ import annotations

import numpy as np

from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.fit.edits.draft import Draft, Step, changed, side, sized

_KERNELS = (3, 5, 7)
_GROUPS = 32  # Xie et al. 2017, arXiv 1611.05431


def kernel(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """Another size of the commonest kernel."""
    draft = Draft(graph)
    convs = _spatial(draft)
    sizes = [side(step.op) for step in convs]
    if not sizes:
        return None
    old = max(sorted(set(sizes)), key=sizes.count)
    new = int(random.choice([size for size in _KERNELS if size != old]))
    for step in convs:
        if side(step.op) == old:
            step.op = changed(step.op, kernel=sized(step.op, "kernel", new))
    return draft.graph()


def grouped(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """Groups in the spatial convolutions that have none, as in a ResNeXt."""
    draft = Draft(graph)
    convs = [
        step
        for step in _full(draft)
        if _width(step.op, "in") % _GROUPS == _width(step.op, "out") % _GROUPS == 0
    ]
    for step in convs:
        step.op = changed(step.op, groups=_GROUPS)
    return draft.graph() if convs else None


def separable(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """A depthwise and a pointwise convolution for each full one (Howard et al., 1704.04861)."""
    draft = Draft(graph)
    convs = _full(draft)
    for step in convs:
        wide = _width(step.op, "in")
        deep = draft.add(changed(step.op, groups=wide, out=wide), step.inputs)
        ones = {name: sized(step.op, name, 1) for name in ("kernel", "stride", "dilation")}
        step.op, step.inputs = changed(step.op, **ones), [deep]
    return draft.graph() if convs else None


def pooling(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """Average pooling in the place of strides of 2, ahead of the convolution (He et al. 2019).

    ResNet-D: arXiv 1812.01187, section 4.
    """
    draft = Draft(graph)
    first = draft.first_layers()
    convs = [
        step
        for step in draft.of("conv")
        if id(step) not in first
        and not step.op.get("transposed")
        and set(str(step.op.get("stride")).split("x")) == {"2"}
    ]
    for step in convs:
        two = sized(step.op, "stride", 2)
        pool = Op("avg_pool", (("kernel", two), ("stride", two)))
        step.inputs = [draft.add(pool, step.inputs)]
        step.op = changed(step.op, stride=sized(step.op, "stride", 1))
    return draft.graph() if convs else None


def _spatial(draft: Draft) -> list[Step]:
    """The convolutions of a square kernel above 1, without the first and the transposed ones."""
    first = draft.first_layers()
    return [
        step
        for step in draft.of("conv")
        if id(step) not in first and side(step.op) > 1 and not step.op.get("transposed")
    ]


def _full(draft: Draft) -> list[Step]:
    """Those of one group."""
    return [
        step for step in _spatial(draft) if step.op.get("groups") == 1 and _width(step.op, "in") > 1
    ]


def _width(op: Op, name: str) -> int:
    width = op.get(name)
    return width if isinstance(width, int) else 1
