"""Arguments that few models of transformers ask for: latents, prompts, actions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from ..sizes import VISION, find, number
from .media import floats
from .readings import readings
from .series import series
from .texts import ids_of

_STEPS = 16
Arguments = dict[str, Any]


def special(model: nn.Module, names: set[str]) -> Iterator[Arguments]:
    """All arguments of the models whose signature tells too little."""
    config: Any = model.config
    build = _SPECIAL.get(config.model_type)
    if build is not None:
        given = build(config, names)
        given |= {name: item for name, item in readings(model, names).items() if name not in given}
        yield {name: value for name, value in given.items() if name in names}
    if "past_values" in names:
        yield from series(config, names)


def required(config: Any, names: set[str]) -> Arguments:
    """Arguments without a default that neither text nor media are."""
    return {name: _NAMED[name](config) for name in sorted(names) if name in _NAMED}


def _masked_half(config: Any) -> torch.Tensor:
    """Every other patch of a video masked, as bool[1, tubes * rows * columns]."""
    side = number(config, ("image_size",), 224) // number(config, ("patch_size",), 16)
    tubes = number(config, ("num_frames",), 16) // number(config, ("tubelet_size",), 2)
    return (torch.arange(tubes * side * side) % 2 == 0)[None]


_NAMED: dict[str, Callable[[Any], Any]] = {
    "action_embeds": lambda config: floats(
        1, _STEPS, number(config, ("hidden_size",), 1024, ("dit_config", "expert_config"))
    ),
    "bool_masked_pos": _masked_half,
    "hidden_states": lambda config: floats(1, number(config, ("hidden_size",), 64), 64),
    "inputs": lambda config: floats(1, 128, number(config, ("d_model",), 768)),
    "latents": lambda config: floats(1, number(config, ("hidden_size", "codebook_dim"), 512), 32),
    "qformer_attention_mask": lambda config: torch.ones(1, 64, dtype=torch.int64),
    "qformer_input_ids": lambda config: ids_of(config, 64, ("qformer_config",)),
    "state": lambda config: floats(1, number(config, ("max_state_dim", "state_dim"), 32)),
    "task_inputs": lambda config: ids_of(config, number(config, ("task_seq_len",), 77)),
}


def _trajectory(config: Any, names: set[str]) -> Arguments:
    return {
        "states": floats(1, _STEPS, config.state_dim),
        "actions": floats(1, _STEPS, config.act_dim),
        "rewards": floats(1, _STEPS, 1),
        "returns_to_go": floats(1, _STEPS, 1),
        "timesteps": torch.arange(_STEPS)[None],
        "attention_mask": torch.ones(1, _STEPS, dtype=torch.int64),
    }


def _regions(config: Any, names: set[str]) -> Arguments:
    """Regions that a detector found in the image, with their boxes."""
    width = number(config, ("visual_feat_dim", "visual_embedding_dim"), 2048)
    return {
        "input_ids": ids_of(config, 64),
        "visual_feats": floats(1, 36, width),
        "visual_pos": floats(1, 36, 4),
        "visual_embeds": floats(1, 36, width),
    }


def _codes(config: Any, names: set[str]) -> Arguments:
    """Text, and a frame's codes of all codebooks one below the other."""
    codebooks = number(config, ("num_codebooks", "num_channels"), 4, ("decoder", "decoder_config"))
    codes = ids_of(config, 32, ("decoder", "decoder_config")).expand(codebooks, -1)
    return {"input_ids": ids_of(config, 64, ("text_encoder",)), "decoder_input_ids": codes}


def _stacked_ids(config: Any, names: set[str]) -> Arguments:
    """Ids of the text and of each codebook at every step, int64[1, steps, 1 + codebooks]."""
    ids = ids_of(config, 32)[..., None]
    return {"input_ids": ids.expand(-1, -1, 1 + number(config, ("num_codebooks",), 32))}


def _image_in_text(config: Any, names: set[str]) -> Arguments:
    """An image whose places are marked in a mask of their own, behind the first token."""
    places = number(config, ("latent_query_num",), 64)
    ids = ids_of(config, places + 64)
    mask = (torch.arange(places + 64) - 1).clamp(-1, places)
    size = number(config, ("image_size",), 224, VISION)
    patch = number(config, ("patch_embed_hidden_size",), 768, VISION)
    return {
        "pixel_values": floats(1, 3, size, size),
        "flattened_patches": floats(1, 64, 2 + patch),
        "input_ids": ids,
        "image_embeds_position_mask": ((mask >= 0) & (mask < places)).long()[None],
    }


def _open_vocabulary(config: Any, names: set[str]) -> Arguments:
    """An image, two classes and the sentence that asks for them."""
    size = number(config, ("image_size",), 640)
    ids, mask = ids_of(config, _STEPS), torch.ones(1, _STEPS, dtype=torch.int64)
    return {
        "pixel_values": floats(1, 3, size, size),
        "classes_input_ids": ids.expand(2, -1),
        "classes_attention_mask": mask.expand(2, -1),
        "tasks_input_ids": ids,
        "tasks_attention_mask": mask,
        "classes_structure": torch.tensor([2]),
    }


def _prompted_video(config: Any, names: set[str]) -> Arguments:
    """Frames as large as the learned frame around them, and a question."""
    size = number(config, ("max_img_size",), 448)
    frames = number(config, ("num_frames",), 48)
    return {"pixel_values": floats(1, frames, 3, size, size), "input_ids": ids_of(config, 32)}


def _speech_in_and_out(config: Any, names: set[str]) -> Arguments:
    """Text to a spectrogram; or, for the bare model, what its pre-nets would give."""
    hidden = floats(1, 32, number(config, ("hidden_size",), 768))
    spectrogram = floats(1, 32, number(config, ("num_mel_bins",), 80))
    return {
        "input_ids": ids_of(config, 64),
        "input_values": hidden,
        "decoder_input_values": spectrogram if "input_ids" in names else hidden,
    }


def _codebook_ids(config: Any, names: set[str]) -> Arguments:
    """The codes of all codebooks one below the other, int64[codebooks, steps]."""
    return {"input_ids": ids_of(config, 32).expand(config.num_codebooks, -1)}


def _queries(config: Any, names: set[str]) -> Arguments:
    """Learned queries, the image that they ask and, for some, the words of the question."""
    return {
        "input_ids": ids_of(config, 32),
        "query_embeds": floats(1, 32, config.hidden_size),
        "encoder_hidden_states": floats(1, 257, config.encoder_hidden_size),
    }


def _painted_pair(config: Any, names: set[str]) -> Arguments:
    """An image and a prompt of the same size, half of what both fill together."""
    height, width = config.image_size
    image = floats(1, 3, height // 2, width)
    return {"pixel_values": image, "prompt_pixel_values": image, "prompt_masks": image}


def _waves(config: Any, names: set[str]) -> Arguments:
    return {"hidden_states": floats(1, number(config, ("channels",), 1), 19200)}


def _image_with_trimap(config: Any, names: set[str]) -> Arguments:
    return {"pixel_values": floats(1, 4, 512, 512)}


def _seen_and_heard(config: Any, names: set[str]) -> Arguments:
    """An image as a whole and as one crop, and a sound, under Phi-4's own names."""
    side = config.vision_config.image_size
    patches = side // config.vision_config.patch_size
    rows = (patches + 1) // 2
    image = torch.full((1, 2 * rows * (rows + 1) + 1), config.vision_config.image_token_id)
    sound = torch.full((1, 25), config.audio_config.audio_token_id)
    return {
        "input_ids": torch.cat([image, sound, ids_of(config, 64)], dim=1),
        "image_pixel_values": floats(1, 2, 3, side, side),
        "image_sizes": torch.tensor([[side, side]]),
        "image_attention_mask": torch.ones(1, 2, patches, patches, dtype=torch.int64),
        "audio_input_features": floats(1, 200, config.audio_config.input_size),
        "audio_embed_sizes": torch.tensor([25]),
    }


def _image_to_image(config: Any, names: set[str]) -> Arguments:
    """An image in patches, its place in the text, and the grid of the image to be made.

    Positions are given: the model would read them from tokens that depend on the image.
    """
    if "input_ids" not in names:
        return {}
    patch = number(config, ("patch_size",), 16, VISION)
    place = torch.full((1, 64), find(config, ("image_token_id",)))
    ids = torch.cat([place, ids_of(config, 64)], dim=1)
    return {
        "pixel_values": floats(64, 3 * patch**2),
        "image_grid_thw": torch.tensor([[1, 8, 8], [1, 8, 8]]),
        "input_ids": ids,
        "position_ids": torch.arange(128).expand(3, 1, -1),
    }


def _seen_by_a_robot(config: Any, names: set[str]) -> Arguments:
    """What one camera sees, where the arm is, the order, and an action in the making."""
    size = number(config, ("image_size",), 224, ("vlm_config", *VISION))
    places = (size // number(config, ("patch_size",), 14, VISION)) ** 2
    width = number(config, ("hidden_size",), 1024, ("dit_config",))
    image = find(config, ("image_token_id", "image_token_index"))
    text = ids_of(config, 32, ("vlm_config",))
    return {
        "pixel_values": floats(1, 1, 3, size, size),
        "pixel_attention_mask": torch.ones(1, 1, dtype=torch.bool),
        "input_ids": torch.cat([torch.full((1, places), image), text], dim=1),
        "state": floats(1, number(config, ("max_state_dim",), 32)),
        "noise": floats(1, config.chunk_size, number(config, ("max_action_dim",), 32)),
        "timestep": floats(1),
        "action_embeds": floats(1, config.chunk_size, width),
    }


def _streamed_speech(config: Any, names: set[str]) -> Arguments:
    """A token of text for each eight frames of the spectrogram."""
    bins = number(config, ("num_mel_bins",), 128, ("audio_config",))
    return {"input_features": floats(1, bins, 512), "input_ids": ids_of(config, 64)}


_SPECIAL: dict[str, Callable[[Any, set[str]], Arguments]] = {
    "decision_transformer": _trajectory,
    "blip_2_qformer": _queries,
    "dia": _codes,
    "glm_image": _image_to_image,
    "instructblip_qformer": _queries,
    "instructblipvideo_qformer": _queries,
    "kosmos-2": _image_in_text,
    "kosmos-2.5": _image_in_text,
    "kyutai_speech_to_text": _stacked_ids,
    "lxmert": _regions,
    "musicgen": _codes,
    "musicgen_decoder": _codebook_ids,
    "musicgen_melody": _codes,
    "musicgen_melody_decoder": _codebook_ids,
    "omdet-turbo": _open_vocabulary,
    "phi4_multimodal": _seen_and_heard,
    "pi0": _seen_by_a_robot,
    "seggpt": _painted_pair,
    "speecht5": _speech_in_and_out,
    "tvp": _prompted_video,
    "vibevoice_acoustic_tokenizer_encoder": _waves,
    "visual_bert": _regions,
    "vitmatte": _image_with_trimap,
    "voxtral_realtime": _streamed_speech,
}
