"""What a decoder of transformers that stands alone reads of an encoder: its last hidden states."""

from __future__ import annotations

import re
from typing import Any

from torch import nn

from .media import floats

_STEPS = 64
_NAMES = ("encoder_hidden_states", "cross_attention_states", "encoder_outputs")
_OF_BOTH_SIDES = {"decoder_input_ids", "decoder_input_values", "pixel_values"}
_CROSSING = re.compile(
    r"(encoder_attn|cross_?attn|cross_?attention|encoder_attention|encoder_decoder_attention)$"
)
_KEYS = ("k_proj", "key", "key_proj", "k")


def readings(model: nn.Module, names: set[str]) -> dict[str, Any]:
    """The states that the cross-attention of a decoder turns into keys, or nothing.

    A model that has the encoder itself takes the encoder's inputs, or the tokens of both sides.

    Example:
        ```python
        readings(bart_for_causal_lm, {"input_ids", "encoder_hidden_states"})
        ```

    Args:
        model: Any model of transformers.
        names: The arguments of its forward.

    Shapes:
        encoder_hidden_states: float[1, 64, width of the encoder].
    """
    name = next((item for item in _NAMES if item in names), None)
    if name is None or names & _OF_BOTH_SIDES:
        return {}
    width = _width_of_keys(model)
    if not width:
        return {}
    states = floats(1, _STEPS, width)
    return {name: (states,) if name == "encoder_outputs" else states}


def _width_of_keys(model: nn.Module) -> int:
    """What the keys of the first cross-attention are made of; 0 without any."""
    for path, part in model.named_modules():
        if not _CROSSING.search(path):
            continue
        for name, layer in part.named_modules():
            if name.rpartition(".")[2] in _KEYS and isinstance(layer, nn.Linear):
                return layer.in_features
    return 0
