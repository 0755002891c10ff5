"""Configurations for classes of diffusers whose default does not construct or does not run.

The sizes are those of the checkpoint that is named beside each. Where none is named, the class is
a part of other models, and stands with what it needs at least.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_COMPLETED: Mapping[str, Mapping[str, Any]] = {
    # hunyuanvideo-community/HunyuanImage-2.1-Diffusers
    "AutoencoderKLHunyuanImage": {
        "in_channels": 3,
        "out_channels": 3,
        "latent_channels": 64,
        "block_out_channels": (128, 256, 512, 512, 1024, 1024),
        "layers_per_block": 2,
        "spatial_compression_ratio": 32,
        "sample_size": 384,
    },
    # xinsir/controlnet-union-sdxl-1.0
    "ControlNetUnionModel": {
        "addition_embed_type": "text_time",
        "addition_time_embed_dim": 256,
        "attention_head_dim": [5, 10, 20],
        "block_out_channels": (320, 640, 1280),
        "cross_attention_dim": 2048,
        "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
        "projection_class_embeddings_input_dim": 2816,
        "transformer_layers_per_block": [1, 2, 10],
        "use_linear_projection": True,
    },
    # nvidia/Cosmos-Transfer2.5-2B, as diffusers' conversion script has it
    "CosmosControlNetModel": {
        "num_attention_heads": 16,
        "img_context_dim_in": 1152,
        "img_context_dim_out": 2048,
        "use_crossattn_projection": True,
        "crossattn_proj_in_channels": 100352,
    },
    "DreamLiteTransformer2DModel": {"in_channels": 320, "cross_attention_dim": 768},
    # alibaba-pai/EasyAnimateV5.1-12b-zh
    "EasyAnimateTransformer3DModel": {"in_channels": 16, "out_channels": 16, "patch_size": 2},
    # HiDream-ai/HiDream-I1-Full
    "HiDreamImageTransformer2DModel": {
        "patch_size": 2,
        "in_channels": 16,
        "out_channels": 16,
        "caption_channels": [4096, 4096],
        "axes_dims_rope": (64, 32, 32),
        "max_resolution": (128, 128),
        "llama_layers": list(range(48)),
    },
    # lllyasviel/FramePackI2V_HY
    "HunyuanVideoFramepackTransformer3DModel": {
        "has_image_proj": True,
        "image_proj_dim": 1152,
        "has_clean_x_embedder": True,
    },
    # Tencent-Hunyuan/HunyuanDiT-v1.2-Diffusers
    "HunyuanDiT2DModel": {
        "attention_head_dim": 88,
        "in_channels": 4,
        "patch_size": 2,
        "sample_size": 128,
        "hidden_size": 1408,
        "num_layers": 40,
        "mlp_ratio": 4.3637,
    },
    "HunyuanDiT2DControlNetModel": {
        "attention_head_dim": 88,
        "in_channels": 4,
        "patch_size": 2,
        "sample_size": 128,
        "hidden_size": 1408,
        "mlp_ratio": 4.3637,
    },
    # maxin-cn/Latte-1
    "LatteTransformer3DModel": {
        "num_attention_heads": 16,
        "attention_head_dim": 72,
        "in_channels": 4,
        "out_channels": 8,
        "num_layers": 28,
        "cross_attention_dim": 1152,
        "attention_bias": True,
        "patch_size": 2,
        "activation_fn": "gelu-approximate",
        "num_embeds_ada_norm": 1000,
        "norm_type": "ada_norm_single",
        "norm_elementwise_affine": False,
        "norm_eps": 1e-6,
        "caption_channels": 4096,
        "video_length": 16,
    },
    # Alpha-VLLM/Lumina-Next-SFT-diffusers
    "LuminaNextDiT2DModel": {"num_layers": 24, "num_kv_heads": 8, "learn_sigma": True},
    # Shitao/OmniGen-v1-diffusers; the values of the 48 factors change no operation
    "OmniGenTransformer2DModel": {
        "rope_scaling": {"long_factor": [1.0] * 48, "short_factor": [1.0] * 48, "type": "su"}
    },
    "Transformer2DModel": {"in_channels": 320, "cross_attention_dim": 768},
    "TransformerTemporalModel": {"in_channels": 320, "num_attention_heads": 8},
    # harmonai/maestro-150k: the first block takes the embedded time as 16 more channels
    "UNet1DModel": {"extra_in_channels": 16, "time_embedding_dim": 16},
    # alibaba-pai/Z-Image-Turbo-Fun-Controlnet-Union
    "ZImageControlNetModel": {
        "control_layers_places": [0, 5, 10, 15, 20, 25],
        "control_refiner_layers_places": [0, 1],
        "control_in_dim": 16,
    },
}
_PARTS = {
    "FluxMultiControlNetModel": "FluxControlNetModel",
    "HunyuanDiT2DMultiControlNetModel": "HunyuanDiT2DControlNetModel",
    "MultiAdapter": "T2IAdapter",
    "MultiControlNetModel": "ControlNetModel",
    "MultiControlNetUnionModel": "ControlNetUnionModel",
    "QwenImageMultiControlNetModel": "QwenImageControlNetModel",
    "SD3MultiControlNetModel": "SD3ControlNetModel",
}


def build(owner: type[Any], classes: Mapping[str, type[Any]]) -> Any:
    """A model of this class: of its default configuration, completed where that is not enough.

    Args:
        owner: The class.
        classes: All classes by name; some are made of two models of another.
    """
    name = owner.__name__
    if name in _PARTS:
        part: Callable[[], Any] = lambda: build(classes[_PARTS[name]], classes)  # noqa: E731
        return owner([part()] if name == "QwenImageMultiControlNetModel" else [part(), part()])
    model = owner(**_COMPLETED.get(name, {}))
    if name == "ZImageControlNetModel":  # it shares the embeddings of the transformer
        model = owner.from_transformer(model, classes["ZImageTransformer2DModel"]())
    return model
