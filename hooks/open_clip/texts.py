"""Published sizes of the text encoders that open_clip takes from the Hugging Face Hub by name.

open_clip asks the Hub for their `config.json`; the same values from here need no network.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ROBERTA = {
    "model_type": "roberta",
    "vocab_size": 50265,
    "max_position_embeddings": 514,
    "type_vocab_size": 1,
}
_XLM_ROBERTA = {
    "model_type": "xlm-roberta",
    "vocab_size": 250002,
    "max_position_embeddings": 514,
    "type_vocab_size": 1,
}
_LARGE = {
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
}
_MT5 = {
    "model_type": "mt5",
    "vocab_size": 250112,
    "d_kv": 64,
    "feed_forward_proj": "gated-gelu",
    "is_encoder_decoder": True,
}
_NLLB = {
    "model_type": "m2m_100",
    "vocab_size": 256206,
    "d_model": 1024,
    "encoder_attention_heads": 16,
    "decoder_attention_heads": 16,
    "is_encoder_decoder": True,
}

CONFIGS: Mapping[str, Mapping[str, Any]] = {
    "roberta-base": _ROBERTA,
    "xlm-roberta-base": _XLM_ROBERTA,
    "xlm-roberta-large": {**_XLM_ROBERTA, **_LARGE},
    "google/mt5-base": {
        **_MT5,
        "d_model": 768,
        "d_ff": 2048,
        "num_layers": 12,
        "num_decoder_layers": 12,
        "num_heads": 12,
    },
    "google/mt5-xl": {
        **_MT5,
        "d_model": 2048,
        "d_ff": 5120,
        "num_layers": 24,
        "num_decoder_layers": 24,
        "num_heads": 32,
    },
    "facebook/nllb-200-distilled-600M": {
        **_NLLB,
        "encoder_layers": 12,
        "decoder_layers": 12,
        "encoder_ffn_dim": 4096,
        "decoder_ffn_dim": 4096,
    },
    "facebook/nllb-200-distilled-1.3B": {
        **_NLLB,
        "encoder_layers": 24,
        "decoder_layers": 24,
        "encoder_ffn_dim": 8192,
        "decoder_ffn_dim": 8192,
    },
}
