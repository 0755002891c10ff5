"""Default configurations, with the fields that every real checkpoint sets and none defaults."""

from __future__ import annotations

from typing import Any

_FORECAST = {"prediction_length": 24, "context_length": 48}
_LISTED_STAGES = {"hidden_sizes": [96, 192, 384, 768]}  # as a list: a backbone adds to it
_SIGLIP = {
    "model_type": "siglip_vision_model",
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "num_attention_heads": 16,
    "num_hidden_layers": 27,
}

_GEMMA3_VISION = {**_SIGLIP, "image_size": 896, "patch_size": 14}
_ROPE_OF_GLM4V = {
    "rope_type": "default",
    "rope_theta": 10000.0,
    "mrope_section": [8, 12, 12],
    "partial_rotary_factor": 0.5,
}
_REPVIT = {
    "model_type": "timm_wrapper",
    "architecture": "repvit_m1.dist_in1k",
    "model_args": {"in_chans": 3, "features_only": True, "out_indices": [0, 1, 2, 3]},
}
_GRANITE_PROJECTOR = {
    "model_type": "blip_2_qformer",
    "encoder_hidden_size": 1024,
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_attention_heads": 16,
    "num_hidden_layers": 2,
}
_ROPE_BY_LAYER = {"full_attention": {"rope_type": "default", "rope_theta": 10000.0}}
_QWEN4_INDEXER = {
    "indexer_n_heads": 16,
    "indexer_kv_heads": 1,
    "indexer_head_dim": 256,
    "indexer_budget": 2048,
    "indexer_compress_ratio": 16,
}

# By model type: what the default lacks, or what its parts disagree about. A named
# checkpoint is the one that the values were chosen after; its file was not read. Elsewhere they
# are any that agree.
_COMPLETED: dict[str, dict[str, Any]] = {
    # A forecast has no natural length.
    "autoformer": _FORECAST,
    "informer": _FORECAST,
    "time_series_transformer": _FORECAST,
    # 1152 does not divide by the default's 14 heads. CohereLabs/aya-vision-8b
    "aya_vision": {"vision_config": {**_SIGLIP, "image_size": 364, "patch_size": 14}},
    # The image tokens' places in the vocabulary come with the tokenizer.
    "chameleon": {"vocabulary_map": {"<image>": 8711, "IMGIMGAZ": 4, "IMGIMGBZ": 5}},
    "emu3": {
        "vocabulary_map": {
            "<image>": 151846,
            "<|extra_200|>": 151845,
            "<|visual token 000000|>": 151854,
            "<|visual token 000001|>": 151855,
        }
    },
    # databricks/dbrx-base
    "dbrx": {"attn_config": {"clip_qkv": 8, "kv_n_heads": 8, "rope_theta": 500000}},
    # facebook/esm2_t6_8M_UR50D
    "esm": {
        "vocab_size": 33,
        "mask_token_id": 32,
        "pad_token_id": 1,
        "position_embedding_type": "rotary",
    },
    # The hidden size divided by the number of heads.
    "hunyuan_v1_dense": {"head_dim": 128},
    "hunyuan_v1_moe": {"head_dim": 128},
    "hunyuan_vl": {"text_config": {"head_dim": 128}},
    "hunyuan_vl_text": {"head_dim": 128},
    "ministral": {"head_dim": 128},
    "nemotron": {"num_key_value_heads": 8},
    "cohere_compass_text": {"rope_parameters": _ROPE_BY_LAYER},
    "cohere_compass": {"text_config": {"rope_parameters": _ROPE_BY_LAYER}},
    # deepseek-ai/DeepSeek-V2-Lite
    "deepseek_v2": {
        "moe_intermediate_size": 1408,
        "num_experts_per_tok": 6,
        "n_group": 1,
        "topk_group": 1,
    },
    "deepseek_ocr2": {
        "text_config": {
            "num_hidden_layers": 12,
            "mlp_layer_types": ["dense", *["sparse"] * 11],
            "num_experts_per_tok": 6,
        }
    },
    "diffusion_gemma": {
        "text_config": {"num_experts": 128, "top_k_experts": 8, "moe_intermediate_size": 704}
    },
    # rednote-hilab/dots.llm1.base
    "dots1": {
        "n_routed_experts": 128,
        "num_experts_per_tok": 6,
        "n_shared_experts": 2,
        "n_group": 1,
        "topk_group": 1,
    },
    # The pooling to 16 x 16 tokens wants at least as many patches. google/gemma-3-4b-it
    "gemma3": {"vision_config": _GEMMA3_VISION},
    "shieldgemma2": {"vision_config": _GEMMA3_VISION},
    "t5gemma2": {"encoder": {"vision_config": _GEMMA3_VISION}},
    "t5gemma2_encoder": {
        "text_config": {"dropout_rate": 0.0},
        "vision_config": _GEMMA3_VISION,
    },
    # The rotary sections cover half of a head. zai-org/GLM-4.1V-9B-Thinking, GLM-4.5V
    "glm4v": {"text_config": {"rope_parameters": _ROPE_OF_GLM4V}},
    "glm46v": {"text_config": {"rope_parameters": _ROPE_OF_GLM4V}},
    "glmga": {"text_config": {"rope_parameters": _ROPE_OF_GLM4V}},
    "glm4v_text": {"rope_parameters": _ROPE_OF_GLM4V},
    "glm_image_text": {"rope_parameters": _ROPE_OF_GLM4V},
    "glm4v_moe": {"text_config": {"head_dim": 128, "rope_parameters": _ROPE_OF_GLM4V}},
    "glm4v_moe_text": {"head_dim": 128, "rope_parameters": _ROPE_OF_GLM4V},
    # The place of the image in the vocabulary. Salesforce/blip2-opt-2.7b
    "blip-2": {"image_token_index": 50265},
    "instructblip": {"image_token_index": 50265},
    "instructblipvideo": {"video_token_index": 50265},
    # meta-llama/Llama-4-Scout-17B-16E
    "llama4": {
        "vision_config": {
            "hidden_size": 1408,
            "image_size": 336,
            "intermediate_size": 5632,
            "num_attention_heads": 16,
            "num_hidden_layers": 34,
            "projector_input_dim": 4096,
            "projector_output_dim": 4096,
            "vision_output_dim": 4096,
        }
    },
    # The default names its backbone under a misspelt key.
    "edgetam": {"vision_config": {"backbone_config": _REPVIT}},
    "edgetam_vision_model": {"backbone_config": _REPVIT},
    "granite4_vision": {
        "deepstack_layer_map": [[-8, 9], [-6, 6], [-4, 3], [-1, 0]],
        "downsample_rate": "4/8",
    },
    # LiquidAI/LFM2-8B-A1B
    "lfm2_moe": {
        "num_hidden_layers": 24,
        "layer_types": [
            "full_attention" if layer in (2, 6, 10, 14, 18, 21) else "conv" for layer in range(24)
        ],
    },
    "moonshine_streaming": {"num_key_value_heads": 8},
    # facebook/Perception-LM-1B
    "perception_lm": {
        "vision_config": {
            "model_type": "timm_wrapper",
            "architecture": "vit_pe_core_large_patch14_336",
            "model_args": {"depth": 23, "embed_dim": 1024, "img_size": [448, 448]},
        }
    },
    "qwen4_exp": {"text_config": _QWEN4_INDEXER},
    "qwen4_exp_text": _QWEN4_INDEXER,
    "sapiens2": {
        "head_config": {"upsample_out_channels": [768, 512], "conv_out_channels": [256, 256]}
    },
    # rhymes-ai/Aria: 4,900 patches become 256 tokens
    "aria": {"vision_config": {"image_size": 980, "patch_size": 14}},
    "lw_detr": {"projector_scale_factors": [1.0]},
    "ovis2": {"hidden_size": 4096},
    # The projector reads an encoder of 1,024. ibm-granite/granite-speech-3.3-2b
    "granite_speech": {"projector_config": _GRANITE_PROJECTOR},
    "granite_speech_plus": {"projector_config": _GRANITE_PROJECTOR},
    # mistralai/Voxtral-Mini-3B-2507
    "voxtral": {"audio_token_id": 24},
    # ModernVBERT/modernvbert: a side of 32 patches, of which 4 x 4 become one token
    "modernvbert": {"vision_config": {"image_size": 512}},
    "ultravbert": {"vision_config": {"image_size": 512}},
    "colmodernvbert": {"vlm_config": {"vision_config": {"image_size": 512}}},
    "xmod": {"default_language": "en_XX"},
    "timm_backbone": {"backbone": "resnet50"},
}
# The field of the vision configuration that is the width of the projected image.
_PROJECTED = {"janus": "projection_dim", "qwen2_vl": "hidden_size"}
# By class, where only that class needs more.
_COMPLETED_FOR_CLASS: dict[str, dict[str, Any]] = {
    "BeitForSemanticSegmentation": {"out_indices": [3, 5, 7, 11]},
    "ConvNextBackbone": _LISTED_STAGES,
    "ConvNextV2Backbone": _LISTED_STAGES,
    "FocalNetBackbone": {"hidden_sizes": [192, 384, 768, 768]},
    # facebook/hiera-tiny-224-mae-hf
    "HieraForPreTraining": {
        "decoder_hidden_size": 512,
        "decoder_depth": 8,
        "decoder_num_heads": 16,
    },
    # deepmind/vision-perceiver-conv and -fourier: 322 and 261 channels, one head
    "PerceiverForImageClassificationConvProcessing": {"num_cross_attention_heads": 1},
    "PerceiverForImageClassificationFourier": {"num_cross_attention_heads": 1},
    "ReformerModelWithLMHead": {"is_decoder": True},
    "T5GemmaEncoderModel": {"is_encoder_decoder": False},
    # facebook/hubert-large-ls960-ft and its like: letters
    "Wav2Vec2BertForCTC": {"vocab_size": 32},
    "Wav2Vec2ConformerForCTC": {"vocab_size": 32},
    "VitMatteForImageMatting": {
        "convstream_hidden_sizes": [48, 96, 192],
        "fusion_hidden_sizes": [256, 128, 64, 32],
        # The trimap is a fourth channel. hustvl/vitmatte-small-composition-1k
        "backbone_config": {
            "model_type": "vitdet",
            "hidden_size": 384,
            "num_attention_heads": 6,
            "num_channels": 4,
            "out_features": ["stage12"],
        },
        "hidden_size": 384,
    },
}


def default_config(model_type: str, owner: type) -> Any:
    """The configuration with which a class of a model type can be constructed.

    Example:
        ```python
        default_config("bert", BertModel).hidden_size  # 768
        ```

    Args:
        model_type: Such as `bert`.
        owner: The class; the text model of a composite type takes the inner configuration.
    """
    from nar_plugin.hooks._transformers_sizes import holders
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    fields = {**_COMPLETED.get(model_type, {}), **_COMPLETED_FOR_CLASS.get(owner.__name__, {})}
    config = CONFIG_MAPPING[model_type](**fields)
    _agree_on_width(config)
    wanted = getattr(owner, "config_class", None)
    if isinstance(wanted, type):
        for holder in holders(config):
            if isinstance(holder, wanted):
                return holder
    return config


def _agree_on_width(config: Any) -> None:
    """Project images and sounds to the width of the text, where the defaults were chosen apart."""
    text = getattr(config, "text_config", None)
    vision, sound = getattr(config, "vision_config", None), getattr(config, "audio_config", None)
    projected = _PROJECTED.get(config.model_type, "out_hidden_size")
    for tower, field in ((vision, projected), (sound, "output_dim")):
        if text is not None and hasattr(tower, field):
            setattr(tower, field, text.hidden_size)
