"""A time that comes in: whole or not, it is embedded alike."""

from __future__ import annotations

import torch

from nar_plugin.tracing.canon.call import Call, tensors_among
from nar_plugin.tracing.canon.rules.rule import Attributes, Rule, on_calls
from nar_plugin.tracing.canon.weights import unmoved
from nar_plugin.tracing.record.record import CONST, DATA


@on_calls(
    Rule(
        name="sines of a time",
        effect="dropped",
        pattern="cos and sin of an input that has one number for each sample, times constants",
        result="",
        reason="A diffusion model is told its step as a whole number, whose sines are constants "
        "as ids are, or as a fraction. Sines of coordinates stay.",
        source="Peebles & Xie 2022, arXiv 2212.09748, and its code",
    ),
    "cos",
    "sin",
)
def _sine(call: Call) -> tuple[str, Attributes] | None:
    if max(call.sources, default=CONST) == DATA and _is_time(call):
        return None
    return call.name, {}


def _is_time(call: Call) -> bool:
    """Whether what is read goes back, through calls with constants, to one number a sample."""
    tensor, source = call.tensors[0], call.origins[0]
    while source >= 0:
        record = call.records[source]
        live = [place for place, item in enumerate(record.sources) if item != CONST]
        if len(live) != 1:
            return False
        tensor, source = tensors_among(record)[live[0]], record.sources[live[0]]
    whole: torch.Tensor = unmoved(tensor, call.moves)
    return source == DATA and whole.dim() <= 1
