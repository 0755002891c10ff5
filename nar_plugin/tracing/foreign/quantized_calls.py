"""Calls of quantized kernels as the float operations that they stand for.

Quantizing passes its input by, so no quantized tensor is ever made; weights that are packed or
held as integers count as learned, whatever they are. Each function takes the recorder and the
call's arguments, and returns the call's result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import _disable_current_modes

Call = Callable[..., Any]


def _passed_by(recorder: Any, tensor: torch.Tensor, *_: Any) -> torch.Tensor:
    return tensor


def _passed_by_with_mask(
    recorder: Any, tensor: torch.Tensor, *_: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    with _disable_current_modes():
        mask = torch.empty(tensor.shape, dtype=torch.bool, device="meta")
    return tensor, recorder.constants.add(mask)


def _restored(recorder: Any, tensor: torch.Tensor, *_: Any) -> Any:
    """`dequantize`: what was passed by before, or a weight that is held as integers."""
    if not isinstance(tensor, torch.Tensor) or tensor.is_floating_point():
        return tensor
    return (
        tensor
        if recorder.sources.is_live(tensor)
        else recorder.sources.learned(tensor, tensor.shape)
    )


def _computed(compute: Call) -> Call:
    """A kernel as float operations of its first arguments."""

    def run(recorder: Any, *args: Any) -> Any:
        with recorder:
            return compute(*args)

    return run


def _linear(after: Call) -> Call:
    def run(recorder: Any, x: torch.Tensor, packed: Any, *rest: Any) -> Any:
        weight, bias = _unpacked(recorder, packed)
        with recorder:
            return after(F.linear(x, weight, bias), *rest)

    return run


def _convolution(sides: int, after: Call, *, transposed: bool = False, added: bool = False) -> Call:
    def run(recorder: Any, x: torch.Tensor, *args: Any) -> Any:
        *more, packed = args[: 1 + added]
        weight, bias = _unpacked(recorder, packed)
        stride, padding, dilation = (
            getattr(packed, name)()[-sides:] for name in ("stride", "padding", "dilation")
        )
        weight = weight.view(*weight.shape[:2], *weight.shape[-sides:])  # 1-D is packed as 2-D
        edge = packed.output_padding()[-sides:] if transposed else [0] * sides
        with recorder:
            y = torch.convolution(
                x, weight, bias, stride, padding, dilation, transposed, edge, packed.groups()
            )
            return after(y, *more)

    return run


def _unpacked(recorder: Any, packed: Any) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Empty weights of the shapes that are packed, counted as learned."""
    with _disable_current_modes():
        weight, bias = packed.unpack()
    shapes = weight.shape, None if bias is None else bias.shape
    return recorder.sources.learned(packed, shapes[0]), recorder.sources.learned(packed, shapes[1])


def _with_relu(compute: Call) -> Call:
    return lambda *args: torch.relu(compute(*args))


def _plain(y: torch.Tensor, *_: Any) -> torch.Tensor:
    return y


def _relu(y: torch.Tensor, *_: Any) -> torch.Tensor:
    return torch.relu(y)


def _sum(a: Any, b: Any, *_: Any) -> Any:
    return a + b


def _product(a: Any, b: Any, *_: Any) -> Any:
    return a * b


def _joined(tensors: list[torch.Tensor], dim: int, *_: Any) -> torch.Tensor:
    return torch.cat(tensors, dim)


def _batch_norm(x: Any, weight: Any, bias: Any, mean: Any, var: Any, *_: Any) -> Any:
    return F.batch_norm(x, mean, var, weight, bias)


_FLOATS: dict[str, Call] = {
    "add": _sum,
    "add_scalar": _sum,
    "mul": _product,
    "mul_scalar": _product,
    "cat": _joined,
    **{f"batch_norm{sides}": _batch_norm for sides in ("", "1d", "2d", "3d")},
}
_FLOATS |= {f"{name}_relu": _with_relu(compute) for name, compute in _FLOATS.items()}
_FLOATS |= {
    "matmul": lambda a, b, *_: a @ b,
    "relu6": lambda x, *_: F.relu6(x),
    "sigmoid": lambda x, *_: torch.sigmoid(x),
    "hardswish": lambda x, *_: F.hardswish(x),
    "elu": lambda x, scale, point, alpha=1.0, *_: F.elu(x, alpha),
    "celu": lambda x, scale, point, alpha=1.0: F.celu(x, alpha),
    "leaky_relu": lambda x, slope, *_: F.leaky_relu(x, slope),
    "prelu": lambda x, weight, *_: F.prelu(x, weight),
    "softmax": lambda x, dim, *_: torch.softmax(x, dim),
    "clamp": torch.clamp,
    "threshold": F.threshold,
    "dropout": _plain,
    "layer_norm": lambda x, shape, weight, bias, *_: F.layer_norm(x, shape, weight, bias),
    "group_norm": lambda x, groups, weight, bias, *_: F.group_norm(x, groups, weight, bias),
    "instance_norm": lambda x, weight, bias, *_: F.instance_norm(x, weight=weight, bias=bias),
    "max_pool1d": F.max_pool1d,
    "max_pool2d": F.max_pool2d,
}
_AFTER: dict[str, Call] = {"": _plain, "_relu": _relu}
_PACKED: dict[str, Call] = {
    **{
        f"linear{name}{way}": _linear(after)
        for name, after in _AFTER.items()
        for way in ("", "_dynamic")
    },
    "linear_leaky_relu": _linear(lambda y, scale, point, slope: F.leaky_relu(y, slope)),
    "linear_tanh": _linear(lambda y, *_: torch.tanh(y)),
    **{
        f"conv{sides}d{name}": _convolution(sides, after)
        for sides in (1, 2, 3)
        for name, after in (*_AFTER.items(), ("_dynamic", _plain))
    },
    **{
        f"conv_transpose{sides}d{way}": _convolution(sides, _plain, transposed=True)
        for sides in (1, 2, 3)
        for way in ("", "_dynamic")
    },
    "conv2d_add": _convolution(2, _sum, added=True),
    "conv2d_add_relu": _convolution(2, _with_relu(_sum), added=True),
}
_QUANTIZING = """
    aten::quantize_per_tensor aten::quantize_per_tensor_dynamic aten::quantize_per_channel
    aten::fake_quantize_per_tensor_affine aten::fake_quantize_per_channel_affine
    aten::_fake_quantize_learnable_per_tensor_affine
    aten::_fake_quantize_learnable_per_channel_affine aten::fused_moving_avg_obs_fake_quant
    quantized_decomposed::quantize_per_tensor quantized_decomposed::quantize_per_channel
    quantized_decomposed::quantize_per_token quantized_decomposed::quantize_per_channel_group
    quantized_decomposed::fake_quant_per_channel torchao::quantize_affine
""".split()
_QUANTIZING_WITH_MASK = """
    aten::fake_quantize_per_tensor_affine_cachemask
    aten::fake_quantize_per_channel_affine_cachemask
    aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams
    aten::_fused_moving_avg_obs_fq_helper aten::_fused_moving_avg_obs_fq_helper_functional
""".split()
_RESTORING = """
    aten::dequantize quantized_decomposed::dequantize_per_tensor
    quantized_decomposed::dequantize_per_channel quantized_decomposed::dequantize_per_token
    quantized_decomposed::dequantize_per_channel_group torchao::dequantize_affine
""".split()

QUANTIZED: dict[str, Call] = {
    **dict.fromkeys(_QUANTIZING, _passed_by),
    **dict.fromkeys(_QUANTIZING_WITH_MASK, _passed_by_with_mask),
    **dict.fromkeys(_RESTORING, _restored),
    **{f"quantized::{name}": _computed(compute) for name, compute in _FLOATS.items()},
    **{f"quantized::{name}": run for name, run in _PACKED.items()},
}
