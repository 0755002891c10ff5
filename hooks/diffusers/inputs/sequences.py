"""Forwards of one sequence in which text, images and sound have their places."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from .sizes import floats

_WORDS = 32
_IMAGE = 64  # tokens of an image, 8 x 8
_SIDE = 8


def _words_and_image(model: nn.Module, config: Mapping[str, Any]) -> dict[str, Any]:
    """OmniGen: a language model that reads the text, the time and the latent's patches."""
    high = 2 * _SIDE
    total = _WORDS + 1 + (high // config["patch_size"]) ** 2
    return {
        "hidden_states": floats(1, config["in_channels"], high, high),
        "timestep": floats(1),
        "input_ids": torch.arange(_WORDS)[None],
        "input_img_latents": [],
        "input_image_sizes": {},
        "attention_mask": torch.ones(1, total, total),
        "position_ids": torch.arange(total)[None],
    }


def _text_then_image(model: nn.Module, config: Mapping[str, Any]) -> dict[str, Any]:
    """Krea 2: one position for each token of the text and of the image."""
    text = floats(1, _WORDS, config["num_text_layers"], config["text_hidden_dim"])
    return {
        "hidden_states": floats(1, _IMAGE, config["in_channels"]),
        "encoder_hidden_states": text,
        "timestep": floats(1),
        "position_ids": torch.arange(_WORDS + _IMAGE)[:, None].expand(-1, 3),
    }


def _marked(model: nn.Module, config: Mapping[str, Any]) -> dict[str, Any]:
    """Ideogram 4: text and image share one sequence, and an indicator tells them apart."""
    module = sys.modules[type(model).__module__]
    kinds = [getattr(module, f"{kind}_INDICATOR") for kind in ("LLM_TOKEN", "OUTPUT_IMAGE")]
    length = _WORDS + _IMAGE
    return {
        "hidden_states": floats(1, length, config["in_channels"]),
        "encoder_hidden_states": floats(1, length, config["llm_features_dim"]),
        "timestep": floats(1),
        "position_ids": torch.arange(length)[None, :, None].expand(1, length, 3),
        "segment_ids": torch.ones(1, length, dtype=torch.int64),
        "indicator": torch.tensor([[kinds[0]] * _WORDS + [kinds[1]] * _IMAGE]),
    }


def _film_and_sound(model: nn.Module, config: Mapping[str, Any]) -> dict[str, Any]:
    """MiniMax-H3: the places of text, film and sound in one sequence."""
    time, high, across = config["patch_size"]
    sound, length = _SIDE, _WORDS + _IMAGE + _SIDE
    places = torch.arange(length)
    return {
        "hidden_states": floats(1, _IMAGE, config["in_channels"] * time * high * across),
        "audio_hidden_states": floats(1, sound, config["audio_in_channels"]),
        "encoder_hidden_states": floats(1, _WORDS, config["text_dim"]),
        "timestep": floats(1),
        "timestep_indices": torch.zeros(length, dtype=torch.int64),
        "token_tags": (places >= _WORDS).long() + (places >= _WORDS + _IMAGE).long(),
        "position_ids": places[:, None].expand(length, 3),
        "text_indices": places[:_WORDS],
        "video_indices": places[_WORDS : _WORDS + _IMAGE],
        "audio_indices": places[_WORDS + _IMAGE :],
    }


def _omni(model: nn.Module, config: Mapping[str, Any]) -> dict[str, Any]:
    """Cosmos 3: the places of text and film in one sequence, without a batch."""
    side = _SIDE * config["latent_patch_size"]
    length = _WORDS + _IMAGE
    places = torch.arange(length)
    return {
        "input_ids": torch.arange(_WORDS),
        "text_indexes": places[:_WORDS],
        "position_ids": places[None].expand(3, length),
        "und_len": _WORDS,
        "sequence_length": length,
        "vision_tokens": [floats(1, config["latent_channel"], 1, side, side)],
        "vision_token_shapes": [(1, _SIDE, _SIDE)],
        "vision_sequence_indexes": places[_WORDS:],
        "vision_mse_loss_indexes": places[_WORDS:],
        "vision_timesteps": floats(_IMAGE),
        "vision_noisy_frame_indexes": [torch.tensor([0])],
    }


# By an argument or a setting that only this forward has.
BUILDERS: dict[str, Callable[[nn.Module, Mapping[str, Any]], dict[str, Any]]] = {
    "indicator": _marked,
    "input_img_latents": _words_and_image,
    "num_text_layers": _text_then_image,
    "token_tags": _film_and_sound,
    "vision_tokens": _omni,
}
