"""Widths, resolutions and work of the operations of a graph, as far as their attributes tell.

A canonical graph is free of resolution and sequence length, so a shape here is a width (channels)
and a resolution relative to the input's: `256 · 1/4`. What the attributes do not tell is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from nar_plugin.encoder.sizes import weights
from nar_plugin.tracing.graph import ArchitectureGraph, Op

_FOLDED = 4  # channels of 2 x 2 neighbours: a patch merging, or a pixel shuffle the other way
_LEAST, _MOST = 1 / 4096, 64  # resolutions; beyond them a guess went wrong
_POOLED = ("adaptive_avg_pool", "adaptive_max_pool", "mean", "max")


@dataclass(frozen=True)
class Shape:
    """What is known of the values that an operation gives.

    Attributes:
        width: Channels, or features.
        scale: Resolution relative to the input's, along one axis.
    """

    width: int | None = None
    scale: float | None = None

    def __str__(self) -> str:
        """Such as `256 · 1/4`; empty where nothing is known."""
        parts = [f"{self.width:,}"] if self.width else []
        if self.width and self.scale is not None and self.scale != 1:
            parts.append(str(Fraction(self.scale).limit_denominator(4096)))
        return " \N{MIDDLE DOT} ".join(parts)


def shapes_of(graph: ArchitectureGraph) -> list[Shape]:
    """The shape of what each operation gives."""
    found: list[Shape] = []
    for op, sources in zip(graph.ops, graph.sources(), strict=True):
        shape = _shape(op, [found[source] for source in sources])
        known = shape.scale is not None and _LEAST <= shape.scale <= _MOST
        found.append(shape if known else Shape(shape.width))
    return found


def work_of(graph: ArchitectureGraph, shapes: Sequence[Shape]) -> list[float]:
    """The estimated part of the FLOPs of each operation: its weights times its positions.

    A trace counts FLOPs of the whole design. Products without weights, such as those of attention,
    are not in the estimate.

    Args:
        graph: The design.
        shapes: Of its operations.

    Returns:
        Numbers that sum to 1, or zeros where there are no weights.
    """
    known = [shape.scale for shape in shapes if shape.scale]
    least = min(known, default=1.0)
    work = [
        0.0 if op.kind == "embedding" else float(weights(op) * (shape.scale or least) ** 2)
        for op, shape in zip(graph.ops, shapes, strict=True)
    ]
    total = sum(work)
    return [each / total for each in work] if total else work


def _shape(op: Op, sources: Sequence[Shape]) -> Shape:
    first = sources[0] if sources else Shape()
    if op.kind == "conv":
        scale = 1.0 if not sources else _unfolded(op, first)
        return Shape(_number(op, "out"), _strided(op, scale))
    if op.kind in ("max_pool", "avg_pool"):
        return Shape(first.width, _strided(op, first.scale))
    if op.kind == "upsample":
        return Shape(first.width, first.scale and first.scale * 2)
    if op.kind in _POOLED:
        return Shape(first.width)
    if op.kind == "attention":
        heads, width = _number(op, "heads"), _number(op, "value_width")
        return Shape(heads * width if heads and width else first.width, first.scale)
    if op.kind == "cat":
        widths = [source.width for source in sources]
        whole = sum(filter(None, widths)) if all(widths) and len(widths) > 1 else first.width
        return Shape(whole, _joined(sources))
    if width := _number(op, "out") or _number(op, "width"):
        return Shape(width, _unfolded(op, first))
    largest = max((source.width or 0 for source in sources), default=0)
    return Shape(largest or None, _joined(sources))


def _joined(sources: Sequence[Shape]) -> float | None:
    """The finest resolution that is known; of a sum all have one."""
    return max((each.scale for each in sources if each.scale is not None), default=None)


def _unfolded(op: Op, source: Shape) -> float | None:
    """The resolution after neighbours went into the channels, which leaves no operation."""
    width = _number(op, "in") or _number(op, "width")
    if source.scale is None or not source.width or not width or width == source.width:
        return source.scale
    if width == _FOLDED * source.width:
        return source.scale / 2
    if source.width == _FOLDED * width:
        return source.scale * 2
    flat = op.kind == "linear" and source.width and width % source.width == 0
    return None if flat else source.scale


def _strided(op: Op, scale: float | None) -> float | None:
    stride = str(op.get("stride", "")).split("x")[-1]
    if scale is None or not stride.isdecimal() or not int(stride):
        return scale
    return scale * int(stride) if op.get("transposed") else scale / int(stride)


def _number(op: Op, name: str) -> int | None:
    value = op.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
