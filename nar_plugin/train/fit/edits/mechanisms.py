"""Edits that put another mechanism in the place of one: mixers, perceptrons, whole stages."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nar_plugin.encoder.words import ACTIVATIONS
from nar_plugin.tracing.graph import ArchitectureGraph, Attribute, Op
from nar_plugin.train.fit.edits.depth import repeated
from nar_plugin.train.fit.edits.draft import Draft, Step, features
from nar_plugin.train.fit.written_operations import GELU, batch_norm, layer_norm, linear

_BEFORE_ATTENTION = frozenset({"linear", "rotary", "layer_norm", "rms_norm", "l2_norm", "mul"})
_DEEPEST = 6  # steps between an attention and what its projections read
_LEAST = 2  # blocks of a stage
_HEAD = 32  # features of one head


def mixer(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """A convolution, a pooling or a Fourier transform in the place of each self-attention.

    Pooling as in PoolFormer (Yu et al. 2022, arXiv 2111.11418), depthwise convolutions as in
    Han et al. 2022 (arXiv 2106.04263), Fourier transforms as in FNet (arXiv 2105.03824).
    """
    draft = Draft(graph)
    kernel = "7x7" if any("x" in str(op.get("kernel", "")) for op in set(graph.ops)) else "7"
    ones = "x".join("1" * (1 + kernel.count("x")))
    way = random.choice(["convolution", "pooling", "fourier"])
    found = 0
    for step in draft.of("attention"):
        source, wide = _attended(step), features(step)
        given = None if source is None else features(source)
        if source is None or given is None or wide is None:
            continue
        if way == "convolution":
            new = draft.chain(source, [_conv(given, given, kernel, given)])
        elif way == "pooling":
            sizes = (("kernel", kernel.replace("7", "3")), ("stride", ones))
            new = draft.chain(source, [Op("avg_pool", sizes)])
        else:
            new = draft.chain(source, [Op("fft_r2c")])
        if given != wide:
            new = draft.chain(new, [linear(given, wide)])
        draft.redirect(step, new)
        found += 1
    return draft.graph() if found else None


def gated_perceptron(
    graph: ArchitectureGraph, random: np.random.Generator
) -> ArchitectureGraph | None:
    """SwiGLU in the place of each perceptron of two layers (Shazeer 2020, arXiv 2002.05202)."""
    draft = Draft(graph)
    readers: dict[int, list[Step]] = {}
    for step in draft.steps:
        for source in step.inputs:
            readers.setdefault(id(source), []).append(step)
    found = 0
    for second in draft.of("linear"):
        middle = second.inputs[0] if len(second.inputs) == 1 else second
        first = middle.inputs[0] if len(middle.inputs) == 1 else second
        plain = middle.op.kind in ACTIVATIONS and first.op.kind == "linear"
        if (
            not plain
            or not first.inputs
            or len(readers[id(first)]) > 1
            or first.op.get("in") != second.op.get("out")
        ):
            continue
        wide, hidden = first.op.get("in"), first.op.get("out")
        if type(wide) is not int or type(hidden) is not int or hidden != second.op.get("in"):
            continue
        inner = max(8, round(hidden * 2 / 3 / 8) * 8)  # as many weights as before
        packed = draft.chain(first.inputs[0], [linear(wide, 2 * inner)])
        gate = draft.chain(packed, [Op("silu")])
        product = draft.add(Op("mul"), [packed, gate])
        second.op, second.inputs = linear(inner, wide), [product]
        found += 1
    return draft.graph() if found else None


def stage(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """Blocks of another family in the place of a row of equal blocks."""
    mined, blocks = repeated(graph)
    draft = Draft(mined)
    rows: dict[int, list[tuple[int, int]]] = {}
    for block in blocks:
        width = features(draft.steps[block.exit])
        if width and width >= _HEAD and width % _HEAD == 0:
            rows.setdefault(block.run, []).append((block.entry, block.exit))
    if not rows:
        return None
    runs = sorted(rows)
    row = rows[runs[random.integers(len(runs))]]
    flat = not any(op.kind == "conv" and "x" in str(op.get("kernel")) for op in mined.ops)
    attends = any(op.kind == "attention" for op in mined.ops)
    makes = [_convnext, _inverted, _bottleneck] if attends else [_encoder, _convnext, _inverted]
    make = makes[random.integers(len(makes))]
    result, start = draft.steps[row[-1][1]], draft.steps[row[0][0]]
    width = features(result) or _HEAD
    new = start
    for _ in row:
        new = make(draft, new, width, "3" if flat else "3x3")
    draft.redirect(result, new)
    return draft.graph()


_Make = Callable[[Draft, Step, int, str], Step]


def _encoder(draft: Draft, step: Step, width: int, kernel: str) -> Step:
    """A pre-norm block of a transformer."""
    size = (("value_width", _HEAD), ("width", _HEAD))
    attention = Op("attention", (("bias", False), ("heads", width // _HEAD), *size))
    mixed = [layer_norm(width), linear(width, 3 * width), attention, linear(width, width)]
    step = draft.add(Op("add"), [step, draft.chain(step, mixed)])
    mlp = [layer_norm(width), linear(width, 4 * width), GELU, linear(4 * width, width)]
    return draft.add(Op("add"), [step, draft.chain(step, mlp)])


def _convnext(draft: Draft, step: Step, width: int, kernel: str) -> Step:
    """A block of a ConvNeXt (Liu et al. 2022, arXiv 2201.03545, Figure 4)."""
    wide = kernel.replace("3", "7")
    ops = [_conv(width, width, wide, width), layer_norm(width), linear(width, 4 * width)]
    ops += [GELU, linear(4 * width, width), Op("mul", (("operand", "param"),))]
    return draft.add(Op("add"), [step, draft.chain(step, ops)])


def _inverted(draft: Draft, step: Step, width: int, kernel: str) -> Step:
    """An inverted residual (Sandler et al. 2018, arXiv 1801.04381, Figure 4)."""
    wide, one = 4 * width, kernel.replace("3", "1")
    ops = [_conv(width, wide, one), batch_norm(wide), Op("relu6")]
    ops += [_conv(wide, wide, kernel, wide), batch_norm(wide), Op("relu6")]
    ops += [_conv(wide, width, one), batch_norm(width)]
    return draft.add(Op("add"), [step, draft.chain(step, ops)])


def _bottleneck(draft: Draft, step: Step, width: int, kernel: str) -> Step:
    """A bottleneck of a ResNet (He et al. 2016, arXiv 1512.03385, Figure 5)."""
    thin, one = width // 4, kernel.replace("3", "1")
    ops = [_conv(width, thin, one), batch_norm(thin), Op("relu")]
    ops += [_conv(thin, thin, kernel), batch_norm(thin), Op("relu")]
    ops += [_conv(thin, width, one), batch_norm(width)]
    return draft.chain(draft.add(Op("add"), [step, draft.chain(step, ops)]), [Op("relu")])


def _conv(width: int, out: int, kernel: str, groups: int = 1) -> Op:
    ones = "x".join("1" * (1 + kernel.count("x")))
    said: dict[str, Attribute] = {
        "bias": False,
        "dilation": ones,
        "groups": groups,
        "in": width,
        "kernel": kernel,
    }
    said |= {"out": out, "stride": ones, "transposed": False}
    return Op("conv", tuple(sorted(said.items())))


def _attended(attention: Step) -> Step | None:
    """The one value that all projections of an attention read."""
    found: set[Step] = set()
    waiting = [(source, 0) for source in attention.inputs]
    while waiting:
        step, deep = waiting.pop()
        if step.op.kind == "linear" and len(step.inputs) == 1:
            found.add(step.inputs[0])
        elif step.op.kind in _BEFORE_ATTENTION and step.inputs and deep < _DEEPEST:
            waiting += [(source, deep + 1) for source in step.inputs]
        elif step.inputs or step.op.attributes:
            return None
    return found.pop() if len(found) == 1 else None
