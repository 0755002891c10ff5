"""Models of transformers that go on from a state: a marked object, or a text already read."""

from __future__ import annotations

import inspect
import sys
from math import prod
from typing import Any

import torch
from torch import nn

from ..sizes import VISION, channels_of, number
from .media import floats
from .texts import ids_of

_STEPS = 32
_TEXT = ("detector_config", "text_config")


def video_session(model: nn.Module) -> dict[str, Any]:
    """A session that waits for its next frame, and the frame.

    The sessions of SAM's kin keep an object's clicks and memories from frame to frame: one object
    was marked on the first frame, and a click on the second corrects it. Where words name the
    objects, the session keeps their tokens and waits for its first frame.

    Shapes:
        frame: float[1, channels, side, side].
    """
    config: Any = model.config
    side = number(config, ("image_size",), 1024, ("prompt_encoder_config", *VISION))
    session = _kind(model)(video_height=side, video_width=side, dtype=torch.float32)
    if hasattr(session, "add_prompt"):
        prompt = session.add_prompt("cat")
        session.prompt_input_ids[prompt] = ids_of(config, 32, _TEXT)
        session.prompt_attention_masks[prompt] = torch.ones(1, 32, dtype=torch.int64)
    else:
        _click(session, side, _remember(session, model, side))
    return {"inference_session": session, "frame": floats(1, channels_of(config), side, side)}


def read_prefix(model: nn.Module, name: str) -> dict[str, Any]:
    """Tokens to denoise, and the keys and values that the encoder made of the text before them.

    Args:
        model: A decoder that reads a cache and writes none.
        name: The argument that takes the cache.
    """
    from transformers import DynamicCache

    config: Any = model.config
    cache = DynamicCache(config=getattr(config, "text_config", config))
    layers: Any = model.layers
    for place, layer in enumerate(layers):
        width = layer.self_attn.head_dim
        heads = layer.self_attn.k_proj.out_features // width
        cache.update(floats(1, heads, 16, width), floats(1, heads, 16, width), place)
    return {"decoder_input_ids": ids_of(config, _STEPS), name: cache}


def borrowed_states(model: nn.Module) -> dict[str, Any]:
    """What a model that drafts tokens, one at a time, is given by the one that it drafts for.

    The last token's embedding beside its hidden state, and one layer's keys and values of each
    type.

    Shapes:
        inputs_embeds: float[1, 1, 2 * width]; shared_kv_states: float[1, heads, 32, head width],
        twice, for each type of layer.
    """
    drafter: Any = model
    states: dict[str, Any] = {}
    for layer in drafter.model.layers:
        attention = layer.self_attn
        heads = attention.config.num_attention_heads // attention.num_key_value_groups
        kept = floats(1, heads, _STEPS, attention.head_dim)
        states[attention.layer_type] = (kept, torch.empty_like(kept))
    width = drafter.pre_projection.in_features
    return {"inputs_embeds": floats(1, 1, width), "shared_kv_states": states}


def _kind(model: nn.Module) -> Any:
    """The class of session that the forward's signature names."""
    asked = inspect.signature(type(model).forward).parameters["inference_session"].annotation
    return getattr(sys.modules[type(model).__module__], asked) if isinstance(asked, str) else asked


def _remember(session: Any, model: Any, side: int) -> int:
    """Keep what the model made of the first frame; how many frames the session has seen.

    Shapes:
        maskmem_features: float[places, 1, channels], or float[1, latents, channels] where a
        resampler shortens them; object_pointer: float[1, width].
    """
    if not hasattr(model, "memory_attention"):
        return 0
    resampler = getattr(model, "spatial_perceiver", None)
    if resampler is None:
        memory = floats(prod(model.backbone_feature_sizes[-1]), 1, model.mem_dim)
    else:
        memory = floats(1, resampler.num_latents_1d + resampler.num_latents_2d, model.mem_dim)
    object_place = session.obj_id_to_idx(1)
    session.processed_frames = {0: floats(channels_of(model.config), side, side)}
    session.output_dict_per_obj[object_place]["cond_frame_outputs"][0] = {
        "maskmem_features": memory,
        "maskmem_pos_enc": memory,
        "object_pointer": floats(1, model.hidden_dim),
    }
    session.frames_tracked_per_obj[object_place][1] = {"reverse": False}
    return 1


def _click(session: Any, side: int, frame: int) -> None:
    """Mark one object by a point in the middle of a frame."""
    place = session.obj_id_to_idx(1)
    point = {
        "point_coords": torch.full((1, 1, 1, 2), side / 2),
        "point_labels": torch.ones(1, 1, 1, dtype=torch.int32),
    }
    session.add_point_inputs(place, frame, point)
    session.obj_with_new_inputs = [1]
