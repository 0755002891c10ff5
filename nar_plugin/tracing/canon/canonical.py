"""Turns recorded calls into canonical operations with the attributes that make designs differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import torch

from nar_plugin.tracing.canon.call import (
    Call,
    Filling,
    operator_name,
    place_of,
    tensors_among,
)
from nar_plugin.tracing.canon.inputs import Inputs
from nar_plugin.tracing.canon.joined import Joined, joined_by
from nar_plugin.tracing.canon.loops import repeated_steps
from nar_plugin.tracing.canon.node import Node, Read
from nar_plugin.tracing.canon.rounds import doubling_rounds
from nar_plugin.tracing.canon.rules import CALLS, EXPANSIONS
from nar_plugin.tracing.canon.rules.arithmetic import weight_of_weights
from nar_plugin.tracing.canon.rules.extrema import note_what_is_read
from nar_plugin.tracing.canon.rules.gates import SELF_GATED
from nar_plugin.tracing.canon.rules.packing import PACKABLE
from nar_plugin.tracing.canon.rules.tables import note_look_ups
from nar_plugin.tracing.canon.weights import calls_inside_weights
from nar_plugin.tracing.graph import Op
from nar_plugin.tracing.record.record import CONST, DATA, PARAM, Move, Record
from nar_plugin.tracing.record.samples import Samples
from nar_plugin.tracing.vocabulary import LOOKUPS, NAMES

__all__ = ["Node", "nodes_of"]

# What patterns are made of that read one value several times, or parts of it.
_OF_PARTS = SELF_GATED | frozenset(
    """
    gt ge lt le where masked_fill sub sum mean var std var_mean std_mean max amax logsumexp
    linalg_vector_norm tanh add sqrt rsqrt log log1p reciprocal relu matmul linear
    """.split()
)
# What may be dropped and leaves values in another order.
_REARRANGING = LOOKUPS | frozenset({"cat", "stack", "hstack", "im2col", "col2im", "sum", "mean"})


def nodes_of(
    records: list[Record],
    moves: dict[int, Move],
    head_counts: dict[int, int],
    filling: Filling,
    samples: Samples | None = None,
    data: Iterable[torch.Tensor] = (),
) -> tuple[list[Node], list[int]]:
    """Canonical nodes in recorded order.

    Args:
        records: The recorded calls.
        moves: The calls that only moved values, by identity of the result.
        head_counts: Heads that were folded into the batch, by id of the folded tensor.
        filling: Tells the one value that a large constant holds.
        samples: What the batch holds for each of several samples.
        data: What comes into the model.

    Returns:
        The nodes, and for every record the node (or PARAM, DATA, CONST) that stands for it.
    """
    builder = _Builder(records, moves, head_counts, filling, samples, Inputs(data))
    repeated = repeated_steps(records, moves) or doubling_rounds(records, moves)
    inside_weights = calls_inside_weights(records, moves)
    stands_for: list[int] = []
    for place, record in enumerate(records):
        if place in repeated:
            stands_for.append(stands_for[repeated[place]])
            continue
        if place in inside_weights:
            stands_for.append(PARAM)
            continue
        sources = [stands_for[s] if s >= 0 else s for s in record.sources]
        if isinstance(record.func, Op):
            stands_for.append(builder.whole(record, sources))
            continue
        stands_for.append(builder.add(builder.call(record, sources)))
    return builder.nodes, stands_for


class _Builder:
    """The nodes so far.

    Args:
        records: The recorded calls.
        moves: The calls that only moved values, by identity of the result.
        head_counts: Heads that were folded into the batch, by id of the folded tensor.
        filling: Tells the one value that a large constant holds.
        samples: What the batch holds for each of several samples.
        given: What comes into the model.
    """

    def __init__(
        self,
        records: list[Record],
        moves: dict[int, Move],
        head_counts: dict[int, int],
        filling: Filling,
        samples: Samples | None,
        given: Inputs,
    ) -> None:
        self.nodes: list[Node] = []
        self._roots: dict[int, Read] = {}
        self._records = records
        self._moves = moves
        self._head_counts = head_counts
        self._filling = filling
        self._samples = samples
        self._given = given
        self._names: dict[Any, str] = {}
        self._joined: dict[int, Joined] = {}

    def call(self, record: Record, sources: list[int]) -> Call:
        """The record as the rules see it."""
        name = self._names.get(record.func)
        if name is None:
            name = self._names[record.func] = operator_name(record.func)
        return Call(
            name,
            record.args,
            record.kwargs,
            tensors_among(record),
            sources,
            record.out,
            record.path,
            self.nodes,
            self._records,
            self._moves,
            record.sources,
            self._roots,
            self._head_counts,
            self._filling,
            self._samples,
        )

    def whole(self, record: Record, sources: list[int]) -> int:
        """The node of an operation that was recorded as one."""
        inputs = [source for source in sources if source >= 0]
        attributes = dict(record.func.attributes)
        node = Node(record.func.kind, attributes, inputs, record.path, record.out)
        self.nodes.append(node)
        return len(self.nodes) - 1

    def add(self, call: Call) -> int:
        """Apply the rule for a call; what stands for its result: a node, PARAM, DATA or CONST."""
        self._read_parts(call)
        if max(call.sources, default=DATA) == CONST:  # of a mask that came in
            return CONST
        note_what_is_read(call)
        if weight_of_weights(call):
            return max(call.sources)
        expansion = EXPANSIONS.get(call.name)
        if expansion is not None:
            last = expansion(call, self.add)
            if last is not None:
                return last
        rule = CALLS.get(call.name)
        made = rule(call) if rule else (NAMES.get(call.name, call.name.lstrip("_")), {})
        if made is None:
            self._pass_on(call)
            return next((s for s in call.sources if s >= 0), max(call.sources, default=CONST))
        kind, attributes = made
        inputs = [source for source in call.sources if source >= 0]
        reads = call.reads() if kind in _OF_PARTS else []
        if kind in PACKABLE and call.live == 1:
            call.notes["place"] = call.place()
        node = Node(kind, attributes, inputs, call.path, call.out, reads, call.notes)
        if DATA in call.sources:
            node.operands = self._given.operands(call)
            node.all_reads = call.live_reads() if kind in _OF_PARTS else []
        if kind == "cat" and (joined := joined_by(call)) is not None:
            self._joined[len(self.nodes)] = joined
        self._after_pooling(node)
        note_look_ups(node, call)
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _read_parts(self, call: Call) -> None:
        """Let a call read the parts of joined values that it reads slices of."""
        if self._joined.keys().isdisjoint(call.sources):
            return
        call.sources, call.origins = [*call.sources], [*call.origins]
        pairs = zip(call.tensors, call.sources, strict=False)
        for place, (tensor, source) in enumerate(pairs):
            joined = self._joined.get(source)
            if joined is not None and (part := joined.part(tensor, self._moves)) is not None:
                call.sources[place] = joined.sources[part]
                call.origins[place] = joined.origins[part]
                if (order := joined.order(tensor, part)) is not None:
                    read = Read(id(tensor), tensor.numel(), place_of(tensor), order, tensor.shape)
                    self._roots[id(tensor)] = read

    def _pass_on(self, call: Call) -> None:
        """Remember what a dropped call was computed from, scale and offset aside."""
        self._given.pass_on(call)
        out, reads = call.out, call.live_reads()
        if not isinstance(out, torch.Tensor) or not reads or any(out is x for x in call.tensors):
            return
        if DATA in call.sources and call.name not in LOOKUPS:
            if any(call.size(tensor, source) > 1 for tensor, source in call.others()):
                return
        shape, order = tuple(out.shape), reads[0].order
        if call.name in LOOKUPS:  # two look-ups at the same places are one
            live = next(i for i, source in enumerate(call.sources) if source >= 0 or source == DATA)
            beside = (tensor for place, tensor in enumerate(call.tensors) if place != live)
            order = (*order, call.name, *map(place_of, beside))
        elif call.live > 1 or call.name in _REARRANGING:
            order = (id(out),)
        same = replace(reads[0], size=out.numel(), shape=shape, order=order)
        self._roots[id(out)] = same

    def _after_pooling(self, node: Node) -> None:
        """A 1x1 convolution of globally pooled features is a linear layer; notes what is pooled."""
        after = bool(node.inputs) and all(self.nodes[i].notes.get("pooled") for i in node.inputs)
        pool = node.attributes.get("over") == "positions"
        if not (pool or after):
            return
        node.notes["pooled"] = True
        if after and node.notes.get("pointwise"):
            node.kind = "linear"
            node.attributes = {name: node.attributes[name] for name in ("in", "out", "bias")}
