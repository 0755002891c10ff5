"""Normalisation layers by name."""

from __future__ import annotations

from math import prod

from nar_plugin.tracing.canon.call import Call
from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.rules.layers import is_of_channels
from nar_plugin.tracing.canon.rules.rule import Attributes, Rule, declare, on_calls, starts_at
from nar_plugin.tracing.graph import Attribute
from nar_plugin.tracing.vocabulary import NAMES

_AFFINE = {"layer_norm": ("mul param", "add param"), "rms_norm": ("mul param",)}
# A batch norm by hand, step by step; dividing by constants is multiplying with others.
_FROZEN = (
    ("mul const", "add const"),
    ("sub const", "mul const", "mul param", "add param"),
    ("sub const", "mul param", "mul const", "add param"),
)
_LONGEST = 4


@on_calls(
    Rule(
        name="batch normalisation",
        effect="renamed",
        pattern="every backend's batch norm with running statistics",
        result="batch_norm(width)",
        reason="Always as in eval.",
        source="Ioffe & Szegedy 2015, arXiv 1502.03167",
    ),
    *(name for name, kind in NAMES.items() if kind == "batch_norm"),
)
def _batch_norm(call: Call) -> tuple[str, Attributes] | None:
    if call.of_weights:
        return None
    if call.name != "_native_batch_norm_legit_no_training" and _own_statistics(call):
        return "instance_norm", {}
    return "batch_norm", {"width": int(call.tensors[0].shape[1])}


def _own_statistics(call: Call) -> bool:
    """Whether the input's own statistics are used: instance norm in a batch of one."""
    flags = [item for item in call.args[3:] if isinstance(item, bool)]
    return bool(flags) and flags[0]


declare(
    Rule(
        name="instance normalisation",
        effect="renamed",
        pattern="instance_norm, batch norm without running statistics, group norm with a group "
        "for each channel",
        result="instance_norm",
        reason="torch computes it as a batch norm whose channels are batch times width.",
        source="Ulyanov et al. 2016, arXiv 1607.08022, Eq. 3",
    )
)


@on_calls(
    Rule(
        name="layer and group normalisation",
        effect="renamed",
        pattern="native_layer_norm, native_group_norm, _fused_rms_norm",
        result="layer_norm(width, affine), group_norm(width, groups), rms_norm(width, affine)",
        reason="Names of kernels.",
    ),
    "native_layer_norm",
    "layer_norm",
    "rms_norm",
    "_fused_rms_norm",
)
def _layer_norm(call: Call) -> tuple[str, Attributes] | None:
    kind = "rms_norm" if "rms" in call.name else "layer_norm"
    return kind, {
        "width": prod(int(side) for side in call.args[1]),
        "affine": len(call.tensors) > 1,
    }


@on_calls(None, "native_group_norm")
def _group_norm(call: Call) -> tuple[str, Attributes] | None:
    width, groups = int(call.args[4]), int(call.args[6])
    if width == groups:
        return "instance_norm", {}
    return "group_norm", {"width": width, "groups": groups}


@starts_at(
    Rule(
        name="frozen batch normalisation",
        effect="fused",
        pattern="a convolution's channels times constants, then plus constants; less constants, "
        "over or times constants, times a weight, plus a bias",
        result="batch_norm(width)",
        reason="Detectors hold the statistics and the affine part of a batch norm as buffers, "
        "lessons the statistics alone.",
        source="Carion et al. 2020, arXiv 2005.12872, appendix, training hyperparameters",
    ),
    "mul",
    "sub",
)
def _frozen(graph: Rewriter, index: int) -> None:
    nodes = graph.nodes
    if len(nodes[index].inputs) != 1 or nodes[nodes[index].inputs[0]].kind != "conv":
        return
    (layer,) = nodes[index].inputs
    width = nodes[layer].attributes["out"]
    steps = [index, *_steps(graph, index)]
    said = _said(graph, layer, (1,), steps, width)
    for pattern in _FROZEN:
        if said[: len(pattern)] == list(pattern):
            *inside, last = steps[: len(pattern)]
            node = nodes[last]
            whole = Node("batch_norm", {"width": width}, [layer], node.path, node.out)
            graph.replace(last, whole, inside)
            return


@starts_at(
    Rule(
        name="affine part apart",
        effect="fused",
        pattern="a layer norm without weights, times a weight, plus a bias; an RMS norm without a "
        "weight, times one",
        result="layer_norm(width, affine), rms_norm(width, affine)",
        reason="The call takes both or they stand behind it.",
    ),
    *_AFFINE,
)
def _affine(graph: Rewriter, index: int) -> None:
    norm = graph.nodes[index]
    if norm.attributes["affine"]:
        return
    wanted = _AFFINE[norm.kind]
    steps = _steps(graph, index)[: len(wanted)]
    width = int(norm.attributes["width"])
    if _said(graph, index, _last(norm, width), steps, width) != [*wanted]:
        return
    *inside, last = steps
    said = {**norm.attributes, "affine": True}
    whole = Node(norm.kind, said, norm.inputs, norm.path, graph.nodes[last].out, notes=norm.notes)
    graph.replace(last, whole, [index, *inside])


def _steps(graph: Rewriter, index: int) -> list[int]:
    """What reads a node alone, and so on, as long as nothing else is read."""
    found: list[int] = []
    after = graph.only_consumer(index)
    while after is not None and len(graph.nodes[after].inputs) == 1 and len(found) < _LONGEST:
        found.append(after)
        after = graph.only_consumer(after)
    return found


def _last(node: Node, width: int) -> tuple[int, ...]:
    """The last dimensions of a result that have so many places."""
    for count in range(1, len(node.shape) + 1):
        if prod(node.shape[-count:]) >= width:
            return tuple(range(-count, 0))
    return (-1,)


def _said(
    graph: Rewriter, layer: int, channels: tuple[int, ...], steps: list[int], width: Attribute
) -> list[str]:
    """What is done with a number for each channel of a layer, step by step; empty for others."""
    found, made = [], graph.nodes[layer].out
    made = made[0] if isinstance(made, tuple | list) else made
    for step in steps:
        node = graph.nodes[step]
        said = _of_channels(node, width) if is_of_channels(node, made, channels) else ""
        if said and node.notes.get("along") is not None:
            made, channels = node.out, node.notes["along"].dims
        found.append(said)
    return found


def _of_channels(node: Node, width: Attribute) -> str:
    """What is done with a number for each channel; empty for anything else."""
    if width not in (node.notes.get("constant_size"), node.notes.get("operand_size")):
        return ""
    return f"{node.kind} {node.attributes['operand']}".replace("div const", "mul const")
