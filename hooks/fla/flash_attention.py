"""FlashAttention's two functions in PyTorch's own words, for libraries that need its package.

The package is built against CUDA and cannot be installed on most machines that trace models.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


def lend(package: str) -> None:
    """Give the functions to the loaded modules of a package that did not find FlashAttention."""
    lent = {"flash_attn_func": attention, "flash_attn_varlen_func": packed_attention}
    for path, module in list(sys.modules.items()):
        if path.startswith(f"{package}."):
            for name, function in lent.items():
                if vars(module).get(name, module) is None:
                    setattr(module, name, function)


def attention(q: Tensor, k: Tensor, v: Tensor, *_: Any, causal: bool = False, **__: Any) -> Tensor:
    """Attention over [batch, length, heads, width]; windows and scales change no operator."""
    from torch.nn.functional import scaled_dot_product_attention

    fewer_keys = k.shape[2] != q.shape[2]
    q, k, v = (tensor.transpose(1, 2) for tensor in (q, k, v))  # [batch, heads, length, width]
    found = scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=fewer_keys)
    return found.transpose(1, 2)


def packed_attention(q: Tensor, k: Tensor, v: Tensor, *_: Any, **options: Any) -> Tensor:
    """Attention over [tokens, heads, width], whose one sequence is the whole of it."""
    return attention(q[None], k[None], v[None], causal=options.get("causal", False))[0]
