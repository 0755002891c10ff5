"""Edits of the two ends: heads, stems, embeddings."""

from __future__ import annotations

import numpy as np

from nar_plugin.encoder.trunk import READOUTS
from nar_plugin.encoder.words import ACTIVATIONS
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.fit.edits.draft import Draft, Step, changed, features, side, sized
from nar_plugin.train.fit.edits.operations import commonest
from nar_plugin.train.fit.written_operations import batch_norm, linear

_HIDDEN = (128, 256, 512, 1024)
_CLASSES = (2, 10, 37, 100)
_TAGGER = 256  # features of an LSTM behind an encoder, each way
_COLOURS = 4  # channels that come in


def head(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """A perceptron of two layers in the place of the last layer."""
    draft = Draft(graph)
    last = _last_layer(draft)
    if last is None:
        return None
    width, hidden = features(last.inputs[0]), int(random.choice(_HIDDEN))
    said = last.op.get("in")
    wide = said if isinstance(said, int) else width or hidden
    new = [linear(wide, hidden), Op("relu"), linear(hidden, int(random.choice(_CLASSES)))]
    return _ending(draft, draft.chain(last.inputs[0], new))


def no_head(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """Without the last layer, and without the pooling ahead of it, if it is there."""
    draft = Draft(graph)
    last = _last_layer(draft)
    if last is None:
        return None
    before = last.inputs[0]
    if before.op.get("over") == "positions" and len(before.inputs) == 1:
        before = before.inputs[0]
    return _ending(draft, before)


def tagger(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """A bidirectional LSTM and a layer of tags behind the trunk (Huang et al. 2015, 1508.01991)."""
    draft = Draft(graph)
    if len(draft.results) != 1:
        return None
    last = _last_layer(draft)
    before = last.inputs[0] if last is not None else draft.results[0]
    if before.op.get("over") == "positions" and len(before.inputs) == 1:
        before = before.inputs[0]
    wide = features(before)
    if wide is None or not before.inputs:
        return None
    sizes = (("bidirectional", True), ("in", wide), ("layers", 1))
    lstm = Op("lstm", (*sizes, ("out", _TAGGER), ("width", _TAGGER)))
    return _ending(draft, draft.chain(before, [lstm, linear(2 * _TAGGER, 9)]))


def stem(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """Convolutions of kernel 3 in the place of a large first one (He et al. 2019, 1812.01187)."""
    draft = Draft(graph)
    first = draft.first_layers()
    large = [step for step in draft.of("conv") if id(step) in first and _is_stem(step.op)]
    if len(large) != 1:
        return None
    (step,) = large
    out, stride = int(step.op.get("out") or 0), str(step.op.get("stride")).split("x")
    halvings = max(2, int(stride[0]).bit_length() - 1)
    activation = Op(commonest(graph, ACTIVATIONS) or "relu")
    known = next((op for op in graph.ops if op.kind == activation.kind), activation)
    narrow = max(1, out // 2)
    source, wide = step.inputs, int(step.op.get("in") or 0)
    for number in range(halvings):
        last = number == halvings - 1
        strided = 2 if int(stride[0]) >= 2 ** (number + 1) else 1
        conv = changed(
            step.op,
            **{"in": wide, "out": out if last else narrow},
            kernel=sized(step.op, "kernel", 3),
            stride=sized(step.op, "stride", strided),
            dilation=sized(step.op, "dilation", 1),
        )
        new = draft.add(conv if last else changed(conv, bias=False), source)
        if not last:
            source, wide = [draft.chain(new, [batch_norm(narrow), known])], narrow
    draft.redirect(step, new)
    return draft.graph()


def no_embeddings(
    graph: ArchitectureGraph, random: np.random.Generator
) -> ArchitectureGraph | None:
    """A model of tokens that is given vectors: without its largest table."""
    draft = Draft(graph)
    first = draft.first_layers()
    tables = [step for step in draft.of("embedding") if id(step) in first]
    if not tables:
        return None
    largest = max(tables, key=_words)
    if largest in draft.results:
        return None
    for step in [step for step in draft.steps if largest in step.inputs]:
        step.inputs = [source for source in step.inputs if source is not largest]
        if len(step.inputs) > 1 and all(source in tables for source in step.inputs):
            # The vectors are added to the smallest table first, which says the segment.
            segment, *others = sorted(step.inputs, key=_words)
            step.inputs = [draft.add(Op("add"), [segment]), *others]
    return draft.graph()


def no_positions(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """Without the learned positions that are added before the first block."""
    draft = Draft(graph)
    first = draft.first_layers()
    for step in draft.of("add"):
        if step.op.get("operand") == "param" and len(step.inputs) == 1 and _is_early(step):
            draft.redirect(step, step.inputs[0])
            return draft.graph()
        tables = [source for source in step.inputs if source.op.kind == "embedding"]
        if id(step) in first and len(tables) > 1:
            sizes = sorted(tables, key=_words)
            positions = sizes[-2]  # fewer than words, more than segments
            step.inputs = [source for source in step.inputs if source is not positions]
            if len(step.inputs) == 1:
                draft.redirect(step, step.inputs[0])
            return draft.graph()
    return None


def _words(table: Step) -> int:
    """The size of a vocabulary."""
    return int(table.op.get("vocabulary") or 0)


def _is_early(step: Step) -> bool:
    """Whether at most one layer stands ahead."""
    layers = 0
    while step.inputs:
        step = step.inputs[0]
        layers += step.op.kind in ("conv", "linear", "attention")
    return layers <= 1


def _is_stem(op: Op) -> bool:
    into = op.get("in")
    return side(op) > 3 and isinstance(into, int) and into <= _COLOURS and not op.get("transposed")


def _last_layer(draft: Draft) -> Step | None:
    """The linear layer that all results come from, readouts aside."""
    if len(draft.results) != 1:
        return None
    step = draft.results[0]
    while step.op.kind in READOUTS and len(step.inputs) == 1:
        step = step.inputs[0]
    return step if step.op.kind == "linear" and len(step.inputs) == 1 else None


def _ending(draft: Draft, result: Step) -> ArchitectureGraph:
    """The graph of another result."""
    draft.results = [result]
    return draft.graph()
