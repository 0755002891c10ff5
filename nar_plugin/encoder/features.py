"""Node features: an operation's place in the vocabulary and its attributes as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

import numpy as np
from numpy.typing import NDArray

from nar_plugin.tracing.graph import Op

UNKNOWN = 0  # the vocabulary index of a kind that training never saw

# Sizes enter as logarithms, so that twice as wide is one step wherever one starts.
_LOGARITHMS = {
    "in": 8.0,
    "out": 8.0,
    "width": 8.0,
    "value_width": 8.0,
    "vocabulary": 16.0,
    "heads": 4.0,
    "groups": 8.0,
    "experts": 4.0,
    "layers": 2.0,
}
_SIZES = {"kernel": 4.0, "stride": 2.0, "dilation": 2.0, "output": 4.0}
_NUMBERS = {"dims": 2.0, "exponent": 4.0, "slope": 1.0}
_FLAGS = ("bias", "transposed", "affine", "bidirectional")
_WORDS = (("operand", "param"), ("operand", "const"), ("approximate", "tanh"))
_DERIVED = ("expansion", "depthwise", "spatial_dims")

FEATURES = (
    *_LOGARITHMS,
    *_SIZES,
    *_NUMBERS,
    *_FLAGS,
    *(f"{name}={value}" for name, value in _WORDS),
    *_DERIVED,
)


def attribute_vector(op: Op) -> list[float]:
    """The attributes of one operation, each scaled to about one; absent ones are zero.

    Returns:
        `len(FEATURES)` numbers.
    """
    values = dict(op.attributes)
    row = [log2(1 + _number(values.get(name))) / scale for name, scale in _LOGARITHMS.items()]
    row += [log2(1 + _side(values.get(name))) / scale for name, scale in _SIZES.items()]
    row += [_number(values.get(name)) / scale for name, scale in _NUMBERS.items()]
    row += [float(values.get(name) is True) for name in _FLAGS]
    row += [float(values.get(name) == value) for name, value in _WORDS]
    wide_in, wide_out = _number(values.get("in")), _number(values.get("out"))
    row.append(log2(wide_out / wide_in) / 4 if wide_in and wide_out else 0.0)
    row.append(float(wide_in > 1 and values.get("groups") == wide_in))
    row.append(float(str(values.get("kernel", "")).count("x")) / 2)
    return row


def operation_features(
    ops: Sequence[Op], kinds: dict[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Vocabulary indices and attribute vectors of n operations.

    Args:
        ops: The operations.
        kinds: Vocabulary index of each known kind, from 1.

    Returns:
        int64[n] and float32[n, len(FEATURES)].
    """
    index = np.array([kinds.get(op.kind, UNKNOWN) for op in ops], dtype=np.int64)
    rows = np.array([attribute_vector(op) for op in ops], dtype=np.float32)
    return index, rows.reshape(len(ops), len(FEATURES))


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _side(value: object) -> float:
    """The mean side of a size such as `3x3`."""
    if not isinstance(value, str) or not value:
        return 0.0
    sides = [int(part) for part in value.split("x")]
    return sum(sides) / len(sides)
