"""Images that control a diffusion model, and what it is told about sizes and positions."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .setting import Rule, Setting
from .sizes import floats

_SOUND = 16  # positions of a latent sound beside a film


def _ids(s: Setting, length: int) -> Tensor:
    """Where each token lies, one number for each axis of the rotary embedding."""
    axes = s.config.get("axes_dims_rope") or s.config.get("axes_dim") or (0, 0, 0)
    positions: Tensor = torch.arange(length)[:, None].expand(length, len(axes))
    return positions


def _shapes(s: Setting) -> list[Any]:
    shape = (1, s.latent.height, s.latent.width)
    return [[shape]] if "img_mask" in s.names else [shape]


def _control(s: Setting) -> Any:
    """An image in pixels where a network of its own embeds it, else another latent."""
    widths = s.config.get("conditioning_embedding_out_channels") or s.config.get(
        "ctrl_conditioning_embedding_out_channels"
    )
    latent = s.latent.value
    if not widths:
        extra = s.number("extra_conditioning_channels")
        shape = list(latent.shape)
        shape[2 if latent.dim() == 3 else 1] += extra
        return floats(*shape)
    channels = s.number("conditioning_channels", "ctrl_conditioning_channels", default=3)
    if latent.dim() == 5:
        simple = s.config.get("use_simplified_condition_embedding")
        scale = 1 if simple else 2 ** (len(widths) - 1)
    else:
        scale = 2 ** (len(widths) - 1)
    size = [scale * s.latent.height, scale * s.latent.width]
    image = floats(1, channels, *([s.latent.frames] if latent.dim() == 5 else []), *size)
    return [image] if "control_type_idx" in s.names else image


def _kinds_of_control(s: Setting) -> Tensor:
    return torch.eye(s.number("num_control_type"))[:1]


def _pair(_: Setting) -> Any:
    return floats(1, 2)


def _time_ids(s: Setting) -> Any:
    wide = s.number("projection_class_embeddings_input_dim")
    return floats(1, wide // s.number("addition_time_embed_dim", default=wide or 1))


def _latent_mask(s: Setting) -> Any:
    """Which frames are given, as Cosmos marks them by another channel."""
    return floats(1, 1, s.latent.frames, s.latent.height, s.latent.width)


def _padding_mask(s: Setting) -> Any:
    if s.config.get("concat_padding_mask") or "controls_latents" in s.names:
        return floats(1, 1, s.latent.height, s.latent.width)
    return None


def _rotations(s: Setting) -> Any:
    """Lumina-Next's rotation of each position, which its caller computes, as complex numbers."""
    width = s.number("hidden_size") // s.number("num_attention_heads", default=1)
    return torch.empty(384, 384, width // 2, dtype=torch.complex64, device="meta")


def _if_required(name: str, rule: Rule) -> Rule:
    return lambda s: rule(s) if name in s.required else None


def _steps(which: int) -> Rule:
    """A size of the latent film, which models of tokens cannot see."""
    return lambda s: (s.latent.frames, s.latent.height, s.latent.width)[which]


def _rope_positions(s: Setting) -> tuple[Tensor, ...]:
    return tuple(torch.arange(size) for size in s.grid)


def _control_film(s: Setting) -> Any:
    channels = s.number("vace_in_channels")
    shape = list(s.latent.value.shape)
    return floats(1, channels, *shape[2:]) if channels else None


def _pose(s: Setting) -> Any:
    shape = list(s.latent.value.shape)
    return floats(1, s.number("latent_channels"), s.latent.frames - 1, *shape[3:])


def _faces(s: Setting) -> Any:
    """Frames of the face in pixels: four for each latent frame, of which the first is left out."""
    side = s.number("motion_encoder_size", default=512)
    return floats(1, 3, 4 * (s.latent.frames - 1) - 3, side, side)


def _cross(s: Setting) -> dict[str, Any] | None:
    """Empty, where the forward unpacks it without looking."""
    return {} if "image_rotary_emb" in s.required else None


def _earlier(frames: int) -> Rule:
    """Clean frames before the latent's, for models that embed them."""

    def rule(s: Setting) -> Any:
        if not s.config.get("has_clean_x_embedder"):
            return None
        shape = list(s.latent.value.shape)
        return floats(*shape[:2], frames, *shape[3:])

    return rule


def _places(frames: int) -> Rule:
    return lambda s: torch.arange(frames) if s.config.get("has_clean_x_embedder") else None


RULES: dict[str, Rule] = {
    "added_time_ids": _time_ids,
    "audio_encoder_hidden_states": lambda s: floats(1, s.words, s.width),
    "audio_hidden_states": _if_required(
        "audio_hidden_states", lambda s: floats(1, _SOUND, s.number("audio_in_channels"))
    ),
    "audio_num_frames": lambda s: _SOUND,
    "chunk_partition": lambda s: [s.latent.frames],
    "conditioning_mask": lambda s: (
        _latent_mask(s) if s.config.get("concat_conditioning_mask") else None
    ),
    "condition_mask": _if_required("condition_mask", _latent_mask),
    "context_latents": _if_required(
        "context_latents",
        lambda s: floats(1, s.latent.frames, s.number("in_channels") - s.latent.value.shape[-1]),
    ),
    "control_hidden_states": _control_film,
    "control_type": _kinds_of_control,
    "control_type_idx": lambda s: [0],
    "controlnet_cond": _control,
    "crop_coords": _pair,
    "cross_attention_kwargs": _cross,
    "face_pixel_values": _faces,
    "fps": _if_required("fps", lambda s: torch.tensor([7])),
    "height": _steps(1),
    "image_latents": lambda s: s.latent.value,
    "image_meta_size": lambda s: floats(1, 6),
    "img_ids": lambda s: _ids(s, s.tokens),
    "img_mask": lambda s: torch.arange(s.words + s.tokens // 4)[None] >= s.words,
    "img_shapes": _shapes,
    "image_rotary_emb": _if_required("image_rotary_emb", _rotations),
    "indices_latents": lambda s: torch.arange(s.latent.frames),
    "indices_latents_clean": _places(2),
    "indices_latents_history_2x": _places(2),
    "indices_latents_history_4x": _places(8),
    "latents_clean": _earlier(2),
    "latents_history_2x": _earlier(2),
    "latents_history_4x": _earlier(8),
    "latents": lambda s: s.latent.value,
    "local_latents": lambda s: s.latent.value,
    "micro_conds": lambda s: floats(
        1, s.number("micro_cond_embed_dim") // s.number("micro_cond_encode_dim", default=1)
    ),
    "num_frames": lambda s: s.latent.frames if {"height", "width"} <= s.names else None,
    "original_size": _pair,
    "padding_mask": _padding_mask,
    "pose_hidden_states": _pose,
    "prior_token_drop": lambda s: torch.zeros(1, dtype=torch.bool),
    "prior_token_id": lambda s: torch.arange(s.tokens)[None] % 64,
    "scale": lambda s: s.config["scales"][0],
    "style": lambda s: torch.tensor([0]),
    "target_size": _pair,
    "text_rope_pos": lambda s: torch.arange(s.words),
    "txt_ids": lambda s: _ids(s, s.words),
    "visual_rope_pos": _rope_positions,
    "width": _steps(2),
}
