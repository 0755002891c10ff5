"""Masks and choices, and what a mask or a choice makes of values: a rectifier, an assignment."""

from __future__ import annotations

from dataclasses import replace

import torch

from nar_plugin.tracing.canon.call import Call
from nar_plugin.tracing.canon.rules.rule import Attributes, Rule, on_calls
from nar_plugin.tracing.record.record import CONST, DATA
from nar_plugin.tracing.vocabulary import MASKING, NAMES

_ABOVE, _BELOW = frozenset({"gt", "ge"}), frozenset({"lt", "le"})
_MASKS = (torch.bool, torch.uint8)


@on_calls(
    Rule(
        name="masks",
        effect="dropped",
        pattern="where, masked_fill, maximum, tril, x[mask] = number, ... with a mask that no "
        "input changes",
        result="",
        reason="A mask says which values count for one input; causal or not is no layer.",
    ),
    *(name for name in MASKING if not name.startswith("clamp")),
)
def _masked(call: Call) -> tuple[str, Attributes] | None:
    if call.name == "maximum" and call.live == 1 and 0.0 in (call.number(0), call.number(1)):
        return "relu", {}
    if call.name == "maximum" and (slope := _slope(call, 0, 1) or _slope(call, 1, 0)):
        return "leaky_relu", {"slope": slope}
    if call.name in ("where", "masked_fill") and _rectifies_by_choice(call):
        return "relu", {}
    if call.name in ("maximum", "minimum") and min(call.sources) >= 0:
        call.notes["shapes"] = call.shapes()
    if call.name == "where":
        call.notes["plain"] = min(call.sources) >= 0 and _are_plain(call, 1, 2)
        zeros = [word for word, place in (("then", 1), ("else", 2)) if call.number(place) == 0.0]
        call.notes["filled"] = "".join(zeros)
        call.notes["slope"] = len(call.sources) == 3 and _slope(call, 1, 2)
    if call.name == "masked_fill" and call.number(2) == 0.0:
        call.notes["filled"] = "then"
    operands = sum(source != CONST for source in call.sources)
    return None if operands < 2 else (NAMES.get(call.name, call.name), {})


def rectifies(call: Call, mask: int, x: int, *, positive: bool = True) -> bool:
    """Whether one operand says where another one, which came in, is above zero.

    Args:
        call: The call.
        mask: The place of the first among its tensors.
        x: The place of the second.
        positive: Whether above, and not below.
    """
    if len(call.tensors) <= max(mask, x) or DATA not in call.sources:
        return False
    for told, value in {(mask, x), (x, mask)} if call.name == "mul" else {(mask, x)}:
        if call.sources[told] != CONST or call.sources[value] != DATA or call.origins[told] < 0:
            continue
        asked = call.records[call.origins[told]]
        if asked.name not in (_ABOVE if positive else _BELOW) or asked.args[1] != 0:
            continue
        if asked.args[0] is call.tensors[value]:
            return True
    return False


def _rectifies_by_choice(call: Call) -> bool:
    """Whether what came in is taken where it is above zero, and zero elsewhere."""
    if call.name == "masked_fill":
        return call.number(2) == 0.0 and rectifies(call, 1, 0, positive=False)
    above = call.number(2) == 0.0 and rectifies(call, 0, 1)
    return above or (call.number(1) == 0.0 and rectifies(call, 0, 2, positive=False))


def _are_plain(call: Call, *places: int) -> bool:
    return all(call.scaled(place).near(1.0, 0.0) for place in places)


def _slope(call: Call, whole: int, leak: int) -> float | None:
    """The number below 1 that the second of two operands is the first one times."""
    if not 0 <= call.sources[whole] == call.sources[leak] or len(set(call.reads()[-2:])) > 1:
        return None
    scale, offset = call.scaled(leak)
    plain = call.scaled(whole).near(1.0, 0.0)
    return round(scale, 4) if plain and not offset and 0 < scale < 1 else None


@on_calls(
    Rule(
        name="assignments",
        effect="renamed",
        pattern="x[mask] = number, x[ids] = values, index_fill, index_put",
        result="masked_fill, index_put",
        reason="What torch makes of an assignment depends on its version.",
    ),
    "index_put",
    "index_fill",
)
def _assigned(call: Call) -> tuple[str, Attributes] | None:
    if call.name == "index_put":
        x, places, values, *adds = call.args
        if adds == [True]:
            call.notes["rows_of"] = next(i for i, item in enumerate(places) if item is not None)
            return "scatter_add", {}
        masks = [item for item in places if item is not None]
        if len(masks) == 1 and masks[0].dtype in _MASKS and values.dim() == 0:
            return _masked(replace(call, name="masked_fill", args=(x, masks[0], values)))
    if call.sources[0] >= 0 and set(call.sources[1:]) <= {CONST}:
        return None
    return "index_put", {}
