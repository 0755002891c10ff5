"""Undoes how numbers were packed, so that shapes are those of the layers.

Names are read here, because packing is written in names: `q_proj.qweight` belongs to
`q_proj.scales`. They never rank.

GPTQ and AWQ: https://github.com/AutoGPTQ/AutoGPTQ, https://github.com/casper-hansen/AutoAWQ.
bitsandbytes: `Params4bit` and `Linear8bitLt`. compressed-tensors: `pack-quantized`. MXFP4: gpt-oss.
MLX: `mlx.nn.QuantizedLinear`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from nar_plugin.checkpoints.tensors import Checkpoint, Tensor

Group: TypeAlias = "Mapping[str, Tensor]"  # by the last word of their names
Sides: TypeAlias = "tuple[int, ...]"
_WORD = 32  # bits of a packed integer
_AWQ = 8  # numbers in it, as AWQ packs four bits
_BLOCK = 32  # numbers of a block of MXFP4
_COUNTING = ("int", "uint", "bool")  # types of indices and masks
_MLX_GROUPS = (64, 32, 128)  # numbers of one scale
_MLX_BITS = (4, 8, 2, 3, 6)
_NOTE = ".quant_state.bitsandbytes__"
LONGEST_NOTE = 4096  # bytes


def unpacked(checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint with the shapes of its layers, and without scales, indices and masks."""
    groups: dict[str, dict[str, Tensor]] = {}
    for tensor in checkpoint.tensors:
        layer, _, word = tensor.name.rpartition(".")
        groups.setdefault(layer, {})[word] = tensor
    packings: dict[str, str] = {}  # by the name of a packed tensor
    sides: dict[str, Sides] = {}
    dropped: set[str] = set()
    for layer, group in groups.items():
        for packing, (words, undo) in _PACKINGS.items():
            if all(word in group for word in words) and (shape := undo(group)):
                main = group[words[0]].name
                sides[main], packings[main] = shape, packing
                dropped |= {group[word].name for word in group if word in _BESIDE}
                break
        dropped |= _beside(layer, groups)
    for packing, found in (
        ("bitsandbytes (4 bits)", _four_bits(groups, checkpoint)),
        ("MXFP4", _blocks(groups)),
    ):
        sides |= found
        packings |= dict.fromkeys(found, packing)
    tensors = [
        replace(each, shape=sides[each.name], dtype="packed") if each.name in sides else each
        for each in checkpoint.tensors
        if each.name not in dropped
    ]
    kept = [each for each in tensors if not each.dtype.startswith(_COUNTING)]
    named = ", ".join(dict.fromkeys(packings.values()))
    return replace(checkpoint, tensors=tuple(kept), packing=named)


def _gptq(group: Group) -> Sides | None:
    """Four layouts, told by where the outputs stand.

    GPTQ: [in * bits / 32, out] with zeros [groups, out * bits / 32] and scales [groups, out]. AWQ
    (`WQLinear_GEMM`): [in, out / 8], with the same; `WQLinear_GEMV`: [out, in / 8] with zeros
    [out, n] and scales [out, 8 n]; `WQLinear_GEMVFast`: int16 [out / 4, in] with zeros and scales
    [groups, out].
    """
    weight, zeros, scales = (group[word].shape for word in ("qweight", "qzeros", "scales"))
    if not len(weight) == len(zeros) == len(scales) == 2 or not scales[1]:
        return None
    if weight[0] == zeros[0] == scales[0] and scales[1] == _AWQ * zeros[1]:
        return weight[0], weight[1] * _AWQ
    out = scales[1]
    if zeros == scales:
        return (out, weight[1]) if weight[0] * 4 == out else None
    bits = zeros[1] * _WORD / out
    if not bits or bits > _WORD:
        return None
    if weight[1] == out:
        return out, round(weight[0] * _WORD / bits)
    return (out, weight[0]) if weight[1] == zeros[1] else None


def _compressed(group: Group) -> Sides | None:
    """[out, in * bits / word] with a scale for each group of inputs; the true sides are data.

    A word is of 32 bits, and of 8 for floats of four bits (NVFP4, MXFP4).
    """
    weight, scales = group["weight_packed"], group["weight_scale"].shape
    if len(weight.shape) != 2 or len(scales) != 2 or not scales[1]:
        return None
    word = 8 if weight.dtype == "uint8" else _WORD
    for bits in (4, 8):
        wide = weight.shape[1] * word // bits
        if scales[1] == 1 or wide // scales[1] in (16, 32, 64, 128, 256):
            return weight.shape[0], wide
    return None


def _mlx(group: Group) -> Sides | None:
    """[out, in * bits / 32] with scales and biases [out, in / group]."""
    weight, scales = group["weight"], group["scales"].shape
    if weight.dtype != "uint32" or len(weight.shape) < 2 or len(scales) < 2 or not scales[-1]:
        return None
    for size in _MLX_GROUPS:
        for bits in _MLX_BITS:
            if scales[-1] * size * bits == weight.shape[-1] * _WORD:
                return *weight.shape[:-1], scales[-1] * size
    return None


def _eight_bits(group: Group) -> Sides | None:
    """int8 [out, in] with a scale for each output."""
    weight = group["weight"]
    return weight.shape if weight.dtype in ("int8", "float8", "uint8") else None


def _blocks(groups: Mapping[str, Mapping[str, Tensor]]) -> dict[str, Sides]:
    """gpt-oss: NAME_blocks [experts, out, in / 32, 16] with NAME_scales [experts, out, in / 32]."""
    found: dict[str, Sides] = {}
    for group in groups.values():
        for word, tensor in group.items():
            scales = group.get(f"{word.removesuffix('_blocks')}_scales")
            if word.endswith("_blocks") and scales and len(tensor.shape) == 4:
                found[tensor.name] = *tensor.shape[:2], tensor.shape[2] * _BLOCK
    return found


def _four_bits(
    groups: Mapping[str, Mapping[str, Tensor]], checkpoint: Checkpoint
) -> dict[str, Sides]:
    """bitsandbytes: two numbers in a byte. Where the sides are not noted, their count is told."""
    found: dict[str, Sides] = {}
    for tensor in checkpoint.tensors:
        if "absmax" in groups.get(tensor.name, {}):
            found[tensor.name] = checkpoint.sides.get(tensor.name, (2 * tensor.elements,))
    return found


_PACKINGS: dict[str, tuple[tuple[str, ...], Callable[[Group], Sides | None]]] = {
    "GPTQ or AWQ": (("qweight", "qzeros", "scales"), _gptq),
    "compressed-tensors": (("weight_packed", "weight_scale"), _compressed),
    "MLX": (("weight", "scales", "biases"), _mlx),
    "bitsandbytes (8 bits)": (("weight", "SCB"), _eight_bits),
    "FP8": (("weight", "weight_scale_inv"), _eight_bits),
    "8 bits": (("weight", "weight_scale"), _eight_bits),
}
_BESIDE = frozenset(
    "qzeros scales g_idx SCB weight_format weight_scale weight_scale_inv weight_zero_point "
    "weight_shape weight_g_idx weight_global_scale input_scale output_scale biases".split()
)
_BESIDE_WEIGHT = frozenset("absmax quant_map nested_absmax nested_quant_map".split())


def _beside(layer: str, groups: Mapping[str, Mapping[str, Tensor]]) -> set[str]:
    """The names of what stands beside the four bits of bitsandbytes, in the group of its layer."""
    group = groups[layer]
    if "absmax" not in group and not layer.endswith(".quant_state"):
        return set()
    return {
        tensor.name
        for word, tensor in group.items()
        if word in _BESIDE_WEIGHT or layer.endswith(".quant_state")
    }


def noted_sides(content: bytes) -> tuple[int, ...] | None:
    """The shape in a `quant_state` of bitsandbytes, which is JSON; None where there is none."""
    try:
        shape = json.loads(content)["shape"]
        if isinstance(shape, list) and 0 < len(shape) < 9 and all(0 < s < 1 << 40 for s in shape):
            return tuple(map(int, shape))
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    return None


def note_of(name: str) -> str:
    """The packed tensor that a `quant_state` belongs to; empty of another name."""
    layer, note, _ = name.partition(_NOTE)
    return layer if note else ""
