"""Which classes of vit-pytorch can be built, and with which arguments.

The arguments are those of the examples in the package's own README (which its wheel carries) or
below the class; a class that has none gets those of the README's plain ViT. `_USUAL` holds what
most examples share; a class takes from it what its constructor knows. What only trains another
network (DINO, masked autoencoders) is no architecture of its own. The forwards of `LocalViT` and
`levjepa.VideoTransformer` of 1.26 raise whatever they get.
"""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from torch import nn

_USUAL: dict[str, Any] = {
    "image_size": 256,
    "patch_size": 32,
    "num_classes": 1000,
    "dim": 1024,
    "depth": 6,
    "heads": 16,
    "mlp_dim": 2048,
}
_VIDEO: dict[str, Any] = {
    "image_size": 128,
    "frames": 16,
    "image_patch_size": 16,
    "frame_patch_size": 2,
    "heads": 8,
}
_SERIES: dict[str, Any] = {"seq_len": 256, "patch_size": 16, "heads": 8}
_VOLUME: dict[str, Any] = {
    "ndim": 3,
    "input_shape": (8, 64, 64),
    "patch_size": (2, 16, 16),
    "dim": 512,
    "heads": 8,
}
_COMPACT: dict[str, Any] = {
    "embedding_dim": 384,
    "n_conv_layers": 2,
    "kernel_size": 7,
    "stride": 2,
    "padding": 3,
    "pooling_kernel_size": 3,
    "pooling_stride": 2,
    "pooling_padding": 1,
    "num_layers": 14,
    "num_heads": 6,
    "mlp_ratio": 3.0,
    "num_classes": 1000,
    "positional_embedding": "learnable",
}
_JET: dict[str, Any] = {
    "image_size": 224,
    "patch_size": 16,
    "dim": 512,
    "heads": 8,
    "mlp_dim": 3072,
}
_FINE: dict[str, Any] = {"patch_size": 16, "heads": 8}


class Entry(NamedTuple):
    """What one class is built with.

    Attributes:
        options: Arguments beside or in place of the usual ones.
        family: The design, in the words that the libraries' plugins share.
        task: In the words of the Hugging Face Hub.
    """

    options: dict[str, Any]
    family: str = "vit"
    task: str = "image-classification"


_FEATURES = "image-feature-extraction"
_FILMS = "video-classification"

# By the path below `vit_pytorch`; what the package itself exports is there without its module.
ENTRIES: dict[str, Entry] = {
    "ViT": Entry({}),
    "SimpleViT": Entry({}),
    "LoopedViT": Entry({"dim": 512, "heads": 8}),
    "ats_vit.ViT": Entry({**_FINE, "max_tokens_per_depth": (256, 128, 64, 32, 16, 8)}),
    "attn_residual_with_dca_simple_vit.SimpleViT": Entry({}),
    "cait.CaiT": Entry({"depth": 12, "cls_depth": 2, "layer_dropout": 0.05}, family="cait"),
    "cct.CCT": Entry({**_COMPACT, "img_size": (224, 448)}, family="cct"),
    "cct_3d.CCT": Entry(
        {**_COMPACT, "img_size": 224, "num_frames": 8, "frame_kernel_size": 3},
        family="cct",
        task=_FILMS,
    ),
    "cross_vit.CrossViT": Entry(
        {
            "depth": 4,
            "sm_dim": 192,
            "sm_patch_size": 16,
            "sm_enc_depth": 2,
            "lg_dim": 384,
            "lg_patch_size": 64,
            "lg_enc_depth": 3,
        },
        family="crossvit",
    ),
    "crossformer.CrossFormer": Entry(
        {"dim": (64, 128, 256, 512), "depth": (2, 2, 8, 2)}, family="crossformer"
    ),
    "cvt.CvT": Entry({"s3_heads": 4}, family="cvt"),
    "deepvit.DeepViT": Entry({}, family="deepvit"),
    "distill.DistillableViT": Entry(_USUAL),
    "jet_vit.JetViT": Entry({**_JET, "attn_layers": ["LA", "LA", "WA", "FA", "LA", "FA"]}),
    "jumbo_vit.JumboViT": Entry({}),
    "learnable_memory_vit.ViT": Entry(_FINE),
    "levit.LeViT": Entry(
        {
            "image_size": 224,
            "stages": 3,
            "dim": (256, 384, 512),
            "depth": 4,
            "heads": (4, 6, 8),
            "mlp_mult": 2,
        },
        family="levit",
    ),
    "levjepa_nd.NDTransformer": Entry(_VOLUME, family="levjepa", task="feature-extraction"),
    "look_vit.LookViT": Entry(
        {"dim": 512, "depth": 2, "heads": 8, "highres_patch_size": 8, "highres_mlp_factor": 2}
    ),
    "max_vit.MaxViT": Entry(
        {"dim_conv_stem": 64, "dim": 96, "depth": (2, 2, 5, 2)}, family="maxvit"
    ),
    "max_vit_with_registers.MaxViT": Entry(
        {"dim_conv_stem": 64, "dim": 96, "depth": (2, 2, 5, 2)}, family="maxvit"
    ),
    "mobile_vit.MobileViT": Entry(
        {
            "image_size": (256, 256),
            "patch_size": (2, 2),
            "dims": [96, 120, 144],
            "channels": [16, 32, 48, 48, 64, 64, 80, 80, 96, 96, 384],
        },
        family="mobilevit",
    ),
    "mp3.ViT": Entry({"patch_size": 8, "heads": 8}),
    "na_vit.NaViT": Entry({"token_dropout_prob": 0.1}, family="navit"),
    "na_vit_nested_tensor.NaViT": Entry({"token_dropout_prob": 0.1}, family="navit"),
    "nest.NesT": Entry(
        {
            "image_size": 224,
            "patch_size": 4,
            "dim": 96,
            "heads": 3,
            "num_hierarchies": 3,
            "block_repeats": (2, 2, 8),
        },
        family="nest",
    ),
    "normalized_vit.nViT": Entry({}),
    "parallel_vit.ViT": Entry({**_FINE, "num_parallel_branches": 2}),
    "pit.PiT": Entry(
        {"image_size": 224, "patch_size": 14, "dim": 256, "depth": (3, 3, 3)}, family="pit"
    ),
    "regionvit.RegionViT": Entry(
        {"dim": (64, 128, 256, 512), "depth": (2, 2, 8, 2)}, family="regionvit"
    ),
    "rvt.RvT": Entry({"patch_size": 16, "dim": 512, "heads": 8}),
    "scalable_vit.ScalableViT": Entry(
        {
            "dim": 64,
            "heads": (2, 4, 8, 16),
            "depth": (2, 2, 20, 2),
            "ssa_dim_key": (40, 40, 40, 32),
            "reduction_factor": (8, 4, 2, 1),
            "window_size": (64, 32, None, None),
        },
        family="scalablevit",
    ),
    "sep_vit.SepViT": Entry(
        {"dim": 32, "heads": (1, 2, 4, 8), "depth": (1, 2, 6, 2)}, family="sepvit"
    ),
    "simple_flash_attn_vit.SimpleViT": Entry({}),
    "simple_flash_attn_vit_3d.SimpleViT": Entry(_VIDEO, task=_FILMS),
    "simple_uvit.SimpleUViT": Entry({}, family="uvit"),
    "simple_vit_1d.SimpleViT": Entry(_SERIES, task="time-series-classification"),
    "simple_vit_3d.SimpleViT": Entry(_VIDEO, task=_FILMS),
    "simple_vit_attn_residual.SimpleViTAttnResidual": Entry({}),
    "simple_vit_orthog_residual_update.SimpleViT": Entry({}),
    "simple_vit_with_fft.SimpleViT": Entry({"patch_size": 8, "freq_patch_size": 8}),
    "simple_vit_with_hyper_connections.SimpleViT": Entry({"num_residual_streams": 4}),
    "simple_vit_with_patch_dropout.SimpleViT": Entry({}),
    "simple_vit_with_qk_norm.SimpleViT": Entry({}),
    "simple_vit_with_register_tokens.SimpleViT": Entry({}),
    "simple_vit_with_relative_proj_pos_bias.SimpleViT": Entry({}),
    "simple_vit_with_sparse_gating.SimpleViTWithSparseGating": Entry({}),
    "simple_vit_with_specialized_cls.SimpleViT": Entry({}),
    "simple_vit_with_value_residual.SimpleViT": Entry({}),
    "t2t.T2TViT": Entry(
        {"image_size": 224, "dim": 512, "depth": 5, "heads": 8, "mlp_dim": 512}, family="t2t_vit"
    ),
    "twins_svt.TwinsSVT": Entry({}, family="twins"),
    "vat_siglip.SigLIP": Entry(
        {"image_size": 224, "patch_size": 14, "dim": 1152, "depth": 27, "mlp_dim": 4304},
        family="siglip",
        task=_FEATURES,
    ),
    "vat.ViT": Entry({"dim": 256, "heads": 8, "depth": 4, "mlp_dim": 1024}),
    "vit_1d.ViT": Entry(_SERIES, task="time-series-classification"),
    "vit_3d.ViT": Entry(_VIDEO, task=_FILMS),
    "vit_5.ViT": Entry({"patch_size": 16, "dim": 512, "heads": 8, "mlp_dim": 1024}),
    "vit_detpool.ViTDetPool": Entry({}),
    "vit_for_small_dataset.ViT": Entry({"patch_size": 16}),
    "vit_nd.ViTND": Entry(_VOLUME),
    "vit_nd_pope.ViTND": Entry(_VOLUME),
    "vit_nd_rotary.ViTND": Entry(_VOLUME),
    "vit_with_decorr.ViT": Entry({}),
    "vit_with_keel_post_ln.ViT": Entry({}),
    "vit_with_patch_dropout.ViT": Entry({}),
    "vit_with_patch_merger.ViT": Entry(
        {**_FINE, "depth": 12, "patch_merge_layer": 6, "patch_merge_num_tokens": 8}
    ),
    "vivit.ViViT": Entry(
        {**_VIDEO, "spatial_depth": 6, "temporal_depth": 6}, family="vivit", task=_FILMS
    ),
    "vivit_with_moss.ViViT": Entry(
        {**_VIDEO, "spatial_depth": 6, "temporal_depth": 6}, family="vivit", task=_FILMS
    ),
    "wwt.WWT": Entry(
        {"dim": 256, "depth": 2, "num_slots": (64, 32, 16), "heads": 4, "mlp_dim": 512}
    ),
    "xcit.XCiT": Entry({"depth": 12, "cls_depth": 2, "layer_dropout": 0.05}, family="xcit"),
}


def built(owner: type[nn.Module], entry: Entry) -> nn.Module:
    """The class with the entry's arguments.

    Args:
        owner: The class to build.
        entry: Its line of `ENTRIES`.
    """
    known = inspect.signature(owner.__init__).parameters
    options = {key: value for key, value in _USUAL.items() if key in known} | entry.options
    return owner(**options)
