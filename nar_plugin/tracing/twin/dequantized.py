"""The float layers that quantized ones stand for: precision is not part of a design.

Packed weights are never read. Layers under quantization-aware training are those that are trained,
without their fake quantizers; `quantized_calls.py` does the same for calls.
"""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import nn

from nar_plugin.tracing.twin.parts import module_name

_PACKED = ("torch.ao.nn.quantized.", "torch.ao.nn.intrinsic.quantized.", "torch.ao.nn.sparse.")
_TRAINED = (
    "torch.ao.nn.qat.",
    "torch.ao.nn.intrinsic.qat.",
    "torch.ao.nn.quantizable.",
    "torchao.quantization.qat.",
)
_SCALE = re.compile(r".*_(scale|zero_point)_\d+")  # as torch.ao.quantization.fx names them
_OTHERS = ("bitsandbytes.", "auto_gptq.", "gptqmodel.", "awq.", "hqq.")


def is_packed(module: nn.Module) -> bool:
    """Whether a layer has weights that only torch's own quantized kernels can read."""
    return module_name(type(module)).startswith(_PACKED)


def is_scale(name: str, tensor: torch.Tensor) -> bool:
    """Whether a buffer is a number that quantized calls are given, which Python reads before."""
    return _SCALE.fullmatch(name) is not None and not tensor.is_meta and tensor.dim() == 0


def plain_layer(module: nn.Module) -> nn.Module | None:
    """The float layer in place of a quantized one, of an observer or of a fake quantizer.

    Args:
        module: Any module; it is only read.

    Returns:
        A module with the same parameters, or with empty ones on meta where they are packed; None
        where there is nothing to replace.
    """
    cls = type(module)
    if callable(getattr(cls, "calculate_qparams", None)):  # it looks at values and returns them
        return nn.Identity()
    if not module_name(cls).startswith((*_PACKED, *_TRAINED, *_OTHERS)):
        return None
    with torch.device("meta"):
        if not module_name(cls).startswith(_OTHERS):
            return _plain(module, cls.__name__)
        return _new_linear(module) if hasattr(module, "in_features") else None


def _plain(module: Any, name: str) -> nn.Module | None:
    if name in ("Quantize", "DeQuantize"):
        return nn.Identity()
    if name == "QFunctional":
        return torch.ao.nn.quantized.FloatFunctional()
    if hasattr(module, "hidden_size"):
        return _recurrent(module, name)
    if hasattr(module, "num_heads"):
        return _attention(module)
    if hasattr(module, "kernel_size"):
        return _with_followers(module, name, _convolution(module))
    if hasattr(module, "in_features"):
        packed = callable(module.weight)
        linear = _new_linear(module) if packed else _as(nn.Linear, module)
        return _with_followers(module, name, linear)
    if hasattr(module, "num_embeddings"):
        return _embedding(module, name)
    if name.startswith("BNReLU"):
        return _with_followers(module, name, _as(getattr(nn, f"BatchNorm{name[-2:]}"), module))
    if name == "ReLU6":
        return nn.ReLU6()
    if name == "PReLU":
        return nn.PReLU(module.num_parameters)
    cls = getattr(nn, name, None)  # norms, activations, dropout
    return None if cls is None else _as(cls, module)


def _with_followers(module: Any, name: str, layer: nn.Module) -> nn.Module:
    """A layer with the norm, the sum and the activation that are fused into it."""
    fused: Any = torch.ao.nn.intrinsic
    added: nn.Module | None = None
    if name == "ConvAdd2d":
        added = fused.ConvAdd2d(layer, torch.add)
    elif name == "ConvAddReLU2d":
        added = fused.ConvAddReLU2d(layer, torch.add, nn.ReLU())
    if added is not None:
        return added
    parts = [layer]
    if "Bn" in name:
        parts.append(module.bn)
    if "LeakyReLU" in name:
        parts.append(nn.LeakyReLU(module.negative_slope))
    elif "ReLU" in name:
        parts.append(nn.ReLU())
    elif "Tanh" in name:
        parts.append(nn.Tanh())
    return nn.Sequential(*parts) if len(parts) > 1 else layer


def _convolution(module: Any) -> nn.Module:
    kind = "ConvTranspose" if module.transposed else "Conv"
    cls = getattr(nn, f"{kind}{len(module.kernel_size)}d")
    if not callable(module.weight):
        return _as(cls, module)
    more = {"output_padding": module.output_padding} if module.transposed else {}
    made: nn.Module = cls(
        module.in_channels,
        module.out_channels,
        module.kernel_size,
        module.stride,
        module.padding,
        dilation=module.dilation,
        groups=module.groups,
        bias=_has_bias(module),
        padding_mode=module.padding_mode,
        **more,
    )
    return made


def _new_linear(module: Any) -> nn.Module:
    return nn.Linear(module.in_features, module.out_features, bias=_has_bias(module))


def _has_bias(module: Any) -> bool:
    return (module.bias() if callable(module.bias) else module.bias) is not None


def _embedding(module: Any, name: str) -> nn.Module:
    if not callable(module.weight):
        return _as(getattr(nn, "EmbeddingBag" if "Bag" in name else "Embedding"), module)
    sizes = module.num_embeddings, module.embedding_dim
    if "Bag" not in name:
        return nn.Embedding(*sizes)
    last = module.include_last_offset
    return nn.EmbeddingBag(*sizes, mode=module.mode, include_last_offset=last)


def _recurrent(module: Any, name: str) -> nn.Module | None:
    """Of torch's, packed or as the loop over steps that is made for quantization."""
    cls = getattr(nn, name, None)
    if cls is None:
        return None
    if name.endswith("Cell"):
        nonlinear = {"nonlinearity": module.nonlinearity} if name == "RNNCell" else {}
        cell: nn.Module = cls(module.input_size, module.hidden_size, module.bias, **nonlinear)
        return cell
    made: nn.Module = cls(
        module.input_size,
        module.hidden_size,
        module.num_layers,
        module.bias,
        module.batch_first,
        bidirectional=module.bidirectional,
    )
    return made


def _attention(module: Any) -> nn.Module:
    return nn.MultiheadAttention(
        module.embed_dim,
        module.num_heads,
        bias=_has_bias(module.linear_Q),
        add_bias_kv=module.bias_k is not None,
        add_zero_attn=module.add_zero_attn,
        kdim=module.kdim,
        vdim=module.vdim,
        batch_first=module.batch_first,
    )


def _as(cls: type[nn.Module], module: nn.Module) -> nn.Module:
    """A module of the float class with all that another holds, but for what it is made of."""
    plain = object.__new__(cls)
    plain.__dict__.update(module.__dict__)
    plain.__dict__["_modules"] = {}
    plain.__dict__.pop("forward", None)
    return plain
