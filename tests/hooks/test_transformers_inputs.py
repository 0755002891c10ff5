"""Inputs for configurations that nobody ships: small, and with sizes of their own."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from nar_plugin.tracing import trace

transformers = pytest.importorskip("transformers")

TEXT = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 99,
    "max_position_embeddings": 512,
}
SIGHT = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "image_size": 30,
    "patch_size": 6,
}
CODER = {
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
}
ROPE = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2]}
MODELS: dict[str, Callable[[Any], Any]] = {}


def case(build: Callable[[Any], Any]) -> Callable[[Any], Any]:
    MODELS[build.__name__] = build
    return build


@case
def image_text(t: Any) -> Any:
    config = t.LlavaConfig(
        vision_config={"model_type": "clip_vision_model", **SIGHT},
        text_config={"model_type": "llama", **TEXT},
        image_token_index=7,
    )
    return t.LlavaForConditionalGeneration(config)


@case
def image_text_with_resampler(t: Any) -> Any:
    perceiver = {
        "hidden_size": 32,
        "resampler_n_latents": 8,
        "resampler_depth": 1,
        "resampler_n_heads": 4,
        "resampler_head_dim": 8,
        "num_key_value_heads": 2,
    }
    config = t.Idefics2Config(
        vision_config=SIGHT,
        perceiver_config=perceiver,
        text_config={"model_type": "mistral", "pad_token_id": 0, **TEXT},
        image_token_id=7,
    )
    return t.Idefics2ForConditionalGeneration(config)


@case
def image_text_in_patches(t: Any) -> Any:
    vision = {
        "depth": 2,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_heads": 4,
        "out_hidden_size": 32,
        "patch_size": 6,
        "window_size": 24,
        "fullatt_block_indexes": [1],
    }
    config = t.Qwen2_5_VLConfig(
        vision_config=vision,
        text_config={"rope_parameters": ROPE, **TEXT},
        image_token_id=7,
        video_token_id=8,
        vision_start_token_id=9,
        vision_end_token_id=10,
    )
    return t.Qwen2_5_VLForConditionalGeneration(config)


@case
def audio_text(t: Any) -> Any:
    audio = {
        "model_type": "qwen2_audio_encoder",
        "d_model": 32,
        "encoder_layers": 1,
        "encoder_attention_heads": 4,
        "encoder_ffn_dim": 48,
        "num_mel_bins": 20,
        "max_source_positions": 60,
    }
    text = {"model_type": "qwen2", **TEXT}
    config = t.Qwen2AudioConfig(audio_config=audio, text_config=text, audio_token_index=7)
    return t.Qwen2AudioForConditionalGeneration(config)


@case
def speech(t: Any) -> Any:
    sizes = {"num_mel_bins": 20, "max_source_positions": 30, "vocab_size": 99, "pad_token_id": 0}
    config = t.WhisperConfig(**sizes, **CODER)
    return t.WhisperModel(config)


@case
def video(t: Any) -> Any:
    config = t.VideoMAEConfig(**{**SIGHT, "num_frames": 6, "tubelet_size": 2})
    return t.VideoMAEForVideoClassification(config)


@case
def series_with_categories(t: Any) -> Any:
    config = t.TimeSeriesTransformerConfig(
        prediction_length=5,
        context_length=9,
        num_time_features=2,
        lags_sequence=[1, 2, 3],
        num_static_categorical_features=1,
        cardinality=[5],
        embedding_dimension=[3],
        **CODER,
    )
    return t.TimeSeriesTransformerForPrediction(config)


@case
def entities(t: Any) -> Any:
    sizes = {name: size for name, size in TEXT.items() if name != "num_key_value_heads"}
    config = t.LukeConfig(entity_vocab_size=20, entity_emb_size=16, **sizes)
    return t.LukeForEntityPairClassification(config)


@pytest.mark.parametrize("name", list(MODELS))
def test_small_models_of_every_modality_are_traced_on_meta(name: str) -> None:
    with torch.device("meta"):
        model = MODELS[name](transformers)
    graph = trace(model)
    assert graph.method == "meta"
    towers = {"vision_tower", "vision_model", "visual", "audio_tower", "connector"}
    asked = {child for child in dict(model.named_modules()) if child.rpartition(".")[2] in towers}
    for tower in asked:  # none is left out for want of its medium
        assert any(path.startswith(tower) for path in graph.paths), tower
