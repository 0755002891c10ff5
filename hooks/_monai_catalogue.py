"""Which networks of `monai.networks.nets` are listed, and what they are built with.

The arguments beside the usual ones are those of the classes' own docstrings or tests. A name with
`/2d` behind it is the same network for images. Not here: `Transchex`, which asks the Hugging Face
Hub for a configuration when it is made, and what wraps or searches for a network.
"""

from __future__ import annotations

from typing import Any, NamedTuple

_LEVELS: dict[str, Any] = {"channels": (16, 32, 64, 128, 256), "strides": (2, 2, 2, 2)}
_SMALL: dict[str, Any] = {"channels": (2, 4, 8), "strides": (2, 2, 2)}
_RESNET: dict[str, Any] = {"n_input_channels": 1}
_UNET_OF_NN: dict[str, Any] = {
    "kernel_size": (3, 3, 3, 3, 3, 3),
    "strides": (1, 2, 2, 2, 2, 2),
    "upsample_kernel_size": (2, 2, 2, 2, 2),
}
_REGISTRATION: dict[str, Any] = {"in_channels": 2, "num_channel_initial": 32, "depth": 4}

_SEGMENT = "image-segmentation"
_CLASSIFY = "image-classification"
_EMBED = "image-feature-extraction"
_GENERATE = "unconditional-image-generation"
_CHANGE = "image-to-image"


class Entry(NamedTuple):
    """What one class is built with.

    Attributes:
        family: The design, in the words that the libraries' plugins share.
        task: In the words of the Hugging Face Hub.
        options: Arguments beside or in place of the usual ones.
        flat: Whether there is one for images too.
    """

    family: str
    task: str = _SEGMENT
    options: dict[str, Any] = {}  # noqa: RUF012 (never written to)
    flat: bool = False


ENTRIES: dict[str, Entry] = {
    "AHNet": Entry("ahnet", flat=True),
    "AttentionUnet": Entry("attention_unet", options=_LEVELS, flat=True),
    "AutoEncoder": Entry("autoencoder", _CHANGE, _SMALL, flat=True),
    "AutoencoderKL": Entry("autoencoder_kl", _CHANGE, {"out_channels": 1}, flat=True),
    "BasicUNet": Entry("unet", flat=True),
    "BasicUNetPlusPlus": Entry("unetplusplus", flat=True),
    "Classifier": Entry("regressor", _CLASSIFY, {"in_shape": (1, 64, 64), "classes": 2, **_SMALL}),
    "ControlNet": Entry("controlnet", _CHANGE, flat=True),
    "Critic": Entry("regressor", _CLASSIFY, {"in_shape": (1, 64, 64), **_SMALL}),
    "DAF3D": Entry("daf3d"),
    "DecoderOnlyTransformer": Entry(
        "gpt",
        "text-generation",
        {
            "num_tokens": 256,
            "max_seq_len": 512,
            "attn_layers_dim": 512,
            "attn_layers_depth": 6,
            "attn_layers_heads": 8,
        },
    ),
    "DenseNet121": Entry("densenet", _CLASSIFY, flat=True),
    "DenseNet169": Entry("densenet", _CLASSIFY, flat=True),
    "DenseNet201": Entry("densenet", _CLASSIFY, flat=True),
    "DenseNet264": Entry("densenet", _CLASSIFY, flat=True),
    "DiffusionModelUNet": Entry("diffusion_unet", _GENERATE, {"out_channels": 1}, flat=True),
    "Discriminator": Entry("regressor", _CLASSIFY, {"in_shape": (1, 64, 64), **_SMALL}),
    "DynUNet": Entry("dynunet", options=_UNET_OF_NN, flat=True),
    "EfficientNetBN": Entry(
        "efficientnet", _CLASSIFY, {"model_name": "efficientnet-b0"}, flat=True
    ),
    "FlexibleUNet": Entry("unet", options={"backbone": "efficientnet-b0"}, flat=True),
    "FullyConnectedNet": Entry(
        "mlp",
        "tabular-classification",
        {"in_channels": 10, "out_channels": 2, "hidden_channels": [10, 10, 10]},
    ),
    "Generator": Entry(
        "generator",
        _GENERATE,
        {
            "latent_shape": (42, 24),
            "start_shape": (64, 8, 8),
            "channels": (32, 16, 1),
            "strides": (2, 2, 2),
        },
    ),
    "GlobalNet": Entry("regunet", _CHANGE, {**_REGISTRATION, "image_size": [64, 64, 64]}),
    "HighResNet": Entry("highresnet", flat=True),
    "HoVerNet": Entry("hovernet", options={"in_channels": 3, "out_classes": 5}),
    "LocalNet": Entry(
        "regunet",
        _CHANGE,
        {
            "in_channels": 2,
            "num_channel_initial": 32,
            "out_channels": 3,
            "extract_levels": (0, 1, 2, 3),
        },
    ),
    "MILModel": Entry("mil", _CLASSIFY, {"mil_mode": "att_trans"}),
    "MaskedAutoEncoderViT": Entry(
        "vit_mae", _EMBED, {"img_size": (96, 96, 96), "patch_size": (16, 16, 16)}
    ),
    "MedNeXt": Entry("mednext", flat=True),
    "MedNeXtB": Entry("mednext", flat=True),
    "MedNeXtL": Entry("mednext", flat=True),
    "MedNeXtM": Entry("mednext", flat=True),
    "MedNeXtS": Entry("mednext", flat=True),
    "MultiScalePatchDiscriminator": Entry(
        "patchgan",
        _CLASSIFY,
        {
            "spatial_dims": 2,
            "num_d": 2,
            "num_layers_d": 3,
            "channels": 8,
            "out_channels": 1,
        },
    ),
    "NaViT": Entry(
        "navit",
        _CLASSIFY,
        {
            "image_size": 96,
            "patch_size": 16,
            "hidden_size": 768,
            "mlp_dim": 3072,
            "num_layers": 12,
            "num_heads": 12,
        },
    ),
    "PatchDiscriminator": Entry(
        "patchgan", _CLASSIFY, {"channels": 64, "out_channels": 1}, flat=True
    ),
    "Quicknat": Entry("quicknat", options={"num_classes": 3}),
    "RegUNet": Entry("regunet", _CHANGE, {**_REGISTRATION, "out_channels": 3}),
    "Regressor": Entry(
        "regressor", _CLASSIFY, {"in_shape": (1, 64, 64), "out_shape": (2,), **_SMALL}
    ),
    "ResNetFeatures": Entry("resnet", _EMBED, {"model_name": "resnet10"}),
    "Restormer": Entry(
        "restormer",
        _CHANGE,
        {
            "spatial_dims": 2,
            "in_channels": 3,
            "out_channels": 3,
            "num_blocks": (4, 6, 6, 8),
            "heads": (1, 2, 4, 8),
        },
    ),
    "SEResNet101": Entry("resnet", _CLASSIFY, flat=True),
    "SEResNet152": Entry("resnet", _CLASSIFY, flat=True),
    "SEResNet50": Entry("resnet", _CLASSIFY, flat=True),
    "SEResNext101": Entry("resnet", _CLASSIFY, flat=True),
    "SEResNext50": Entry("resnet", _CLASSIFY, flat=True),
    "SENet154": Entry("senet", _CLASSIFY, flat=True),
    "SPADEAutoencoderKL": Entry(
        "autoencoder_kl", _CHANGE, {"out_channels": 1, "label_nc": 3}, flat=True
    ),
    "SPADEDiffusionModelUNet": Entry(
        "diffusion_unet", _CHANGE, {"out_channels": 1, "label_nc": 3}, flat=True
    ),
    "SPADENet": Entry(
        "spade",
        _CHANGE,
        {
            "spatial_dims": 2,
            "out_channels": 1,
            "label_nc": 3,
            "input_shape": [64, 64],
            "channels": [16, 32, 64],
            "z_dim": 64,
        },
    ),
    "SegResNet": Entry("segresnet", flat=True),
    "SegResNetDS": Entry("segresnet", flat=True),
    "SegResNetVAE": Entry("segresnet", options={"input_image_size": (64, 64, 64)}),
    "SwinUNETR": Entry("swin_unetr", options={"feature_size": 48}, flat=True),
    "TorchVisionFCModel": Entry(
        "resnet", _CLASSIFY, {"model_name": "resnet18", "in_channels": None}
    ),
    "UNETR": Entry("unetr", options={"img_size": (96, 96, 96)}),
    "UNet": Entry("unet", options={**_LEVELS, "num_res_units": 2}, flat=True),
    "VNet": Entry("vnet", flat=True),
    "VQVAE": Entry("vqvae", _CHANGE, {"out_channels": 1}, flat=True),
    "VarAutoEncoder": Entry(
        "autoencoder",
        _CHANGE,
        {"spatial_dims": 2, "in_shape": (1, 64, 64), "latent_size": 2, **_SMALL},
    ),
    "VarFullyConnectedNet": Entry(
        "mlp",
        "feature-extraction",
        {
            "in_channels": 10,
            "out_channels": 10,
            "latent_size": 2,
            "encode_channels": [8, 4],
            "decode_channels": [4, 8],
        },
    ),
    "ViT": Entry(
        "vit",
        _CLASSIFY,
        {"img_size": (96, 96, 96), "patch_size": (16, 16, 16), "classification": True},
    ),
    "ViTAutoEnc": Entry(
        "vit", _CHANGE, {"img_size": (96, 96, 96), "patch_size": (16, 16, 16), "out_channels": 1}
    ),
    "VoxelMorph": Entry("voxelmorph", _CHANGE),
    "VoxelMorphUNet": Entry(
        "voxelmorph",
        _CHANGE,
        {
            "in_channels": 2,
            "unet_out_channels": 32,
            "channels": (16, 32, 32, 32, 32, 32),
            "final_conv_channels": (16, 16),
        },
        flat=True,
    ),
    "resnet10": Entry("resnet", _CLASSIFY, _RESNET, flat=True),
    "resnet18": Entry("resnet", _CLASSIFY, _RESNET, flat=True),
    "resnet34": Entry("resnet", _CLASSIFY, _RESNET, flat=True),
    "resnet50": Entry("resnet", _CLASSIFY, _RESNET, flat=True),
    "resnet101": Entry("resnet", _CLASSIFY, _RESNET, flat=True),
    "resnet152": Entry("resnet", _CLASSIFY, _RESNET, flat=True),
    "resnet200": Entry("resnet", _CLASSIFY, _RESNET, flat=True),
    "vista3d132": Entry("vista3d"),
}
