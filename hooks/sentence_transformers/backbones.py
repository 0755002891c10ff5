"""Published sizes of the encoders below sentence embeddings, for configurations without the Hub."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LARGE: dict[str, Any] = {
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
}


def _bert(layers: int, width: int, **others: Any) -> dict[str, Any]:
    """BERT with heads of 64 channels, or of 32 where it is narrow."""
    heads = width // 64 if width > 384 else 12
    return {
        "model_type": "bert",
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": 4 * width,
        **others,
    }


def _roberta(kind: str = "roberta", vocabulary: int = 50265, **others: Any) -> dict[str, Any]:
    return {
        "model_type": kind,
        "vocab_size": vocabulary,
        "max_position_embeddings": 514,
        "type_vocab_size": 1,
        **others,
    }


def _t5(width: int, feed: int, layers: int, heads: int) -> dict[str, Any]:
    sizes = {"d_model": width, "d_ff": feed, "num_layers": layers, "num_heads": heads}
    return {"model_type": "t5", **sizes, "d_kv": 64 if width < 1024 or heads < 32 else 128}


def _deberta(layers: int, width: int, heads: int) -> dict[str, Any]:
    return {
        "model_type": "deberta-v2",
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": 4 * width,
        "vocab_size": 128100,
        "type_vocab_size": 0,
        "relative_attention": True,
        "position_buckets": 256,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "pos_att_type": ["p2c", "c2p"],
        "position_biased_input": False,
        "max_relative_positions": -1,
    }


def _qwen3(layers: int, width: int, heads: int, feed: int) -> dict[str, Any]:
    return {
        "model_type": "qwen3",
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "intermediate_size": feed,
        "vocab_size": 151669,
        "max_position_embeddings": 32768,
    }


CONFIGS: Mapping[str, Mapping[str, Any]] = {
    "albert-small": {
        "model_type": "albert",
        "hidden_size": 768,
        "num_hidden_layers": 6,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
    },
    "bert-base": _bert(12, 768),
    "bert-large": _bert(24, 1024),
    "deberta-v3-base": _deberta(12, 768, 12),
    "deberta-v3-large": _deberta(24, 1024, 16),
    "deberta-v3-small": _deberta(6, 768, 12),
    "deberta-v3-xsmall": _deberta(12, 384, 6),
    "distilbert": {"model_type": "distilbert"},
    "distilbert-multilingual": {"model_type": "distilbert", "vocab_size": 119547},
    "distilroberta": _roberta(num_hidden_layers=6),
    "electra-base": {
        "model_type": "electra",
        "embedding_size": 768,
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
    },
    "gemma3-300m": {
        "model_type": "gemma3_text",
        "hidden_size": 768,
        "num_hidden_layers": 24,
        "num_attention_heads": 3,
        "num_key_value_heads": 1,
        "head_dim": 256,
        "intermediate_size": 1152,
        "sliding_window": 512,
        "use_bidirectional_attention": True,
        "vocab_size": 262144,
        "max_position_embeddings": 2048,
    },
    "labse": _bert(12, 768, vocab_size=501153),
    "minilm-2": _bert(2, 384),
    "minilm-3": _bert(3, 384),
    "minilm-4": _bert(4, 384),
    "minilm-6": _bert(6, 384),
    "minilm-12": _bert(12, 384),
    "minilm-12-multilingual": _bert(12, 384, vocab_size=250037),
    "mistral-7b": {"model_type": "mistral", "num_key_value_heads": 8},
    "modernbert-base": {"model_type": "modernbert"},
    "mpnet-base": {"model_type": "mpnet", "max_position_embeddings": 514, "vocab_size": 30527},
    "qwen3-0.6b": _qwen3(28, 1024, 16, 3072),
    "qwen3-4b": _qwen3(36, 2560, 32, 9728),
    "qwen3-8b": _qwen3(36, 4096, 32, 12288),
    "roberta-base": _roberta(),
    "roberta-large": _roberta(**_LARGE),
    "scibert": _bert(12, 768, vocab_size=31090),
    "t5-base": _t5(768, 3072, 12, 12),
    "t5-large": _t5(1024, 4096, 24, 16),
    "t5-3b": _t5(1024, 16384, 24, 32),
    "t5-11b": _t5(1024, 65536, 24, 128),
    "tinybert-2": _bert(2, 128, num_attention_heads=2),
    "xlm-roberta-base": _roberta("xlm-roberta", 250002),
    "xlm-roberta-large": _roberta("xlm-roberta", 250002, **_LARGE),
    "xlm-roberta-large-8k": {
        **_roberta("xlm-roberta", 250002, **_LARGE),
        "max_position_embeddings": 8194,
    },
}
