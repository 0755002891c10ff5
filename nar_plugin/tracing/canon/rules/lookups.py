"""Rows that are looked up by index: in learned tables, in what flows; and sums by index."""

from __future__ import annotations

import math

import torch

from nar_plugin.tracing.canon.call import Call
from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.rules.rule import Attributes, Rule, declare, on_calls, starts_at
from nar_plugin.tracing.record.record import CONST, DATA, PARAM
from nar_plugin.tracing.vocabulary import LOOKUPS, NAMES

declare(
    Rule(
        name="embedding by hand",
        effect="renamed",
        pattern="index, gather, index_select of a parameter at ids that come in or are computed",
        result="embedding(vocabulary, width)",
        reason="weight[ids] and F.embedding(ids, weight) are one layer.",
    )
)


declare(
    Rule(
        name="picked places",
        effect="dropped",
        pattern="index, gather, index_select of what flows, at places that no input changes",
        result="",
        reason="x[:, [-1]] is x[:, -1:], and a fixed order of channels or tokens is no layer.",
    )
)


@on_calls(
    Rule(
        name="look-ups in learned tables",
        effect="dropped",
        pattern="index, gather, index_select of a parameter at constant places",
        result="",
        reason="A relative position bias is a parameter, however its table is stored.",
    ),
    *LOOKUPS,
)
def _looked_up(call: Call) -> tuple[str, Attributes] | None:
    if call.sources[0] >= 0 and all(source in (CONST, PARAM) for source in call.sources[1:]):
        return None
    if max(call.sources) >= 0:
        call.notes["rows_of"] = next(iter(_picked(call)), None)
        call.notes["of_rows"] = call.sources[0] >= 0 and set(call.sources[1:]) == {DATA}
        if _picks_rows(call):
            call.notes["rows"] = _table(call)
        return NAMES.get(call.name, call.name), {}
    masks = any(tensor.dtype == torch.bool for tensor in call.tensors)
    if call.sources[0] != PARAM or not call.live or masks:
        return None
    return "embedding", _table(call)


def _table(call: Call) -> Attributes:
    """Rows and width of a learned table that is looked up."""
    weight = call.tensors[0]
    rows = math.prod(weight.shape[place] for place in _picked(call))
    return {"vocabulary": rows, "width": _held(weight) // rows}


def _picked(call: Call) -> list[int]:
    """The dimensions of a table that ids are looked up in."""
    if call.name == "index":
        return [place for place, ids in enumerate(call.args[1]) if ids is not None]
    return [call.args[1] % max(call.tensors[0].dim(), 1)]


@starts_at(None, "gather", last=True)
def _computed_rows(graph: Rewriter, index: int) -> None:
    """After the experts, whose biases are looked up by those who chose them."""
    node = graph.nodes[index]
    if rows := node.notes.get("rows"):
        node.kind, node.attributes = "embedding", rows


def _picks_rows(call: Call) -> bool:
    """Whether places that are computed pick whole rows of a learned table."""
    if call.sources[0] != PARAM:
        return False
    if any(tensor.dtype == torch.bool for tensor in call.tensors):
        return False
    table, ids = call.tensors[:2]
    picked = _picked(call)
    others = [axis for axis in range(table.dim()) if axis not in picked and table.shape[axis] > 1]
    if sum(table.stride(axis) != 0 for axis in others) != 1:
        return False  # matrices, as of experts, or numbers
    apart = [axis for axis in others if call.name == "gather" and table.stride(axis)]
    return all(ids.stride(axis) == 0 for axis in apart)


def _held(weight: torch.Tensor) -> int:
    """The elements of a weight, each once where it was expanded."""
    pairs = zip(weight.shape, weight.stride(), strict=True)
    return math.prod(size for size, stride in pairs if stride)


@on_calls(
    Rule(
        name="sums by index",
        effect="renamed",
        pattern="index_add, scatter_add, scatter_reduce of sums, index_put that accumulates",
        result="scatter_add",
        reason="One function on rows: how messages are summed at the nodes of a graph.",
    ),
    "index_add",
    "scatter_reduce",
)
def _summed_by_index(call: Call) -> tuple[str, Attributes] | None:
    if call.name == "scatter_reduce" and call.args[4] != "sum":
        return call.name, {}
    call.notes["rows_of"] = call.args[1] % max(call.tensors[0].dim(), 1)
    return "scatter_add", {}
