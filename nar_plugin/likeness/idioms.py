"""What people call a few operations that stand together: a gate, rotary positions, experts."""

from __future__ import annotations

from collections.abc import Sequence

from nar_plugin.encoder.words import ACTIVATIONS, NORMS
from nar_plugin.likeness.wiring import Wired
from nar_plugin.tracing.graph import Op

TOLD = 4  # operations of a chain that a sentence names
_SQUASHING = frozenset({"sigmoid", "hardsigmoid", "tanh", "softmax"})
ROUTER = "a router that weighs experts"
_ONE = {
    "rotary": "rotary positions",
    "roll": "shifted windows (roll)",
    "l2_norm": "normalised vectors (l2_norm)",
    "add": "a sum",
    "cat": "a concatenation",
    "embedding": "an embedding",
    "attention": "attention",
    "upsample": "an upsampling",
    "max_pool": "a max pooling",
    "avg_pool": "an average pooling",
    "mean": "a mean over positions",
    "mul": "a product",
}


def name_of(block: Wired, places: Sequence[int]) -> str:
    """What operations of a block are together, in a few words.

    Args:
        block: The block.
        places: Some of its operations, ascending, connected or of one kind.
    """
    ops = [block.op(place) for place in places]
    kinds = [op.kind for op in ops]
    layers = [op for op in ops if op.kind in ("linear", "conv")]
    if "attention" in kinds:
        own = sum(block.op(place).kind == "attention" for place in block.places)
        return "another attention" if own > kinds.count("attention") else "attention"
    if experts := next((op.get("experts") for op in ops if op.get("experts")), None):
        return f"a mixture of {experts} experts"
    if "topk" in kinds and "softmax" in kinds:
        return ROUTER
    if _is_gate(block, places, kinds):
        if "mean" in kinds and layers:
            conv = any(op.kind == "conv" for op in layers)
            return "a channel gate (ECA)" if conv else "a squeeze-and-excitation gate"
        return f"a gate ({', '.join(kinds)})"
    if _feeds(block, places, "attention"):
        if set(kinds) <= NORMS | {"l2_norm"}:
            return f"normalised queries and keys ({kinds[0]})"
        if kinds == ["embedding"]:
            return "a table of position biases"
        if not block.wiring.sources[places[0]]:
            return f"a position bias from a small network ({', '.join(kinds)})"
    if kinds == ["linear"] and not block.wiring.readers[places[0]]:
        return "an output layer"
    if len(layers) == 1 and set(kinds) <= {*NORMS, *ACTIVATIONS, "linear", "conv"}:
        return _layer(layers[0]) + _with([kind for kind in kinds if kind not in ("conv", "linear")])
    if kinds == ["mul"] and len(block.wiring.sources[places[0]]) == 1:
        return "a learned scale (mul)"
    if kinds[0] in NORMS and set(kinds[1:]) <= ACTIVATIONS:
        return _article(kinds[0]) + _with(kinds[1:])
    if len(set(kinds)) == 1:
        one = _ONE.get(kinds[0], _article(kinds[0]))
        return one if len(kinds) == 1 else f"{len(kinds)} {kinds[0]}"
    return chain(kinds)


def chain(kinds: Sequence[str]) -> str:
    """Operations in order; of a long chain the first ones and how many more there are."""
    more = len(kinds) - TOLD
    return f"{', '.join(kinds[:TOLD])} and {more} more" if more > 2 else ", ".join(kinds)


def short(op: Op) -> str:
    """An operation in as few words as tell it apart, such as `depthwise conv 7x7`."""
    if op.kind != "conv":
        return op.kind
    return f"{_sort(op)}conv {op.get('kernel')}"


def _article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _layer(op: Op) -> str:
    if op.kind == "linear":
        return "a linear layer"
    transposed = "transposed " if op.get("transposed") else ""
    return f"a {_sort(op)}{transposed}convolution ({op.get('kernel')})"


def _sort(op: Op) -> str:
    """`depthwise ` or `grouped ` of a convolution that is one."""
    groups = op.get("groups", 1)
    return "" if groups == 1 else "depthwise " if groups == op.get("in") else "grouped "


def _with(others: Sequence[str]) -> str:
    return f" with {' and '.join(dict.fromkeys(others))}" if others else ""


def _is_gate(block: Wired, places: Sequence[int], kinds: Sequence[str]) -> bool:
    """Whether a branch is squashed and then multiplied with the value that it came from."""
    return kinds[-1] == "mul" and any(kind in _SQUASHING for kind in kinds)


def _feeds(block: Wired, places: Sequence[int], kind: str) -> bool:
    """Whether all that reads a result of these operations, outside of them, is of one kind.

    A rotation of queries and keys is passed by.
    """
    own = set(places)
    outside = {r for place in places for r in block.wiring.readers[place] if r not in own}
    passed = {
        further
        for reader in outside
        for further in (
            block.wiring.readers[reader] if block.wiring.kind(reader) == "rotary" else [reader]
        )
    }
    return bool(passed) and all(block.wiring.kind(reader) == kind for reader in passed)
