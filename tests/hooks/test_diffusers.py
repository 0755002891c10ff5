"""What diffusers' plugin reads from diffusers' models, and how it builds them."""

import sys
from typing import Any

import pytest
import torch
from nar_plugin.hooks import diffusers as plugin

from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.references import resolve
from nar_plugin.tracing import trace

diffusers = pytest.importorskip("diffusers")

_BLOCKS = {"block_out_channels": (16, 32), "norm_num_groups": 8, "layers_per_block": 1}
_UNET = {
    **_BLOCKS,
    "sample_size": 16,
    "cross_attention_dim": 32,
    "attention_head_dim": 8,
    "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"),
    "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D"),
}


def _built(name: str, **config: Any) -> torch.nn.Module:
    with torch.device("meta"):
        model: torch.nn.Module = getattr(diffusers, name)(**config)
    return model


def _first(model: torch.nn.Module) -> dict[str, Any]:
    guesses = plugin.nar_example_inputs(model)
    assert guesses is not None
    return dict(next(iter(guesses)).kwargs)


@pytest.fixture(scope="module")
def listed() -> dict[str, NamedArchitecture]:
    return {item.name: item for item in plugin.nar_architectures()}


@pytest.mark.parametrize(
    ("name", "family", "task"),
    [
        ("UNet2DConditionModel", "unet_2d_condition", "text-to-image"),
        ("UNet2DModel", "unet_2d", "unconditional-image-generation"),
        ("AutoencoderKL", "autoencoder_kl", "image-to-image"),
        ("AutoencoderKLWan", "autoencoder_kl_wan", "video-to-video"),
        ("AutoencoderKLCogVideoX", "autoencoder_kl_cogvideox", "video-to-video"),
        ("AutoencoderOobleck", "autoencoder_oobleck", "feature-extraction"),
        ("FluxTransformer2DModel", "flux", "text-to-image"),
        ("FluxControlNetModel", "flux", "image-to-image"),
        ("WanTransformer3DModel", "wan", "text-to-video"),
        ("StableAudioDiTModel", "stable_audio", "text-to-audio"),
    ],
)
def test_family_and_task(
    listed: dict[str, NamedArchitecture], name: str, family: str, task: str
) -> None:
    found = listed[f"diffusers:{name}"]
    assert (found.family, found.task, found.licence) == (family, task, "Apache-2.0")


def test_what_cannot_run_by_itself_is_not_listed(listed: dict[str, NamedArchitecture]) -> None:
    names = {"ModelMixin", "MotionAdapter", "ControlNetXSAdapter"}
    assert not names & {name.partition(":")[2] for name in listed}


@pytest.mark.parametrize(
    "name",
    [
        "AutoencoderKL",
        "UNet2DModel",
        "UNet2DConditionModel",
        "ControlNetModel",
        "MultiControlNetModel",
        "DiTTransformer2DModel",
        "PixArtTransformer2DModel",
        "LatteTransformer3DModel",
        "StableCascadeUNet",
        "T5FilmDecoder",
        "UVit2DModel",
        "ZImageControlNetModel",
    ],
)
def test_a_model_is_built_without_weights_and_traced(name: str) -> None:
    model = resolve(f"diffusers:{name}")
    assert all(parameter.is_meta for parameter in model.parameters())
    assert trace(model).method == "meta"


def test_the_unet_of_stable_diffusion_has_its_published_size() -> None:
    model = _built("UNet2DConditionModel", cross_attention_dim=768, sample_size=64)
    assert sum(parameter.numel() for parameter in model.parameters()) == 859_520_964
    assert _first(model)["encoder_hidden_states"].shape == (1, 77, 768)


def test_sizes_come_from_the_configuration() -> None:
    given = _first(_built("UNet2DConditionModel", **_UNET))
    assert given["sample"].shape == (1, 4, 16, 16)
    assert given["encoder_hidden_states"].shape[-1] == 32
    assert "added_cond_kwargs" not in given


def test_sdxl_is_given_text_and_sizes_beside_the_cross_attention() -> None:
    model = _built(
        "UNet2DConditionModel",
        **_UNET,
        addition_embed_type="text_time",
        addition_time_embed_dim=8,
        projection_class_embeddings_input_dim=80,
    )
    added = _first(model)["added_cond_kwargs"]
    assert added["text_embeds"].shape == (1, 80 - 6 * 8)  # six sizes, each embedded in 8 channels
    assert added["time_ids"].shape == (1, 6)
    assert trace(model).method == "meta"


@pytest.mark.parametrize(
    ("name", "config"),
    [
        (
            "UNet2DConditionModel",
            {**_UNET, "class_embed_type": "projection", "projection_class_embeddings_input_dim": 5},
        ),
        (
            "UNet2DConditionModel",
            {**_UNET, "encoder_hid_dim": 24, "encoder_hid_dim_type": "image_proj"},
        ),
        (
            "UNet2DModel",
            {
                **_BLOCKS,
                "in_channels": 1,
                "num_class_embeds": 10,
                "attention_head_dim": 8,
                "down_block_types": ("DownBlock2D", "AttnDownBlock2D"),
                "up_block_types": ("AttnUpBlock2D", "UpBlock2D"),
            },
        ),
        (
            "FluxTransformer2DModel",
            {
                "in_channels": 4,
                "num_layers": 1,
                "num_single_layers": 1,
                "attention_head_dim": 16,
                "num_attention_heads": 2,
                "joint_attention_dim": 24,
                "pooled_projection_dim": 12,
                "guidance_embeds": True,
                "axes_dims_rope": (4, 4, 8),
            },
        ),
        (
            "WanTransformer3DModel",
            {
                "num_attention_heads": 2,
                "attention_head_dim": 12,
                "in_channels": 5,
                "text_dim": 16,
                "ffn_dim": 32,
                "num_layers": 1,
            },
        ),
    ],
)
def test_a_model_of_another_configuration_is_traced(name: str, config: dict[str, Any]) -> None:
    assert trace(_built(name, **config)).method == "meta"


def test_a_subclass_is_known_by_its_parent() -> None:
    class Mine(diffusers.UNet2DConditionModel):  # type: ignore[misc, name-defined]
        pass

    with torch.device("meta"):
        provenance = plugin.nar_provenance(Mine(**_UNET))
    assert provenance is not None
    assert provenance.name == "diffusers:UNet2DConditionModel"


def test_other_models_are_left_to_other_plugins() -> None:
    plain = torch.nn.Conv2d(3, 8, 3)
    assert plugin.nar_provenance(plain) is None
    assert plugin.nar_example_inputs(plain) is None
    assert plugin.nar_build("timm:resnet18") is None


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(PluginError, match="diffusers:UNet2DModel"):
        plugin.nar_build("diffusers:UNet2dModel")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "diffusers", None)
    assert list(plugin.nar_architectures()) == []
    with pytest.raises(PluginError, match="pip install diffusers"):
        plugin.nar_build("diffusers:UNet2DModel")


@pytest.mark.slow
def test_most_of_a_sample_is_traced_without_being_asked_for_inputs(
    listed: dict[str, NamedArchitecture],
) -> None:
    names = list(listed)[::4]  # all of them: `nar dev bench coverage diffusers`
    built, traced = 0, 0
    for name in names:
        try:
            model = resolve(name)
        except Exception:
            continue
        built += 1
        traced += trace(model).method == "meta"
    assert built >= 0.85 * len(names)
    assert traced >= 0.97 * built
