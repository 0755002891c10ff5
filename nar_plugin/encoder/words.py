"""What is told of an operation, from its bare kind to all that is known of it."""

from __future__ import annotations

from math import log2

from nar_plugin.tracing.graph import Op

_WIDTHS = frozenset(
    {"in", "out", "width", "value_width", "vocabulary", "groups", "heads", "experts", "layers"}
)
_UNTOLD = _WIDTHS | {"approximate"}
_LINEAR = frozenset({"bias", "in", "out"})  # what a linear layer states
_GIVEN = ("out", "width", "value_width")  # attributes that state what an operation gives
ACTIVATIONS = frozenset(
    {
        "relu",
        "relu6",
        "leaky_relu",
        "prelu",
        "elu",
        "selu",
        "celu",
        "gelu",
        "quick_gelu",
        "silu",
        "mish",
        "hardswish",
    }
)
NORMS = frozenset({"batch_norm", "layer_norm", "group_norm", "instance_norm", "rms_norm"})
_ROLES = dict.fromkeys(ACTIVATIONS, "activation") | dict.fromkeys(NORMS, "")


def kind(op: Op) -> str:
    """The operator, such as `conv`."""
    return op.kind


def pointwise(op: Op) -> Op:
    """A convolution of kernel and stride 1 and one group as the linear layer that it is.

    ConvNeXt, MetaFormer and attention are written with either. The fingerprint keeps them apart.
    """
    if op.kind != "conv" or op.get("transposed") or op.get("groups") != 1:
        return op
    sizes = f"{op.get('kernel')}x{op.get('stride')}"
    if set(sizes.split("x")) != {"1"}:
        return op
    return Op("linear", tuple(pair for pair in op.attributes if pair[0] in _LINEAR))


def role(op: Op) -> str:
    """What the operation is there for, whichever of its sort it is; empty for a norm.

    One activation is like another. Norms are replaced, and taken into a convolution when a model
    is deployed. Both stand within two steps of everything, so that telling them would hide the
    design. A transposed convolution enlarges, as an `upsample` does.
    """
    return "upsample" if op.get("transposed") else _ROLES.get(op.kind, op.kind)


def shape(op: Op) -> str:
    """The operator with what does not grow with a model's width.

    Kernels, strides, flags; whether a convolution is depthwise or grouped; and by how much a layer
    widens, in half octaves. How a GELU is computed is not told: GPT-2 approximates its own.
    """
    said = dict(op.attributes)
    words = [f"{name}={value}" for name, value in op.attributes if name not in _UNTOLD]
    wide_in, wide_out, groups = said.get("in"), said.get("out"), said.get("groups")
    if isinstance(groups, int) and groups > 1:
        words.append("depthwise" if groups == wide_in else "grouped")
    if isinstance(wide_in, int) and isinstance(wide_out, int) and wide_in and wide_out:
        words.append(f"x{2 ** (round(2 * log2(wide_out / wide_in)) / 2):.2f}")
    return " ".join((op.kind, *words))


def exact(op: Op) -> str:
    """The operator with all attributes."""
    return str(op)


def width(op: Op) -> str:
    """The operator and the channels or features that it gives; empty where it states none."""
    widths = [op.get(name) for name in _GIVEN]
    given = next((value for value in widths if value is not None), None)
    return f"{op.kind} {given}" if given is not None else ""
