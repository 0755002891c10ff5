"""Normalisation layers by name."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from nar_plugin.tracing.call import Call
from nar_plugin.tracing.node import Node
from nar_plugin.tracing.rules.rule import Attributes, Rule, declare, on_calls, starts_at
from nar_plugin.tracing.vocabulary import NAMES

if TYPE_CHECKING:
    from nar_plugin.tracing.fusion import Rewriter


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
        pattern="a convolution's channels times constants, then plus constants",
        result="batch_norm(width)",
        reason="Detectors hold the statistics and the affine part of a batch norm as buffers.",
        source="Carion et al. 2020, arXiv 2005.12872, appendix, training hyperparameters",
    ),
    "mul",
)
def _frozen(graph: Rewriter, index: int) -> None:
    scaled, shifted = graph.nodes[index], graph.only_consumer(index)
    if shifted is None or graph.nodes[shifted].kind != "add" or len(scaled.inputs) != 1:
        return
    layer = graph.nodes[scaled.inputs[0]]
    sizes = {graph.nodes[place].notes.get("constant_size") for place in (index, shifted)}
    if layer.kind == "conv" and sizes == {layer.attributes["out"]}:
        node = graph.nodes[shifted]
        said: Attributes = {"width": layer.attributes["out"]}
        whole = Node("batch_norm", said, scaled.inputs, node.path, node.out)
        graph.replace(shifted, whole, [index])
