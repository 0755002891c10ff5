"""By model type: the fields that every real checkpoint sets and no default does."""

from __future__ import annotations

from typing import Any

_FORECAST = {"prediction_length": 24, "context_length": 48}
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
    "num_classes": 1000,
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

_DEEPSEEK_OCR2_TEXT = {
    "moe_intermediate_size": 896,
    "num_hidden_layers": 12,
    "mlp_layer_types": ["dense", *["sparse"] * 11],
    "num_experts_per_tok": 6,
}
_DIFFUSION_GEMMA_TEXT = {"num_experts": 128, "top_k_experts": 8, "moe_intermediate_size": 704}
_HUNYUAN_VL_TEXT = {
    "head_dim": 128,
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 10000.0,
        "mrope_section": [16, 16, 16, 16],  # tencent/HunyuanOCR: half a head in four axes
    },
}
_NO_LAYER_INPUT = {"hidden_size_per_layer_input": 0, "vocab_size_per_layer_input": 0}
_QWEN3_OMNI_THINKER = {"num_attention_heads": 32, "head_dim": 128}
_QWEN3_OMNI_TALKER = {"shared_expert_intermediate_size": 768}


def _asymmetric(letters: str, name: str) -> dict[str, list[Any]]:
    """Kernel, stride and padding of PP-OCR's convolutions over 7, 5 and 3 pixels."""
    found: dict[str, list[Any]] = {}
    for side, ratio in ((7, "long"), (5, "mid"), (3, "short")):
        kernel = tuple(side if letter == "k" else 1 for letter in letters)
        found[f"{name}_{ratio}ratio"] = [kernel, 1, tuple(length // 2 for length in kernel)]
    return found


# "It uses multi-scale convolution (7x7, 5x5, 3x3) and asymmetric kernels (e.g., 7x1, 1x7)": the
# class's documentation. The four levels are brought to the size of the first.
_PP_OCR_NECK = {
    "intraclass_block_config": {
        "reduce_channel": [1, 1, 0],
        "return_channel": [1, 1, 0],
        **_asymmetric("k1", "vertical_long_to_small_conv"),
        **_asymmetric("1k", "horizontal_small_to_long_conv"),
        **_asymmetric("kk", "symmetric_conv_long"),
    },
    "scale_factor_list": [1, 2, 4, 8],
    "kernel_list": [3, 2, 2],
}

# By model type: what the default lacks, or what its parts disagree about. A named
# checkpoint is the one that the values were chosen after; its file was not read. Elsewhere they
# are any that agree.
BY_TYPE: dict[str, dict[str, Any]] = {
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
    "hunyuan_vl": {"text_config": _HUNYUAN_VL_TEXT},
    "hunyuan_vl_text": _HUNYUAN_VL_TEXT,
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
    # deepseek-ai/DeepSeek-OCR-2
    "deepseek_ocr2": {
        "text_config": _DEEPSEEK_OCR2_TEXT,
        "vision_config": {"encoder_config": {"hidden_size": 896}},
    },
    "deepseek_ocr2_vision": {"encoder_config": {"hidden_size": 896}},
    "deepseek_ocr2_text": _DEEPSEEK_OCR2_TEXT,
    "diffusion_gemma": {"text_config": _DIFFUSION_GEMMA_TEXT},
    "diffusion_gemma_text": _DIFFUSION_GEMMA_TEXT,
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
    "glm_image": {"text_config": {"rope_parameters": _ROPE_OF_GLM4V}},
    "glm_image_text": {"rope_parameters": _ROPE_OF_GLM4V},
    "glm4v_moe": {"text_config": {"head_dim": 128, "rope_parameters": _ROPE_OF_GLM4V}},
    "glm4v_moe_text": {"head_dim": 128, "rope_parameters": _ROPE_OF_GLM4V},
    # The place of the image in the vocabulary. Salesforce/blip2-opt-2.7b
    "blip-2": {"image_token_index": 50265},
    "instructblip": {"image_token_index": 50265},
    "instructblipvideo": {"video_token_index": 50265},
    # Layers that read another model's keys and values have none of their own.
    "gemma4_assistant": {"text_config": _NO_LAYER_INPUT},
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
    # ibm-granite/granite-vision-4.1-4b: windows of 8 x 8 want more patches than the default has
    "granite4_vision": {
        "vision_config": {**_SIGLIP, "image_size": 384, "patch_size": 16},
        "vision_feature_select_strategy": "full",
        "image_grid_pinpoints": [[384, 384], [384, 768], [768, 384], [768, 768]],
        "deepstack_layer_map": [[-19, 9], [-13, 6], [-7, 3], [-1, 0]],
        "downsample_rate": "4/8",
    },
    # LiquidAI/LFM2-8B-A1B
    "lfm2_moe": {
        "num_hidden_layers": 24,
        "layer_types": [
            "full_attention" if layer in (2, 6, 10, 14, 18, 21) else "conv" for layer in range(24)
        ],
    },
    "molmo2": {"adapter_config": {"text_hidden_size": 4096}},
    "moshi": {"audio_vocab_size": 2048},  # as its depth decoder and its codec
    "moonshine_streaming": {"num_key_value_heads": 8},
    # facebook/Perception-LM-1B
    "perception_lm": {
        "vision_config": {
            "model_type": "timm_wrapper",
            "architecture": "vit_pe_core_large_patch14_336",
            "model_args": {"depth": 23, "embed_dim": 1024, "img_size": [448, 448]},
        }
    },
    # The backbones that their documentation names: the default takes another, of one stage.
    "pp_ocrv6_small_det": {
        "backbone_config": {
            "model_type": "pp_lcnet_v3",
            "scale": 0.75,
            "divisor": 16,
            "out_features": ["stage2", "stage3", "stage4", "stage5"],
        },
        "layer_list_out_channels": [48, 96, 192, 384],
    },
    # A threshold and a place in the reading order for each of 25 labels.
    "pp_doclayout_v2": {"class_thresholds": [0.5] * 25, "class_order": list(range(25))},
    "pp_ocrv5_server_det": _PP_OCR_NECK,
    "pp_ocrv6_medium_det": {
        **_PP_OCR_NECK,
        "backbone_config": {
            "model_type": "hgnet_v2",
            "out_features": ["stage1", "stage2", "stage3", "stage4"],
        },
    },
    # Qwen/Qwen3-Omni-30B-A3B-Instruct
    "qwen3_omni_moe": {
        "thinker_config": {"text_config": _QWEN3_OMNI_THINKER},
        "talker_config": {"text_config": _QWEN3_OMNI_TALKER, "spatial_merge_size": 2},
    },
    "qwen3_omni_moe_text": _QWEN3_OMNI_THINKER,
    "qwen3_omni_moe_thinker": {"text_config": _QWEN3_OMNI_THINKER},
    "qwen3_omni_moe_talker_text": _QWEN3_OMNI_TALKER,
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
    # stepfun-ai/Step-3.7-Flash
    "step3p5": {"sliding_window": 512},
    "step3p7": {"text_config": {"sliding_window": 512}},
    # The head reads all six stages of the bridge.
    "uvdoc": {
        "backbone_config": {
            "model_type": "uvdoc_backbone",
            "out_features": [f"stage{place}" for place in range(1, 7)],
        }
    },
    # usyd-community/vitpose-base-simple: the default ends after four of the twelve layers
    "vitpose": {"backbone_config": {"model_type": "vitpose_backbone", "out_indices": [12]}},
    "xmod": {"default_language": "en_XX"},
    "timm_backbone": {"backbone": "resnet50"},
}
