"""How many weights an operation has."""

from __future__ import annotations

from math import prod

from nar_plugin.tracing.graph import Op

_GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def weights(op: Op) -> int:
    """The numbers in the matrices of one operation; 0 where its attributes do not tell."""
    said = dict(op.attributes)

    def size(name: str, default: int = 0) -> int:
        value = said.get(name, default)
        return value if isinstance(value, int) else 0

    if op.kind == "conv":
        kernel = str(said.get("kernel", "")).split("x")
        if not all(side.isdecimal() for side in kernel):
            return 0
        return size("in") * size("out") * prod(map(int, kernel)) // max(size("groups"), 1)
    if op.kind == "linear":
        return size("in") * size("out") * size("experts", 1)
    if op.kind == "embedding":
        return size("vocabulary") * size("width")
    if op.kind in _GATES:
        width, ways = size("width"), 1 + bool(said.get("bidirectional"))
        first = size("in") + width
        later = ways * width + width
        rows = first + later * (size("layers", 1) - 1)
        return _GATES[op.kind] * width * ways * rows
    return 0
