"""Arguments of single classes of transformers that read what other parts of a model made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from ..sizes import VISION, number
from .media import floats
from .sessions import borrowed_states, read_prefix, video_session
from .texts import ids_of
from .voices import VOICES

_STEPS = 32
_CACHES = ("cache", "past_key_values")  # its name since 5.24, and before
Arguments = dict[str, Any]


def arguments(model: nn.Module, names: set[str]) -> Iterator[Arguments]:
    """What the class of a model, or the nearest that it extends, is known to take."""
    config: Any = model.config
    if "inference_session" in names:
        yield video_session(model)
    caches = [name for name in _CACHES if name in names]
    if caches and "self_conditioning_logits" in names and "input_ids" not in names:
        yield read_prefix(model, caches[0])
    if "shared_kv_states" in names and hasattr(model, "pre_projection"):
        yield borrowed_states(model)
    for owner in type(model).__mro__:
        build = _BY_CLASS.get(owner.__name__)
        if build is not None:
            yield build(config)
            return
    if {"entity_ids", "entity_position_ids"} <= names:
        yield _entities(config)


def _entities(config: Any) -> Arguments:
    """Two entities in a text, each of two tokens."""
    places = torch.full((1, 2, number(config, ("max_mention_length",), 30)), -1)
    places[0, :, :2] = torch.tensor([[1, 2], [5, 6]])
    return {
        "input_ids": ids_of(config, _STEPS),
        "entity_ids": torch.tensor([[1, 2]]),
        "entity_attention_mask": torch.ones(1, 2, dtype=torch.int64),
        "entity_position_ids": places,
    }


def _entity_spans(config: Any) -> Arguments:
    edges = {
        "entity_start_positions": torch.tensor([[1, 5]]),
        "entity_end_positions": torch.tensor([[2, 6]]),
    }
    return _entities(config) | edges


def _retrieved(config: Any) -> Arguments:
    """A question with the documents that a retriever found for it, and their scores."""
    found = ids_of(config.generator, _STEPS).expand(config.n_docs, -1)
    return {
        "input_ids": ids_of(config.question_encoder, _STEPS),
        "context_input_ids": found,
        "context_attention_mask": torch.ones_like(found),
        "doc_scores": floats(1, config.n_docs),
        "decoder_input_ids": ids_of(config.generator, _STEPS),
    }


def _regions_of_phrases(config: Any) -> Arguments:
    """Text and regions, with the region of each phrase; see VisualBERT on Flickr30k."""
    text, regions = 32, 16
    return {
        "input_ids": ids_of(config, text),
        "attention_mask": torch.ones(1, text + regions, dtype=torch.int64)[:, :text],
        "visual_embeds": floats(1, regions, config.visual_embedding_dim),
        "visual_attention_mask": torch.ones(1, regions, dtype=torch.int64),
        "region_to_phrase_position": torch.arange(text + regions)[None] % text,
    }


def _answered(config: Any) -> Arguments:
    """An image, a question and its answer: what the text decoder makes goes into the loss alone."""
    side = number(config, ("image_size",), 384, VISION)
    return {
        "pixel_values": floats(1, 3, side, side),
        "input_ids": ids_of(config, _STEPS),
        "labels": ids_of(config, _STEPS),
    }


def _answered_regions(config: Any) -> Arguments:
    given = _regions_of_phrases(config)
    del given["region_to_phrase_position"]
    return given


def _crops(config: Any) -> Arguments:
    """Features of one crop, pooled four by four."""
    width = number(config, ("vision_hidden_size", "hidden_size"), 1152)
    layers = len(getattr(config, "vision_feature_layer", None) or (0, 0))
    pooled = torch.arange(64).reshape(16, 4)
    return {"image_features": floats(1, 64, width * layers), "pooled_patches_idx": pooled}


def _drafted(config: Any) -> Arguments:
    """Noise in place of the next tokens, and the states of the model that is drafted for."""
    layers = len(config.target_layer_ids)
    return {
        "noise_embeds": floats(1, config.block_size, config.hidden_size),
        "context_hidden_states": floats(1, _STEPS, config.hidden_size * layers),
    }


def _laid_out(config: Any) -> Arguments:
    """Boxes on a page in thousandths, all of them valid."""
    corner = torch.arange(10)[:, None] * 40
    boxes = corner + torch.tensor([0, 0, 300, 30])
    return {
        "boxes": boxes[None],
        "labels": torch.zeros(1, 10, dtype=torch.int64),
        "mask": torch.ones(1, 10, dtype=torch.bool),
    }


def _cubes(config: Any) -> Arguments:
    """Patches of a video, channels last."""
    side, frames = config.patch_size, config.temporal_patch_size
    return {"pixel_values": floats(16, frames, side, side, config.num_channels)}


def _frames(config: Any) -> Arguments:
    """The frames of one video, where a batch is looked for."""
    side = config.image_size
    return {"pixel_values": floats(config.num_frames, config.num_channels, side, side)}


def _masked_twice(config: Any) -> Arguments:
    """Text and image, whole and with masked tokens and patches, and the image for the codebook."""
    image = config.image_config
    text, side = ids_of(config, 64, ("text_config",)), image.image_size
    places = (side // image.patch_size) ** 2
    return {
        "input_ids": text,
        "input_ids_masked": text,
        "pixel_values": floats(1, image.num_channels, side, side),
        "codebook_pixel_values": floats(1, 3, 112, 112),
        "bool_masked_pos": (torch.arange(places) % 2 == 0)[None],
        "return_loss": False,
    }


def _folded(config: Any) -> Arguments:
    """A protein of one chain: its residues, and five atoms of each in a reference conformer."""
    from transformers.models.esmfold2.modeling_esmfold2 import EsmFold2AtomInputs

    atoms = 5 * _STEPS
    places, zeros = torch.arange(_STEPS)[None], torch.zeros(1, _STEPS, dtype=torch.int64)
    owners = torch.arange(atoms)[None] // 5
    return {
        "token_index": places,
        "residue_index": places,
        "res_type": places % config.num_res_types,
        "token_bonds": floats(1, _STEPS, _STEPS, 1),
        "attention_mask": torch.ones_like(zeros, dtype=torch.bool),
        "input_ids": 4 + places % 20,  # the amino acids of ESM's alphabet
        **dict.fromkeys(("asym_id", "sym_id", "entity_id", "mol_type"), zeros),
        "atom_inputs": EsmFold2AtomInputs(
            ref_pos=floats(1, atoms, 3),
            ref_charge=floats(1, atoms),
            atom_attention_mask=torch.ones(1, atoms, dtype=torch.bool),
            ref_element=torch.full((1, atoms), 6),
            ref_atom_name_chars=torch.ones(1, atoms, config.max_chars, dtype=torch.int64),
            ref_space_uid=owners,
            atom_to_token=owners,
        ),
    }


def _questions(config: Any) -> Arguments:
    """One question with two options, asked at its last token."""
    return {
        "input_ids": ids_of(config, 64),
        "marks": torch.tensor([[63]]),
        "num_options": torch.tensor([[2]]),
        "question_type_ids": torch.tensor([[0]]),
    }


def _film_with_sound(config: Any) -> Arguments:
    """A film, its sound and its label, each as Perceiver IO takes it."""
    frames, side = config.num_frames, config.image_size
    senses = {
        "image": floats(1, frames, 3, side, side),
        "audio": floats(1, frames * config.audio_samples_per_frame, 1),
        "label": floats(1, config.num_labels),
    }
    asked = {"image": torch.arange(64), "audio": torch.arange(16), "label": None}
    return {"inputs": senses, "subsampled_output_points": asked}


def _moved_patches(config: Any) -> Arguments:
    """Two frames, each pixel with the eight around it."""
    return {"inputs": floats(1, 2, 27, *config.train_size)}


def _bridged(config: Any) -> Arguments:
    width = config.resnet_configs[-1][-1][1]
    return {"hidden_states": floats(1, width, 64, 64)}


_BY_CLASS: dict[str, Callable[[Any], Arguments]] = {
    **VOICES,
    "BlipForQuestionAnswering": _answered,
    "EsmFold2Model": _folded,
    "FlavaForPreTraining": _masked_twice,
    "InklingVisionModel": _cubes,
    "JevForDecision": _questions,
    "LukeForEntitySpanClassification": _entity_spans,
    "Molmo2Adapter": _crops,
    "MuseGlimmerAssistantModel": _drafted,
    "PPDocLayoutV2ReadingOrder": _laid_out,
    "PerceiverForMultimodalAutoencoding": _film_with_sound,
    "PerceiverForOpticalFlow": _moved_patches,
    "RagModel": _retrieved,
    "RagSequenceForGeneration": _retrieved,
    "RagTokenForGeneration": _retrieved,
    "UVDocBridge": _bridged,
    "VisualBertForQuestionAnswering": _answered_regions,
    "VisualBertForRegionToPhraseAlignment": _regions_of_phrases,
    "XCLIPVisionModel": _frames,
}
