"""What well-known Triton kernels compute, in torch's words.

A kernel that is launched by a name and with the argument names of this table is followed as the
calls below, so that RMSNorm by flash-linear-attention or Liger is RMSNorm. Each function is given
the launch's arguments by name and writes into those that the kernel writes into.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.nn import functional as F

Arguments = Mapping[str, Any]
Known = Callable[[Arguments], None]

_GATES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "swish": F.silu,
    "silu": F.silu,
    "sigmoid": torch.sigmoid,
}


def known_kernel(name: str, arguments: Arguments) -> Callable[[], None] | None:
    """What does the work of a launch in torch; None of a kernel that is not known."""
    for names, known in _KNOWN.get(name, ()):
        if names <= arguments.keys():
            return lambda: known(arguments)
    return None


_KNOWN: dict[str, list[tuple[frozenset[str], Known]]] = {}


def _kernel(arguments: str, *names: str) -> Callable[[Known], Known]:
    """The decorated function knows kernels of these names that have these arguments."""

    def register(known: Known) -> Known:
        for name in names:
            _KNOWN.setdefault(name, []).append((frozenset(arguments.split()), known))
        return known

    return register


# -- norms -----------------------------------------------------------------------------------


def _normed(x: torch.Tensor, a: Arguments) -> torch.Tensor:
    """Layer, group or RMS norm over the last D features, as the launch says."""
    width, weight, bias = a["D"], a.get("w"), a.get("b")
    rows = x.reshape(-1, width)
    if a.get("IS_RMS_NORM"):
        weight, bias = (None if w is None else w.reshape(-1)[:width] for w in (weight, bias))
        normed = F.rms_norm(rows, (width,), weight)
        return (normed if bias is None else normed + bias).view(x.shape)
    if weight is None or weight.numel() == width:
        return F.layer_norm(rows, (width,), weight, bias).view(x.shape)
    groups = weight.numel() // width
    return F.group_norm(x.reshape(-1, groups * width), groups, weight, bias).view(x.shape)


def _summed(a: Arguments, residual: str) -> torch.Tensor:
    """The input with the residual, which is kept where the launch wants it."""
    x: torch.Tensor = a["x"] if a[residual] is None else a["x"] + a[residual]
    if a[f"{residual}_out"] is not None:
        a[f"{residual}_out"].copy_(x)
    return x


@_kernel(
    "x y w b res res_out D IS_RMS_NORM",
    "layer_norm_fwd_kernel",
    "layer_norm_fwd_kernel_row",
    "layer_norm_quant_fwd_kernel",
)
def _norm(a: Arguments) -> None:
    a["y"].copy_(_normed(_summed(a, "res"), a))


@_kernel(
    "x g y w b residual residual_out D ACTIVATION IS_RMS_NORM",
    "layer_norm_gated_fwd_kernel",
    "layer_norm_gated_fwd_kernel_row",
)
def _gated_norm(a: Arguments) -> None:
    x = _summed(a, "residual")
    a["y"].copy_(_normed(x, a) * _GATES[a["ACTIVATION"]](a["g"]))


@_kernel("x y w b g D NORM_BEFORE_GATE IS_RMS_NORM", "layer_norm_fwd_kernel_group")
def _norm_and_gate(a: Arguments) -> None:
    gate = None if a["g"] is None else F.silu(a["g"])
    first = a["x"] if gate is None or a["NORM_BEFORE_GATE"] else a["x"] * gate
    normed = _normed(first, a)
    a["y"].copy_(normed if gate is None or not a["NORM_BEFORE_GATE"] else normed * gate)


@_kernel("x y D", "l2norm_fwd_kernel", "l2norm_fwd_kernel_row")
def _l2_norm(a: Arguments) -> None:
    a["y"].copy_(F.normalize(a["x"], dim=-1))


@_kernel("Y_ptr X_ptr W_ptr n_cols", "_rms_norm_forward_kernel", "_block_rms_norm_forward_kernel")
def _rms_norm_of_liger(a: Arguments) -> None:
    a["Y_ptr"].copy_(F.rms_norm(a["X_ptr"], (a["n_cols"],), a["W_ptr"]))


@_kernel("Y_ptr X_ptr W_ptr B_ptr n_cols", "_layer_norm_forward_kernel")
def _layer_norm_of_liger(a: Arguments) -> None:
    a["Y_ptr"].copy_(F.layer_norm(a["X_ptr"], (a["n_cols"],), a["W_ptr"], a["B_ptr"]))


# -- activations and gates --------------------------------------------------------------------


@_kernel("x y", "swish_fwd_kernel")
def _silu(a: Arguments) -> None:
    a["y"].copy_(F.silu(a["x"]))


@_kernel("x y", "sigmoid_fwd_kernel")
def _sigmoid(a: Arguments) -> None:
    a["y"].copy_(torch.sigmoid(a["x"]))


@_kernel("x y temperature", "logsigmoid_fwd_kernel")
def _log_sigmoid(a: Arguments) -> None:
    a["y"].copy_(F.logsigmoid(a["x"]))


@_kernel("x y", "elu_p1_fwd_kernel")
def _elu_and_one(a: Arguments) -> None:
    a["y"].copy_(F.elu(a["x"]) + 1)


@_kernel("x y z", "swiglu_fwd_kernel")
def _swiglu(a: Arguments) -> None:
    a["z"].copy_(F.silu(a["x"]) * a["y"])


@_kernel("x y z", "sigmoidglu_fwd_kernel")
def _sigmoid_glu(a: Arguments) -> None:
    a["z"].copy_(torch.sigmoid(a["x"]) * a["y"])


@_kernel("a_ptr b_ptr c_ptr", "_swiglu_forward_kernel", "_swiglu_forward_kernel_tiled")
def _swiglu_of_liger(a: Arguments) -> None:
    a["c_ptr"].copy_(F.silu(a["a_ptr"]) * a["b_ptr"])


@_kernel("a b c n_cols", "_geglu_tanh_forward_kernel")
def _geglu_of_liger(a: Arguments) -> None:
    a["c"].copy_(F.gelu(a["a"], approximate="tanh") * a["b"])


@_kernel("x p", "softmax_fwd_kernel")
def _softmax(a: Arguments) -> None:
    a["p"].copy_(a["x"].softmax(-1))


# -- positions and neighbours -----------------------------------------------------------------


def _rotated(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool = False
) -> torch.Tensor:
    """Rotary positions of the first features of each head.

    Shapes:
        x: [batch, length, heads, features].
        cos, sin: [batch or 1, length, 1, half of the features that are turned].
    """
    turned = 2 * cos.shape[-1]
    if interleaved:
        one, other = x[..., 0:turned:2], x[..., 1:turned:2]
        pairs = torch.stack([one * cos - other * sin, other * cos + one * sin], -1)
        return torch.cat([pairs.flatten(-2), x[..., turned:]], -1)
    one, other = x[..., :turned].chunk(2, -1)
    parts = [one * cos - other * sin, other * cos + one * sin, x[..., turned:]]
    return torch.cat(parts if turned < x.shape[-1] else parts[:2], -1)


@_kernel("x cos sin y T INTERLEAVED", "rotary_embedding_kernel")
def _rotary(a: Arguments) -> None:
    cos, sin = (a[name][None, : a["T"], None] for name in ("cos", "sin"))
    a["y"].copy_(_rotated(a["x"], cos, sin, a["INTERLEAVED"]))


@_kernel("q_ptr k_ptr cos sin", "_triton_rope")
def _rotary_of_liger(a: Arguments) -> None:
    half = a["cos"].shape[-1] // 2
    cos, sin = (a[name].view(-1, *a[name].shape[-2:])[:, :, None, :half] for name in ("cos", "sin"))
    for name in ("q_ptr", "k_ptr"):
        a[name].copy_(_rotated(a[name], cos, sin))


@_kernel("x y weight bias residual T ACTIVATION", "causal_conv1d_fwd_kernel")
def _causal_convolution(a: Arguments) -> None:
    weight = a["weight"]
    channels, kernel = weight.shape
    rows = a["x"].transpose(1, 2)
    found = F.conv1d(rows, weight[:, None], a["bias"], padding=kernel - 1, groups=channels)
    found = found[..., : rows.shape[-1]].transpose(1, 2)
    if a["ACTIVATION"]:
        found = _GATES[a["ACTIVATION"]](found)
    a["y"].copy_(found if a["residual"] is None else found + a["residual"])


@_kernel("x y cache", "token_shift_fwd_kernel_short", "token_shift_fwd_kernel_long")
def _token_shift(a: Arguments) -> None:
    a["y"].copy_(F.pad(a["x"], (0, 0, 1, 0))[:, :-1] - a["x"])


@_kernel("hidden delta ixr oxr use_xg", "fused_addcmul_fwd_kernel")
def _mixed_with_the_last_token(a: Arguments) -> None:
    for name in "rwkvag" if a["use_xg"] else "rwkva":
        a[f"ox{name}"].copy_(a["hidden"] + a["delta"] * a[f"ix{name}"])


@_kernel("k a ka out", "k_update_fwd_kernel_short", "k_update_fwd_kernel_long")
def _updated_keys(a: Arguments) -> None:
    a["out"].copy_(a["k"] + a["k"] * (a["a"] - 1) * a["ka"])


# -- attention --------------------------------------------------------------------------------


@_kernel("q k v g gk gv o h0", "fused_recurrent_fwd_kernel")
def _linear_attention(a: Arguments) -> None:
    """From a state on, to the last state.

    Shapes:
        q, k: [batch, length, heads, width].
        v: [batch, length, heads, value width].
        h0, ht: [batch, heads, width, value width].
    """
    query, key, value = (a[name].transpose(1, 2) for name in "qkv")
    if a["g"] is not None:
        key = key * a["g"].transpose(1, 2).unsqueeze(-1)
    if a["gk"] is not None:
        key = key * a["gk"].transpose(1, 2)
    if a["gv"] is not None:
        value = value * a["gv"].transpose(1, 2)
    state = key.transpose(-1, -2) @ value
    before = a["h0"]
    if before is not None and (before.is_meta or before.any()):  # zeros are none
        state = state + before
    a["o"].copy_((query @ state).transpose(1, 2))
    if a.get("ht") is not None:
        a["ht"].copy_(state)
