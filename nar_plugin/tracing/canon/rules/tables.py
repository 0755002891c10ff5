"""Tables of learned positions: looked up at places that no input changes, or added whole."""

from __future__ import annotations

import torch

from nar_plugin.tracing.canon.call import Call
from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.rules.attention import leads_to_product
from nar_plugin.tracing.canon.rules.expansions import Emit
from nar_plugin.tracing.canon.rules.rule import (
    Attributes,
    Rule,
    declare,
    expands,
    on_calls,
    starts_at,
)
from nar_plugin.tracing.record.record import PARAM
from nar_plugin.tracing.vocabulary import EMBEDDINGS

# What a sum of look-ups is made of: ids that came in, or places that are the same for every input.
TOKENS, PLACES = "tokens", "places"
_SUMMING = frozenset({"add", "mul", "cat", "linear", "layer_norm", "rms_norm"})


@on_calls(
    Rule(
        name="embedding",
        effect="renamed",
        pattern="embedding, with gradients or without",
        result="embedding(vocabulary, width)",
        reason="Padding index and sparse gradients are no structure.",
    ),
    *EMBEDDINGS,
)
def _embedding(call: Call) -> tuple[str, Attributes] | None:
    vocabulary, width = call.tensors[0].shape[:2]
    return "embedding", {"vocabulary": int(vocabulary), "width": int(width)}


declare(
    Rule(
        name="positions of tokens",
        effect="expanded",
        pattern="a learned table of a row for each token added to looked-up tokens",
        result="add and embedding(vocabulary, width)",
        reason="OpenAI's CLIP adds its table whole, transformers' looks it up at all places.",
        source="Radford et al. 2021, arXiv 2103.00020, section 2.4",
    )
)


@expands(None, "add")
def _positions_of_tokens(call: Call, emit: Emit) -> int | None:
    if len(call.tensors) != 2 or PARAM not in call.sources:
        return None
    learned = call.sources.index(PARAM)
    table, tokens = call.tensors[learned], call.tensors[1 - learned]
    source = call.sources[1 - learned]
    if source < 0 or call.nodes[source].notes.get("made_of") != TOKENS:
        return None
    rows, width = (1, *table.shape)[-2:]
    layer = call.nodes[source]
    if layer.kind == "linear" and layer.attributes["out"] != width:
        return None  # XLNet's bias, a row for each head
    if table.numel() == width or tokens.shape[-2:] != (rows, width):
        return None
    held = table.untyped_storage().nbytes() // (table.element_size() * width)
    whole = torch.empty((held, width), device="meta")
    positions = emit(call.part("embedding", [learned], reading=[whole]))
    return emit(call.part("add", [1 - learned], positions))


def note_look_ups(node: Node, call: Call) -> None:
    """Note what a sum of look-ups is made of: of tokens with positions, or of positions alone."""
    if node.kind == "embedding":
        node.notes["made_of"] = TOKENS if call.live else PLACES
    elif node.kind in _SUMMING and node.inputs:
        parts = {call.nodes[item].notes.get("made_of") for item in node.inputs}
        if None not in parts:
            node.notes["made_of"] = TOKENS if TOKENS in parts else PLACES


@starts_at(
    Rule(
        name="positions of features",
        effect="fused",
        pattern="embedding at constant places, added to what is no sum of tokens and no score",
        result="add(operand=param)",
        reason="A vision tower adds its table whole (ViT) or looks it up (transformers' CLIP). "
        "Biases of scores keep their look-up, whose rows are distances.",
        source="Dosovitskiy et al. 2021, arXiv 2010.11929, Eq. 1",
    ),
    "embedding",
)
def _positions_of_features(graph: Rewriter, index: int) -> None:
    nodes, total = graph.nodes, index
    if nodes[index].notes["made_of"] == TOKENS:
        return
    while nodes[total].notes.get("made_of") == PLACES:
        reader = graph.only_consumer(total)
        if reader is None or nodes[reader].kind != "add":
            return
        total = reader
    if any(leads_to_product(nodes, item) for item in nodes[total].inputs):
        return
    reader = total
    while reader is not None and nodes[reader].kind == "add":
        if nodes[reader].notes.get("made_of") == TOKENS:
            return
        reader = graph.only_consumer(reader)
    graph.forget(index)
