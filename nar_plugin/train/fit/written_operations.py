"""Operations as a trace writes them, for graphs that are changed in training."""

from __future__ import annotations

from nar_plugin.tracing.graph import Op

GELU = Op("gelu", (("approximate", "none"),))


def linear(width: int, out: int) -> Op:
    """A linear layer with a bias."""
    return Op("linear", (("bias", True), ("in", width), ("out", out)))


def batch_norm(width: int) -> Op:
    """A batch norm."""
    return Op("batch_norm", (("width", width),))


def layer_norm(width: int) -> Op:
    """A layer norm with weights."""
    return Op("layer_norm", (("affine", True), ("width", width)))


def rms_norm(width: int) -> Op:
    """An RMS norm with weights."""
    return Op("rms_norm", (("affine", True), ("width", width)))
