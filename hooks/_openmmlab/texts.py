"""Text towers that a config names on the Hub: built in their published size, without a download."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch

# google-bert/bert-base-uncased has the default sizes of transformers' BertConfig.
_DEFAULT_SIZES = frozenset({"bert-base-uncased"})


@contextmanager
def published_texts() -> Iterator[None]:
    """Inside the block, `from_pretrained` of a known name downloads nothing."""
    if importlib.util.find_spec("transformers") is None:
        yield
        return
    from transformers import AutoTokenizer, BertConfig, BertModel

    class MaskedBert(BertModel):  # type: ignore[no-untyped-call]
        """Takes a mask for each pair of tokens, [batch, tokens, tokens], as it once did."""

        def forward(self, input_ids: Any, attention_mask: Any = None, **kwargs: Any) -> Any:
            if attention_mask is not None and attention_mask.dim() == 3:
                attention_mask = attention_mask[:, None].bool()
            return super().forward(input_ids, attention_mask=attention_mask, **kwargs)

    def without_weights(cls: Any, make: Any) -> Any:
        original = cls.from_pretrained

        def from_pretrained(name: Any, *args: Any, **kwargs: Any) -> Any:
            known = name in _DEFAULT_SIZES
            return make(**kwargs) if known else original(name, *args, **kwargs)

        return patch.object(cls, "from_pretrained", from_pretrained)

    with ExitStack() as around:
        around.enter_context(without_weights(AutoTokenizer, _tokenizer))
        around.enter_context(without_weights(BertConfig, BertConfig))
        around.enter_context(without_weights(BertModel, MaskedBert))
        yield


def mend_fusion() -> None:
    """Give GLIP's layers what they inherited from transformers before its version 5."""
    layers: Any = sys.modules.get("mmdet.models.utils.vlfuse_helper")
    if layers is not None and not hasattr(layers.BertEncoderLayer, "get_extended_attention_mask"):
        layers.BertEncoderLayer.get_extended_attention_mask = _extended
        layers.BertAttention.forward = _attended


def _extended(layer: Any, mask: Any, shape: Any, device: Any) -> Any:
    """What is added to the scores: 0 where tokens are seen, [batch, 1, tokens or 1, tokens]."""
    mask = mask[:, None] if mask.dim() == 3 else mask[:, None, None]
    return (1.0 - mask.to(layer.dtype)) * torch.finfo(layer.dtype).min


def _attended(layer: Any, states: Any, mask: Any, *_: Any, **__: Any) -> Any:
    attention, *rest = layer.self(states, mask)
    return (layer.output(attention, states), *rest)


def _tokenizer(**_: Any) -> Any:
    """A tokenizer of the kind, to which every word but punctuation is unknown."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", "?", ","]
    tokens = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(tokens, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    kind: Any = PreTrainedTokenizerFast
    fast = kind(
        tokenizer_object=tokenizer,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )
    fast.batch_encode_plus = fast.__call__  # which transformers 5 took away
    return fast
