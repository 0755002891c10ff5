"""Builds a published layout without the Hub: no weights, and a tokenizer of two words.

The library reads configuration and tokenizer from a folder, so they are written to one.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, cast

from torch import nn

from .backbones import CONFIGS
from .layouts import Layout

_TASKS = {"sentence": "feature-extraction", "cross": "sequence-classification"}
_WORDS = {"[UNK]": 0, "[PAD]": 1}


def construct(layout: Layout) -> nn.Module:
    """A SentenceTransformer, CrossEncoder or SparseEncoder of this layout."""
    import sentence_transformers

    with TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, layout)
        encoder: Any = _encoder(str(folder), _TASKS.get(layout.kind, "fill-mask"))
    owners = {
        "sentence": sentence_transformers.SentenceTransformer,
        "cross": sentence_transformers.CrossEncoder,
        "sparse": sentence_transformers.SparseEncoder,
    }
    model: nn.Module = owners[layout.kind](
        modules=[encoder, *_after(encoder, layout)], device="meta"
    )
    return model


def _encoder(folder: str, task: Any) -> nn.Module:
    from sentence_transformers.base.modules.transformer import (
        TRANSFORMER_TASK_TO_AUTO_MODEL,
        Transformer,
    )

    class FromConfig(Transformer):
        """The library's module, but its model is made from the configuration alone."""

        def _load_model(
            self,
            model_name_or_path: str,
            transformer_task: Any,
            config: Any,
            backend: str,
            is_peft_model: bool,
            **model_kwargs: Any,
        ) -> Any:
            if config.model_type == "t5":  # of an encoder-decoder, the first half
                from transformers import T5EncoderModel

                return T5EncoderModel(config)
            return TRANSFORMER_TASK_TO_AUTO_MODEL[transformer_task].from_config(
                config, trust_remote_code=False
            )

    encoder: nn.Module = FromConfig(folder, transformer_task=task)
    return encoder


def _after(encoder: Any, layout: Layout) -> list[nn.Module]:
    """The modules behind the encoder."""
    from sentence_transformers.base.modules import Dense
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling
    from sentence_transformers.sparse_encoder.modules import SpladePooling

    if layout.kind == "sparse":
        return [SpladePooling(pooling_strategy=cast('Literal["max", "sum"]', layout.pooling))]
    if layout.pooling is None:
        return []
    width = encoder.get_embedding_dimension()
    modules: list[nn.Module] = [Pooling(width, pooling_mode=layout.pooling)]
    for out in layout.dense:
        activation = getattr(nn, layout.activation)()
        modules.append(Dense(width, out, bias=layout.bias, activation_function=activation))
        width = out
    return [*modules, Normalize()] if layout.normalize else modules


def _write(folder: Path, layout: Layout) -> None:
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    config = {**CONFIGS[layout.backbone]}
    if layout.kind == "cross":
        config |= {
            "architectures": ["ForSequenceClassification"],
            "id2label": {str(label): f"LABEL_{label}" for label in range(layout.labels)},
        }
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    words = Tokenizer(models.WordLevel(_WORDS, unk_token="[UNK]"))
    fast: Any = PreTrainedTokenizerFast
    fast(tokenizer_object=words, unk_token="[UNK]", pad_token="[PAD]").save_pretrained(str(folder))
