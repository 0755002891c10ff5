"""Inputs for configurations that nobody ships: small, and with sizes of their own."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from nar_plugin.hooks.transformers.inputs.guesses import guesses

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
PLAIN_ROPE = {"rope_type": "default", "rope_theta": 10000.0}
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
def image_text_in_tiles(t: Any) -> Any:
    """The side is no multiple of the patch."""
    config = t.LlavaOnevisionConfig(
        vision_config={"model_type": "siglip_vision_model", **SIGHT, "image_size": 32},
        text_config={"model_type": "qwen2", **TEXT},
        image_grid_pinpoints=[[32, 64], [64, 32]],
        image_token_id=7,
        video_token_id=8,
    )
    return t.LlavaOnevisionForConditionalGeneration(config)


@case
def image_text_seen_through_timm(t: Any) -> Any:
    pytest.importorskip("timm")
    sizes = {"depth": 1, "embed_dim": 64, "num_heads": 4, "img_size": [56, 56]}
    config = t.PerceptionLMConfig(
        vision_config={
            "model_type": "timm_wrapper",
            "architecture": "vit_pe_core_large_patch14_336",
            "model_args": sizes,
        },
        text_config={"model_type": "llama", **TEXT},
        proj_pooling_ratio=2,
        image_token_id=7,
        video_token_id=8,
    )
    config.vision_config.num_features = 64
    return t.PerceptionLMModel(config)


@case
def image_and_film_text(t: Any) -> Any:
    """Each has a tower of its own."""
    config = t.VideoLlavaConfig(
        vision_config={"model_type": "clip_vision_model", **SIGHT},
        text_config={"model_type": "llama", **TEXT},
        image_token_index=7,
        video_token_index=8,
        video_seq_length=8 * (25 + 1),
    )
    return t.VideoLlavaModel(config)


@case
def image_handed_on(t: Any) -> Any:
    """The head names no picture and hands everything that it does not know to the model."""
    vision = {
        "depth": 1,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_heads": 4,
        "out_hidden_size": 32,
        "patch_size": 6,
    }
    text = {**TEXT, "head_dim": 8, "layer_types": ["full_attention"] * 2}
    config = t.Qwen3_5Config(
        vision_config=vision,
        text_config=text,
        image_token_id=7,
        video_token_id=8,
        vision_start_token_id=9,
        vision_end_token_id=10,
    )
    return t.Qwen3_5ForTokenClassification(config)


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
def image_text_of_experts(t: Any) -> Any:
    """In 5.24.0 the forward fails at the very end, over the names of its results."""
    vision = {
        **SIGHT,
        "image_size": 24,
        "intermediate_size": 128,  # of the patches that are shuffled together
        "vision_output_dim": 32,
        "projector_input_dim": 32,
        "projector_output_dim": 32,
    }
    text = {**TEXT, "head_dim": 8, "num_local_experts": 2, "intermediate_size_mlp": 48}
    config = t.Llama4Config(vision_config=vision, text_config=text, image_token_index=7)
    return t.Llama4ForConditionalGeneration(config)


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


@case
def decoder_alone(t: Any) -> Any:
    sizes = {"vocab_size": 99, "pad_token_id": 0, "is_decoder": True, "is_encoder_decoder": False}
    return t.BartForCausalLM(t.BartConfig(**sizes, **CODER))


@case
def decoder_of_codes(t: Any) -> Any:
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "ffn_dim": 48}
    return t.MusicgenForCausalLM(t.MusicgenDecoderConfig(vocab_size=99, **sizes))


@case
def text_that_was_seen(t: Any) -> Any:
    sizes = {"cross_attention_layers": [1], "pad_token_id": 0, "rope_parameters": PLAIN_ROPE}
    config = t.MllamaTextConfig(**sizes, **TEXT)
    return t.MllamaForCausalLM(config)


@case
def text_under_a_first_token(t: Any) -> Any:
    sizes = {name: size for name, size in TEXT.items() if name != "num_key_value_heads"}
    return t.LongformerForMaskedLM(t.LongformerConfig(attention_window=[16, 16], **sizes))


@case
def entities_in_choices(t: Any) -> Any:
    sizes = {name: size for name, size in TEXT.items() if name != "num_key_value_heads"}
    config = t.LukeConfig(entity_vocab_size=20, entity_emb_size=16, **sizes)
    return t.LukeForMultipleChoice(config)


@pytest.mark.parametrize("name", list(MODELS))
def test_small_models_of_every_modality_are_traced_on_meta(name: str) -> None:
    with torch.device("meta"):
        model = MODELS[name](transformers)
    graph = trace(model)
    assert graph.method == "meta"
    parts = {"cross_attn", "encoder_attn", "entity_embeddings", "query_global", "vision_moe"}
    towers = {"vision_tower", "vision_model", "video_tower", "visual", "audio_tower", "connector"}
    wanted = parts | towers
    asked = {child for child in dict(model.named_modules()) if child.rpartition(".")[2] in wanted}
    for tower in asked:  # none is left out for want of its medium
        assert any(path.startswith(tower) for path in graph.paths), tower


@pytest.mark.parametrize("name", ["PLBart", "T5"])
def test_a_classifier_with_a_decoder_reads_the_whole_text_twice(name: str) -> None:
    small = CODER if name == "PLBart" else {"d_model": 32, "num_layers": 1, "d_ff": 48}
    config = getattr(transformers, f"{name}Config")(**small)
    model = getattr(transformers, f"{name}ForSequenceClassification")(config).eval()
    assert model(**next(guesses(model)).kwargs).logits.shape == (1, config.num_labels)


def test_results_that_cannot_be_named_are_asked_for_as_a_tuple() -> None:
    class Renamed(transformers.BertModel):  # type: ignore[misc,name-defined]
        def forward(self, input_ids: Any = None, return_dict: bool = True) -> Any:
            results = super().forward(input_ids)
            return results.image_outputs if return_dict else results.to_tuple()

    sizes = {name: size for name, size in TEXT.items() if name != "num_key_value_heads"}
    with torch.device("meta"):
        graph = trace(Renamed(transformers.BertConfig(**sizes)))
    assert (graph.method, "image_outputs" in graph.reason) == ("meta", True)
