"""Forwards whose arguments depend on each other: lists, bundles, caches.

What the rules for single arguments do not reach, by an argument or a setting that tells it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import nn

from . import sequences
from .sizes import channels, floats, number, sides

_WORDS = 32
_IMAGE = 64  # tokens of an image, 8 x 8
_SIDE = 8


def packed(
    model: nn.Module, config: Mapping[str, Any], names: set[str]
) -> Iterator[dict[str, Any]]:
    """Keyword arguments of such a forward, if this is one.

    Args:
        model: The model.
        config: Its configuration.
        names: The arguments of its forward.
    """
    for sign, build in {**_BUILDERS, **sequences.BUILDERS}.items():
        if sign in names or sign in config:
            yield build(model, config)


def _lists(model: nn.Module, config: Mapping[str, Any]) -> dict[str, Any]:
    """Z-Image: lists of images and of texts, each without a batch."""
    size = (1, 2 * _SIDE, 2 * _SIDE)
    given = {
        "x": [floats(number(config, ("in_channels",), 16), *size)],
        "t": floats(1),
        "cap_feats": [floats(_WORDS, number(config, ("cap_feat_dim",), 2560))],
    }
    if "control_in_dim" in config:  # its other layers are the transformer's
        given["control_context"] = [floats(config["control_in_dim"], *size)]
    return given


def _llama(model: nn.Module, config: Mapping[str, Any]) -> dict[str, Any]:
    """HiDream: the states of two text encoders, of the second those of several layers."""
    first, second = config["caption_channels"]
    layers = len(config["llama_layers"])
    return {
        "hidden_states": floats(1, config["in_channels"], *sides(config)),
        "timesteps": torch.tensor([7]),
        "encoder_hidden_states_t5": floats(1, _WORDS, first),
        "encoder_hidden_states_llama3": floats(layers, 1, _WORDS, second),
        "pooled_embeds": floats(1, config["text_emb_dim"]),
    }


def _conditioner(model: nn.Module, config: Mapping[str, Any]) -> dict[str, Any]:
    """Anima: one encoder's text, which is read with the tokens of another."""
    source = floats(1, _WORDS, number(config, ("source_dim",)))
    return {"source_hidden_states": source, "target_input_ids": torch.arange(_WORDS)[None]}


def _controlled_world(model: nn.Module, config: Mapping[str, Any]) -> dict[str, Any]:
    """Cosmos' ControlNet: two films, whose masks are further channels that it adds itself."""
    film = floats(1, config["latent_channels"] - 2, 1, 2 * _SIDE, 2 * _SIDE)
    text = floats(1, _WORDS, config["text_embed_dim"])
    if config["use_crossattn_projection"]:
        text = floats(1, _WORDS, config["crossattn_proj_in_channels"])
    context = floats(1, _WORDS, config["img_context_dim_in"] or 0)
    return {
        "controls_latents": film,
        "latents": film,
        "timestep": floats(1),
        "encoder_hidden_states": (text, context) if config["img_context_dim_in"] else text,
        "condition_mask": film[:, :1],
        "padding_mask": film[:, :1, 0],
    }


def _world(model: nn.Module, config: Mapping[str, Any]) -> dict[str, Any]:
    """SANA-WM: a time for each frame."""
    frames = 4
    return {
        "hidden_states": floats(1, config["in_channels"], frames, 2 * _SIDE, 2 * _SIDE),
        "timestep": floats(1, 1, frames),
        "encoder_hidden_states": floats(1, 1, _WORDS, config["caption_channels"]),
        "encoder_attention_mask": torch.ones(1, _WORDS, dtype=torch.bool),
    }


def _codes(model: nn.Module, config: Mapping[str, Any]) -> dict[str, Any]:
    """aMUSEd: an image of code words, the text, and sizes."""
    high, across = sides(config, 2 * _SIDE)
    sizes = config["micro_cond_embed_dim"] // config["micro_cond_encode_dim"]
    return {
        "input_ids": torch.arange(high * across).reshape(1, high, across) % config["codebook_size"],
        "encoder_hidden_states": floats(1, _WORDS, config["encoder_hidden_size"]),
        "pooled_text_emb": floats(1, config["cond_embed_dim"]),
        "micro_conds": floats(1, sizes),
    }


def _bundles(model: nn.Module, config: Mapping[str, Any]) -> dict[str, Any]:
    """Bria Fibo 2: the text as several layers of its encoder saw it."""
    bundles = 1 + len(config["injection_layer_ids"])
    return {
        "hidden_states": floats(1, config["in_channels"], 2 * _SIDE, 2 * _SIDE),
        "timestep": floats(1),
        "encoder_hidden_states": floats(1, bundles, _WORDS, config["cap_feat_dim"]),
    }


def _music(model: nn.Module, config: Mapping[str, Any]) -> dict[str, Any]:
    """MiniMax Music 3: a condition for each position of the latent sound."""
    return {
        "hidden_states": floats(1, config["in_channels"], _IMAGE),
        "timestep": floats(1),
        "encoder_hidden_states": floats(1, _IMAGE, config["condition_dim"]),
    }


def _stacked(model: nn.Module, config: Mapping[str, Any]) -> dict[str, Any]:
    """MiniMax Music 3's condition encoder: the states of several layers side by side."""
    width = config["num_condition_layers"] * config["condition_hidden_dim"]
    return {"hidden_states": floats(1, _IMAGE, width)}


def _patches(model: nn.Module, config: Mapping[str, Any]) -> dict[str, Any]:
    """JoyImage-Edit-Plus: several images, each cut into patches before it is given."""
    time, high, across = config["patch_size"]
    return {
        "hidden_states": floats(1, _IMAGE, config["in_channels"], time, high, across),
        "timestep": floats(1),
        "encoder_hidden_states": floats(1, _WORDS, config["text_dim"]),
        "shape_list": [[(1, _SIDE, _SIDE)]],
    }


def _notes(model: nn.Module, config: Mapping[str, Any]) -> dict[str, Any]:
    """T5 FiLM: encoded notes with their mask, and the noisy spectrogram."""
    notes = floats(1, _WORDS, config["d_model"]), torch.ones(1, _WORDS)
    return {
        "encodings_and_masks": [notes],
        "decoder_input_tokens": floats(1, config["targets_length"], config["input_dims"]),
        "decoder_noise_time": floats(1),
    }


def _cached(model: nn.Module, config: Mapping[str, Any]) -> dict[str, Any]:
    """Wan-Animate 2: the pass that fills the cache with the reference image."""
    cache: Any = sys.modules[type(model).__module__].WanAnimate2KVCache
    time, high, across = config["patch_size"]
    width = config["out_dim"]
    shape = (time, _SIDE * high, _SIDE * across)
    return {
        "hidden_states": [floats(width, *shape)],
        "condition_latents": [floats(channels(model, config)[-1] - width, *shape)],
        "timestep": floats(1),
        "encoder_hidden_states": [floats(min(_WORDS, config["text_len"]), config["text_dim"])],
        "encoder_hidden_states_image": floats(1, 257, 1280),
        "kv_cache": cache(config["num_layers"]),
        "kv_cache_mode": "extract",
        "seq_len": _IMAGE,
        "offset_grid_sizes": torch.tensor([[1, _SIDE, _SIDE]]),
    }


def _rotated(model: nn.Module, config: Mapping[str, Any]) -> dict[str, Any]:
    """SANA-WM's refiner: the rotation of each token is computed by the caller."""
    width = config["num_attention_heads"] * config["attention_head_dim"]
    rotation = floats(1, _IMAGE, width)
    return {
        "hidden_states": floats(1, _IMAGE, config["in_channels"]),
        "encoder_hidden_states": floats(1, _WORDS, config["caption_channels"]),
        "timestep": floats(1),
        "video_rotary_emb": (rotation, rotation),
    }


_BUILDERS: dict[str, Callable[[nn.Module, Mapping[str, Any]], dict[str, Any]]] = {
    "cap_feats": _lists,
    "condition_latents": _cached,
    "controls_latents": _controlled_world,
    "encoder_hidden_states_llama3": _llama,
    "encodings_and_masks": _notes,
    "ff_inner_dim": _music,
    "frame_valid_mask": _world,
    "injection_layer_ids": _bundles,
    "micro_conds": _codes,
    "num_condition_layers": _stacked,
    "shape_list": _patches,
    "target_input_ids": _conditioner,
    "video_rotary_emb": _rotated,
}
