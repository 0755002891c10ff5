"""Published sentence embedding models: which encoder, which pooling and what comes after.

Written from knowledge of the model pages ("Full Model Architecture"), which could not be opened
for comparison: backbone and sizes are well known, pooling and head of the rarer ones less so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Layout:
    """What a model is made of.

    Attributes:
        backbone: A name of `_sentence_transformers_backbones.CONFIGS`.
        pooling: How the tokens become one vector; None for a cross-encoder.
        dense: Output widths of the linear layers after the pooling.
        activation: Of those layers; its name in `torch.nn`.
        bias: Whether those layers have one.
        normalize: Whether the vector is brought to length 1.
        labels: Outputs of a cross-encoder.
        kind: The class that holds the modules.
    """

    backbone: str
    pooling: str | None = "mean"
    dense: tuple[int, ...] = ()
    activation: str = "Identity"
    bias: bool = True
    normalize: bool = False
    labels: int = 1
    kind: Literal["sentence", "cross", "sparse"] = "sentence"


def _unit(backbone: str, pooling: str = "mean") -> Layout:
    return Layout(backbone, pooling, normalize=True)


def _cross(backbone: str, labels: int = 1) -> Layout:
    return Layout(backbone, None, labels=labels, kind="cross")


def _t5(backbone: str) -> Layout:
    return Layout(backbone, dense=(768,), bias=False, normalize=True)


LAYOUTS: Mapping[str, Layout] = {
    "LaBSE": Layout("labse", "cls", (768,), "Tanh", normalize=True),
    "all-MiniLM-L12-v2": _unit("minilm-12"),
    "all-MiniLM-L6-v2": _unit("minilm-6"),
    "all-distilroberta-v1": _unit("distilroberta"),
    "all-mpnet-base-v2": _unit("mpnet-base"),
    "all-roberta-large-v1": _unit("roberta-large"),
    "allenai-specter": Layout("scibert", "cls"),
    "bert-base-nli-cls-token": Layout("bert-base", "cls"),
    "bert-base-nli-max-tokens": Layout("bert-base", "max"),
    "bert-base-nli-mean-tokens": Layout("bert-base"),
    "bert-large-nli-mean-tokens": Layout("bert-large"),
    "clip-ViT-B-32-multilingual-v1": Layout("distilbert-multilingual", dense=(512,), bias=False),
    "distilbert-base-nli-mean-tokens": Layout("distilbert"),
    "distiluse-base-multilingual-cased-v2": Layout(
        "distilbert-multilingual", dense=(512,), activation="Tanh"
    ),
    "gtr-t5-base": _t5("t5-base"),
    "gtr-t5-large": _t5("t5-large"),
    "gtr-t5-xl": _t5("t5-3b"),
    "gtr-t5-xxl": _t5("t5-11b"),
    "msmarco-MiniLM-L12-cos-v5": _unit("minilm-12"),
    "msmarco-MiniLM-L6-cos-v5": _unit("minilm-6"),
    "msmarco-bert-base-dot-v5": Layout("bert-base"),
    "msmarco-distilbert-base-tas-b": Layout("distilbert", "cls"),
    "msmarco-distilbert-cos-v5": _unit("distilbert"),
    "multi-qa-MiniLM-L6-cos-v1": _unit("minilm-6"),
    "multi-qa-MiniLM-L6-dot-v1": Layout("minilm-6", "cls"),
    "multi-qa-distilbert-cos-v1": _unit("distilbert"),
    "multi-qa-distilbert-dot-v1": Layout("distilbert", "cls"),
    "multi-qa-mpnet-base-cos-v1": _unit("mpnet-base"),
    "multi-qa-mpnet-base-dot-v1": Layout("mpnet-base", "cls"),
    "nli-mpnet-base-v2": Layout("mpnet-base"),
    "paraphrase-MiniLM-L12-v2": Layout("minilm-12"),
    "paraphrase-MiniLM-L3-v2": Layout("minilm-3"),
    "paraphrase-MiniLM-L6-v2": Layout("minilm-6"),
    "paraphrase-albert-small-v2": Layout("albert-small"),
    "paraphrase-distilroberta-base-v2": Layout("distilroberta"),
    "paraphrase-mpnet-base-v2": Layout("mpnet-base"),
    "paraphrase-multilingual-MiniLM-L12-v2": Layout("minilm-12-multilingual"),
    "paraphrase-multilingual-mpnet-base-v2": Layout("xlm-roberta-base"),
    "sentence-t5-base": _t5("t5-base"),
    "sentence-t5-large": _t5("t5-large"),
    "sentence-t5-xl": _t5("t5-3b"),
    "sentence-t5-xxl": _t5("t5-11b"),
    "stsb-roberta-base-v2": Layout("roberta-base"),
    "Alibaba-NLP/gte-modernbert-base": Layout("modernbert-base", "cls"),
    "BAAI/bge-base-en-v1.5": _unit("bert-base", "cls"),
    "BAAI/bge-large-en-v1.5": _unit("bert-large", "cls"),
    "BAAI/bge-m3": _unit("xlm-roberta-large-8k", "cls"),
    "BAAI/bge-small-en-v1.5": _unit("minilm-12", "cls"),
    "Qwen/Qwen3-Embedding-0.6B": _unit("qwen3-0.6b", "lasttoken"),
    "Qwen/Qwen3-Embedding-4B": _unit("qwen3-4b", "lasttoken"),
    "Qwen/Qwen3-Embedding-8B": _unit("qwen3-8b", "lasttoken"),
    "Snowflake/snowflake-arctic-embed-l": _unit("bert-large", "cls"),
    "Snowflake/snowflake-arctic-embed-m": _unit("bert-base", "cls"),
    "Snowflake/snowflake-arctic-embed-s": _unit("minilm-12", "cls"),
    "Snowflake/snowflake-arctic-embed-xs": _unit("minilm-6", "cls"),
    "google/embeddinggemma-300m": Layout(
        "gemma3-300m", dense=(3072, 768), bias=False, normalize=True
    ),
    "intfloat/e5-base-v2": _unit("bert-base"),
    "intfloat/e5-large-v2": _unit("bert-large"),
    "intfloat/e5-mistral-7b-instruct": _unit("mistral-7b", "lasttoken"),
    "intfloat/e5-small-v2": _unit("minilm-12"),
    "intfloat/multilingual-e5-base": _unit("xlm-roberta-base"),
    "intfloat/multilingual-e5-large": _unit("xlm-roberta-large"),
    "intfloat/multilingual-e5-small": _unit("minilm-12-multilingual"),
    "mixedbread-ai/mxbai-embed-large-v1": Layout("bert-large", "cls"),
    "nomic-ai/modernbert-embed-base": _unit("modernbert-base"),
    "thenlper/gte-base": _unit("bert-base"),
    "thenlper/gte-large": _unit("bert-large"),
    "thenlper/gte-small": _unit("minilm-12"),
    "BAAI/bge-reranker-base": _cross("xlm-roberta-base"),
    "BAAI/bge-reranker-large": _cross("xlm-roberta-large"),
    "BAAI/bge-reranker-v2-m3": _cross("xlm-roberta-large-8k"),
    "cross-encoder/ms-marco-MiniLM-L12-v2": _cross("minilm-12"),
    "cross-encoder/ms-marco-MiniLM-L2-v2": _cross("minilm-2"),
    "cross-encoder/ms-marco-MiniLM-L4-v2": _cross("minilm-4"),
    "cross-encoder/ms-marco-MiniLM-L6-v2": _cross("minilm-6"),
    "cross-encoder/ms-marco-TinyBERT-L2-v2": _cross("tinybert-2"),
    "cross-encoder/ms-marco-electra-base": _cross("electra-base"),
    "cross-encoder/nli-deberta-v3-base": _cross("deberta-v3-base", 3),
    "cross-encoder/nli-deberta-v3-large": _cross("deberta-v3-large", 3),
    "cross-encoder/nli-deberta-v3-small": _cross("deberta-v3-small", 3),
    "cross-encoder/nli-deberta-v3-xsmall": _cross("deberta-v3-xsmall", 3),
    "cross-encoder/stsb-distilroberta-base": _cross("distilroberta"),
    "cross-encoder/stsb-roberta-base": _cross("roberta-base"),
    "cross-encoder/stsb-roberta-large": _cross("roberta-large"),
    "naver/splade-cocondenser-ensembledistil": Layout("bert-base", "max", kind="sparse"),
    "naver/splade-v3-distilbert": Layout("distilbert", "max", kind="sparse"),
}
