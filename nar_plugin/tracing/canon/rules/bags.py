"""Bags of embeddings: looked-up rows that one kernel sums, averages or compares."""

from __future__ import annotations

from dataclasses import replace

import torch

from nar_plugin.tracing.canon.call import Call
from nar_plugin.tracing.canon.rules.expansions import Emit
from nar_plugin.tracing.canon.rules.rule import Rule, expands

_MODES = ("sum", "mean", "max")
_MODE, _WEIGHTS = 4, 6  # places of arguments


@expands(
    Rule(
        name="bags of embeddings",
        effect="expanded",
        pattern="nn.EmbeddingBag and F.embedding_bag in their modes, with a weight for each sample",
        result="embedding, then sum, mean or max; a product between",
        reason="One kernel for a look-up and a reduction over the bag.",
        source="https://docs.pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html",
    ),
    "embedding_bag",
    "_embedding_bag",
    "_embedding_bag_forward_only",
)
def _bag(call: Call, emit: Emit) -> int | None:
    bags = call.out[0] if isinstance(call.out, tuple | list) else call.out
    call = replace(call, out=bags)
    rows = emit(call.part("embedding", [0, 1]))
    if rows < 0:
        return None
    weights = call.args[_WEIGHTS] if len(call.args) > _WEIGHTS else None
    if weights is not None:
        place = next(i for i, tensor in enumerate(call.tensors) if tensor is weights)
        rows = emit(call.part("mul", [place], rows))
    mode = _MODES[int(call.args[_MODE]) if len(call.args) > _MODE else 0]
    # A bag's rows stand along the second dimension, as where ids of one length are looked up.
    looked_up = torch.empty((bags.shape[0], 1, bags.shape[-1]), device="meta")
    reduction = call.part(mode, [], rows)
    return emit(replace(reduction, args=(looked_up, [1]), tensors=[looked_up]))
