"""What steers a diffusion model: time, guidance, class, embedded text and images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from .setting import Rule, Setting
from .sizes import floats, numbers

_TEXT_WIDTHS = (
    "encoder_hid_dim",
    "caption_channels",
    "text_embed_dim",
    "text_dim",
    "joint_attention_dim",
    "in_text_dim",
    "cap_feat_dim",
    "context_in_dim",
    "text_in_dim",
    "llm_features_dim",
    "dit_text_dim",
    "cond_token_dim",
    "text_hidden_dim",
    "cross_attention_input_dim",
    "condition_dim",
    "source_dim",
    "embedding_dim",
    "cross_attention_dim",
    "caption_projection_dim",
    "hidden_size",
)


def text_widths(config: Mapping[str, Any]) -> list[int]:
    """Widths that the embedded text may have, best first."""
    return list(numbers(config, _TEXT_WIDTHS)) or [0]


def time(_: Setting) -> Tensor:
    """A moment as int64[1]: a value that is known, for models that look it up."""
    return torch.tensor([7])


def moment(_: Setting) -> Any:
    """A moment between 0 and 1 as float[1]."""
    return floats(1)


def _times(s: Setting) -> Tensor:
    """One moment for each frame."""
    return torch.full((1, s.latent.frames), 7)


def _timestep(s: Setting) -> Tensor:
    return _times(s) if "r_timestep" in s.names else time(s)


def _guidance(s: Setting) -> Any:
    return floats(1) if s.config.get("guidance_embeds") else None


def _text(s: Setting) -> Any:
    if not s.width:
        return None
    if s.number("num_text_layers") and "text_hidden_dim" in s.config:
        return floats(1, s.words, s.number("num_text_layers"), s.width)
    text = floats(1, s.number("num_embeddings", default=s.words), s.width)
    context = s.number("img_context_dim_in")
    return (text, floats(1, s.words, context)) if context else text


def _mask(s: Setting) -> Tensor:
    return torch.ones(1, s.words, dtype=torch.bool)


def _t5_words(s: Setting) -> int:
    words: int = s.number("text_len_t5", default=s.words)
    return words


def _t5(s: Setting) -> Any:
    width = s.number("cross_attention_dim_t5", "text_embed_dim_t5")
    return floats(1, _t5_words(s), width) if width else None


def _layers(s: Setting) -> list[Tensor]:
    """What the text encoder's layers saw, one for each block."""
    blocks = s.number("num_layers") + s.number("num_single_layers")
    return [floats(1, s.words, s.number("text_encoder_dim"))] * blocks


def _wanted_mask(s: Setting) -> Tensor | None:
    return _mask(s) if s.width else None


def vectors(*names: str) -> Rule:
    """One vector of the configured width, if there is any."""
    return lambda s: floats(1, s.number(*names)) if s.number(*names) else None


def sequences(*names: str) -> Rule:
    """A vector for each word, if a width is configured."""
    return lambda s: floats(1, s.words, s.number(*names)) if s.number(*names) else None


def _class(s: Setting) -> Any:
    """A class by number, or what a U-Net's `class_embed_type` wants in its place."""
    kind = s.config.get("class_embed_type")
    if kind == "identity":
        embedding: Any = s.model.get_submodule("time_embedding")
        return floats(1, embedding.linear_2.out_features)
    if kind in ("projection", "simple_projection"):
        return floats(1, s.number("projection_class_embeddings_input_dim"))
    wanted = kind == "timestep" or s.number("num_class_embeds")
    if wanted or s.config.get("norm_type") == "ada_norm_zero":
        return torch.tensor([1])
    return None


def _added(s: Setting) -> dict[str, Tensor] | None:
    """Text, image and sizes beside the cross-attention, as in SDXL, Kandinsky and PixArt."""
    if s.config.get("norm_type") == "ada_norm_single":
        return {"resolution": floats(1, 2), "aspect_ratio": floats(1, 1)}
    given: dict[str, Tensor] = {}
    kind, projected = (s.config.get(key) for key in ("addition_embed_type", "encoder_hid_dim_type"))
    if kind == "text_time":
        sizes = 6 * s.number("addition_time_embed_dim")
        given["text_embeds"] = floats(1, s.number("projection_class_embeddings_input_dim") - sizes)
        given["time_ids"] = floats(1, 6)
    if kind == "text_image":
        given["text_embeds"] = floats(1, s.number("cross_attention_dim"))
        given["image_embeds"] = floats(1, s.number("cross_attention_dim"))
    if kind in ("image", "image_hint") or projected == "image_proj":
        given["image_embeds"] = floats(1, s.number("encoder_hid_dim"))
    if kind == "image_hint":
        given["hint"] = floats(1, 3, 8 * s.latent.height, 8 * s.latent.width)
    if projected == "text_image_proj":
        given["image_embeds"] = floats(1, s.number("cross_attention_dim"))
    return given or None


def _face(s: Setting) -> Any:
    """ConsisID: who is seen, where it was trained to keep the face."""
    return floats(1, s.number("LFE_id_dim")) if s.config.get("is_train_face") else None


def _face_features(s: Setting) -> list[Tensor] | None:
    """What an image encoder sees in the face, at several depths."""
    if not s.config.get("is_train_face"):
        return None
    return [floats(1, s.words, s.number("LFE_vit_dim"))] * s.number("LFE_num_scale")


RULES: dict[str, Rule] = {
    "added_cond_kwargs": _added,
    "bb_ca_time": moment,
    "class_labels": _class,
    "clip_img": sequences("clip_image_in_channels"),
    "clip_text": sequences("clip_text_in_channels"),
    "clip_text_pooled": lambda s: floats(1, 1, s.number("clip_text_pooled_in_channels")),
    "encoder_attention_mask": _wanted_mask,
    "encoder_attention_mask_2": _mask,
    "encoder_hidden_states": _text,
    "encoder_hidden_states_2": sequences("text_embed_2_dim"),
    "encoder_hidden_states_image": sequences("image_dim"),
    "encoder_hidden_states_mask": _mask,
    "encoder_hidden_states_t5": _t5,
    "encoder_mask": _mask,
    "global_hidden_states": vectors("global_cond_dim", "global_states_input_dim"),
    "guidance": _guidance,
    "id_cond": _face,
    "id_vit_hidden": _face_features,
    "image_embeddings": vectors("cross_attention_dim"),
    "image_embeds": sequences("image_embed_dim", "image_proj_dim"),
    "local_latents_time": moment,
    "pooled_embeds": vectors("text_emb_dim"),
    "pooled_projections": vectors("pooled_projection_dim", "in_text_dim2"),
    "pooled_text_emb": vectors("cond_embed_dim"),
    "proj_embedding": vectors("embedding_proj_dim", "embedding_dim"),
    "r_timestep": _times,
    "source_hidden_states": _text,
    "t": time,
    "target_input_ids": lambda s: torch.arange(s.words)[None],
    "temb": lambda s: moment(s) if s.config.get("timestep_conditioning") else None,
    "text_bth": _text,
    "text_embedding_mask": _mask,
    "text_embedding_mask_t5": lambda s: torch.ones(1, _t5_words(s), dtype=torch.bool),
    "text_encoder_layers": _layers,
    "text_lens": lambda s: torch.tensor([s.words]),
    "timestep": _timestep,
    "timestep_r": lambda s: time(s) if "timestep_r" in s.required else None,
    "timestep_ratio": moment,
    "timesteps": time,
}
