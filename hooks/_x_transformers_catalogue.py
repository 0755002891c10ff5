"""The networks that x-transformers' README shows, by the option that each of them is about.

The package is one transformer with many options; its README (which the wheel carries) has an
example for each. A name is `decoder`, `encoder` or a wrapper's class, with the option behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import nn

_LAYERS: dict[str, Any] = {"dim": 512, "depth": 6, "heads": 8}
_WRAPPER: dict[str, Any] = {"num_tokens": 20000, "max_seq_len": 1024}
_BOTH: dict[str, Any] = {
    f"{side}_{key}": value
    for side in ("enc", "dec")
    for key, value in {"num_tokens": 256, "depth": 6, "heads": 8, "max_seq_len": 1024}.items()
}
_THRICE_FOUR_TIMES = ((0, 1) * 4) + ((2, 3) * 4) + ((4, 5) * 4)

# Options of the layers of a decoder, beside `_LAYERS`.
_DECODERS: dict[str, dict[str, Any]] = {
    "alibi": {"alibi_pos_bias": True, "alibi_num_heads": 4},
    "custom-order": {
        "custom_layers": ("a", "f") * 3,
        "layers_execute_order": _THRICE_FOUR_TIMES,
        "depth": None,
    },
    "deep": {"depth": 12},
    "dynamic-pos-bias": {"dynamic_pos_bias": True, "dynamic_pos_bias_log_distance": False},
    "ff-glu": {"ff_glu": True},
    "ff-no-bias": {"ff_no_bias": True},
    "ff-post-act-ln": {"ff_post_act_ln": True},
    "ff-relu-squared": {"ff_relu_squared": True},
    "ff-swiglu": {"ff_swish": True, "ff_glu": True},
    "flash": {"attn_flash": True},
    "gate-residual": {"heads": 16, "gate_residual": True},
    "grouped-query": {"depth": 12, "attn_kv_heads": 2},
    "hard-attention": {"attn_hard": True},
    "head-scale": {"attn_head_scale": True},
    "one-kv-head": {"attn_one_kv_head": True},
    "qk-norm": {"attn_qk_norm": True, "attn_qk_norm_groups": 8},
    "qk-norm-dim-scale": {"depth": 12, "attn_qk_norm": True, "attn_qk_norm_dim_scale": True},
    "qk-norm-scale": {"attn_qk_norm": True, "attn_qk_norm_scale": 10},
    "rel-pos-bias": {"rel_pos_bias": True},
    "rmsnorm": {"use_rmsnorm": True},
    "rotary": {"rotary_pos_emb": True},
    "rotary-xpos": {"rotary_xpos": True},
    "sandwich-norm": {"sandwich_norm": True},
    "scale-residual": {"scale_residual": True},
    "scalenorm": {"use_scalenorm": True},
    "shift-tokens": {"shift_tokens": 1},
    "shift-tokens-less-and-less": {"shift_tokens": (1,) * 6 + (0,) * 6},
    "simple-rmsnorm": {"use_simple_rmsnorm": True},
    "sparse-topk": {"attn_sparse_topk": 8, "attn_sparse_topk_straight_through": True},
    "talking-heads": {"attn_pre_talking_heads": True, "attn_post_talking_heads": True},
}
_ENCODERS: dict[str, dict[str, Any]] = {
    "attention-on-attention": {"attn_on_attn": True},
    "deep": {"depth": 12},
    "gate-values": {"attn_gate_values": True},
    "macaron": {"macaron": True},
    "memory-key-values": {"attn_num_mem_kv": 16},
    "residual-attention": {"pre_norm": False, "residual_attn": True},
    "sandwich": {"sandwich_coef": 6},
    "tied-layers": {"depth": 12, "weight_tie_layers": True},
}
# Options of the wrapper around a plain decoder.
_WRAPPED: dict[str, dict[str, Any]] = {
    "l2norm-embed": {"l2norm_embed": True},
    "no-positions": {"use_abs_pos_emb": False},
    "post-emb-norm": {"post_emb_norm": True},
}


def _decoder(x: Any, wrapper: dict[str, Any], layers: dict[str, Any]) -> nn.Module:
    return _wrapped(x, x.Decoder, wrapper, layers)


def _encoder(x: Any, wrapper: dict[str, Any], layers: dict[str, Any]) -> nn.Module:
    return _wrapped(x, x.Encoder, wrapper, layers)


def _wrapped(
    x: Any, kind: Callable[..., nn.Module], wrapper: dict[str, Any], layers: dict[str, Any]
) -> nn.Module:
    options = {key: value for key, value in (_LAYERS | layers).items() if value is not None}
    model: nn.Module = x.TransformerWrapper(**_WRAPPER | wrapper, attn_layers=kind(**options))
    return model


def _images(x: Any) -> nn.Module:
    model: nn.Module = x.ViTransformerWrapper(
        image_size=256, patch_size=32, num_classes=1000, attn_layers=x.Encoder(**_LAYERS)
    )
    return model


def _continuous(x: Any) -> nn.Module:
    model: nn.Module = x.ContinuousTransformerWrapper(
        dim_in=32, dim_out=100, max_seq_len=1024, attn_layers=x.Decoder(**_LAYERS | {"depth": 12})
    )
    return model


def _numbers(x: Any) -> nn.Module:
    model: nn.Module = x.XValTransformerWrapper(
        num_tokens=4,
        numerical_token_id=3,
        max_seq_len=1024,
        attn_layers=x.Decoder(**_LAYERS | {"depth": 12}),
    )
    return model


def _several(x: Any) -> nn.Module:
    model: nn.Module = x.MultiInputTransformerWrapper(
        num_tokens={"note": 20000, "pitch": 32, "tone": 16},
        max_seq_len=1024,
        return_only_embed=True,
        attn_layers=x.Decoder(**_LAYERS),
    )
    return model


BUILDERS: dict[str, Callable[[Any], nn.Module]] = {
    "ContinuousTransformerWrapper": _continuous,
    "CrossAttender": lambda x: x.CrossAttender(dim=512, depth=6),
    "Encoder": lambda x: x.Encoder(dim=512, depth=6),
    "MultiInputTransformerWrapper": _several,
    "NeoMLP": lambda x: x.NeoMLP(dim_in=5, dim_hidden=7, dim_out=5, dim_model=512, depth=6),
    "ViTransformerWrapper": _images,
    "XTransformer": lambda x: x.XTransformer(dim=512, tie_token_emb=True, **_BOTH),
    "XTransformer/cross-residual-attention": lambda x: x.XTransformer(
        dim=512, dec_cross_residual_attn=True, **_BOTH
    ),
    "XValTransformerWrapper": _numbers,
    "decoder": partial(_decoder, wrapper={}, layers={}),
    "decoder/cross-attention": partial(_decoder, wrapper={}, layers={"cross_attend": True}),
    "decoder/gpt3": partial(
        _decoder,
        wrapper={"num_tokens": 50000, "max_seq_len": 2048},
        layers={"dim": 12288, "depth": 96, "heads": 96, "attn_dim_head": 128},
    ),
    "decoder/recurrent-rotary": partial(
        _decoder,
        wrapper={"max_seq_len": 512, "max_mem_len": 2048, "shift_mem_down": 1},
        layers={"rotary_pos_emb": True},
    ),
    "encoder": partial(_encoder, wrapper={}, layers={}),
    "encoder/memory-tokens": partial(_encoder, wrapper={"num_memory_tokens": 20}, layers={}),
    **{
        f"decoder/{name}": partial(_decoder, wrapper={}, layers=_DECODERS[name])
        for name in _DECODERS
    },
    **{
        f"decoder/{name}": partial(_decoder, wrapper=_WRAPPED[name], layers={}) for name in _WRAPPED
    },
    **{
        f"encoder/{name}": partial(_encoder, wrapper={}, layers=_ENCODERS[name])
        for name in _ENCODERS
    },
}
_TASKS = {
    "ContinuousTransformerWrapper": "time-series-forecasting",
    "CrossAttender": "feature-extraction",
    "Encoder": "feature-extraction",
    "NeoMLP": "tabular-regression",
    "ViTransformerWrapper": "image-classification",
    "XTransformer": "text2text-generation",
    "encoder": "fill-mask",
}


def task_of(name: str) -> str:
    """In the words of the Hugging Face Hub."""
    return _TASKS.get(name.partition("/")[0], "text-generation")


def family_of(name: str) -> str:
    """The design, in the words that the libraries' plugins share."""
    first = name.partition("/")[0]
    return {"ViTransformerWrapper": "vit", "NeoMLP": "neo_mlp"}.get(first, "x_transformer")
