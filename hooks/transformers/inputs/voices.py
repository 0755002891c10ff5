"""Arguments of single classes of transformers that speak or hear: codes, voices, spectrograms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..sizes import number
from .media import floats
from .texts import ids_of

_STEPS = 32
Arguments = dict[str, Any]


def _fine_codes(config: Any) -> Arguments:
    """Codes of all codebooks, of which the last is predicted: int64[1, steps, codebooks]."""
    ids = ids_of(config, _STEPS)[..., None].expand(-1, -1, config.n_codes_total)
    return {"codebook_idx": config.n_codes_total - 1, "input_ids": ids}


def _stacked_codes(config: Any) -> Arguments:
    return {"input_ids": ids_of(config, _STEPS)[..., None].expand(-1, -1, config.num_codebooks)}


def _spoken(config: Any) -> Arguments:
    """A voice in, a spectrogram out, and who shall speak it."""
    return {
        "input_values": floats(1, 19200),
        "decoder_input_values": floats(1, _STEPS, config.num_mel_bins),
        "speaker_embeddings": floats(1, config.speaker_embedding_dim),
    }


def _embedded_text(config: Any) -> Arguments:
    """What the text decoder leaves, to be turned into units of speech."""
    return {
        "inputs_embeds": floats(1, _STEPS, config.hidden_size),
        "decoder_input_ids": ids_of(config, _STEPS),
    }


def _hidden(config: Any) -> Arguments:
    return {"inputs_embeds": floats(1, _STEPS, config.hidden_size)}


def _predicted_codes(config: Any) -> Arguments:
    """The talker's state and the code before it, in one sequence of two."""
    return {"inputs_embeds": floats(1, 2, config.hidden_size)}


def _masked_sound(config: Any) -> Arguments:
    return {"hidden_states": floats(1, 200, number(config, ("input_size",), 80)), "mask": None}


def _noisy_spectrogram(config: Any) -> Arguments:
    """A spectrogram in the making, what it shall say and in whose voice."""
    codes = ids_of(config, _STEPS)
    frames = _STEPS * config.repeats
    return {
        "hidden_states": floats(1, frames, config.mel_dim),
        "condition_vector": floats(1, frames, config.mel_dim),
        "speaker_embedding": floats(1, frames, config.enc_emb_dim),
        "quantized_code": codes,
        "time_step": floats(1),
    }


def _voiced_codes(config: Any) -> Arguments:
    """Codes to speak, and the voice: its vector and an example of it. Two steps show the design."""
    flow = config.dit_config
    return {
        "code": ids_of(flow, _STEPS),
        "conditioning": floats(1, flow.enc_emb_dim),
        "reference_mel": floats(1, 2 * _STEPS, flow.mel_dim),
        "num_steps": 2,
    }


def _heard_and_seen(config: Any) -> Arguments:
    side = number(config, ("image_size",), 336)
    return {"input_values": floats(1, 1, 19200), "pixel_values_videos": floats(1, 8, 3, side, side)}


def _dialogue(config: Any) -> Arguments:
    """What both speakers say, in codes of all codebooks, and the text of one, with the labels.

    The depth decoder reads the labels.
    """
    codes = ids_of(config.audio_encoder_config, _STEPS)[:, None].expand(
        -1, config.num_codebooks, -1
    )
    return {
        "input_ids": ids_of(config, _STEPS),
        "user_audio_codes": codes,
        "moshi_audio_codes": codes,
        "text_labels": ids_of(config, _STEPS),
        "audio_labels": codes,
    }


def _prompted(config: Any) -> Arguments:
    """What the thinker leaves to be spoken, and the tokens that it came from."""
    width = number(config, ("hidden_size",), 1024, ("text_config",))
    return {
        "inputs_embeds": floats(1, _STEPS, width),
        "position_ids": torch.arange(_STEPS).expand(3, 1, -1),
    }


def _reply(config: Any) -> Arguments:
    """The next code, beside what the thinker has said."""
    return {
        "input_ids": ids_of(config, _STEPS),
        "input_text_ids": ids_of(config, _STEPS),
        "thinker_reply_part": floats(1, 1, config.embedding_size),
    }


VOICES: dict[str, Callable[[Any], Arguments]] = {
    "BarkFineModel": _fine_codes,
    "CsmBackboneModel": _stacked_codes,
    "PeAudioVideoEncoder": _heard_and_seen,
    "Phi4MultimodalAudioModel": _masked_sound,
    "Qwen2_5OmniToken2WavDiTModel": _noisy_spectrogram,
    "Qwen2_5OmniToken2WavModel": _voiced_codes,
    "MoshiForConditionalGeneration": _dialogue,
    "Qwen3OmniMoeTalkerForConditionalGeneration": _prompted,
    "Qwen3OmniMoeTalkerModel": _hidden,
    "Qwen2_5OmniTalkerForConditionalGeneration": _reply,
    "Qwen3OmniMoeCode2WavTransformerModel": _hidden,
    "Qwen3OmniMoeTalkerCodePredictorModel": _predicted_codes,
    "Qwen3OmniMoeTalkerCodePredictorModelForConditionalGeneration": _predicted_codes,
    "SeamlessM4TTextToUnitForConditionalGeneration": _embedded_text,
    "SeamlessM4TTextToUnitModel": _embedded_text,
    "SpeechT5ForSpeechToSpeech": _spoken,
}
