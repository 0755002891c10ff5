"""What diffusers' plugin reads from diffusers' models, and how it builds them."""

import pytest
from nar_plugin.hooks import diffusers as plugin

from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

_BLOCKS = {"block_out_channels": (16, 32), "norm_num_groups": 8, "layers_per_block": 1}
_UNET = {
    **_BLOCKS,
    "sample_size": 16,
    "cross_attention_dim": 32,
    "attention_head_dim": 8,
    "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"),
    "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D"),
}


@pytest.fixture(autouse=True)
def library(installed):
    return installed("diffusers")


@pytest.fixture
def build(library):
    return lambda name, **config: built(lambda: getattr(library, name)(**config))


def _first(model):
    return next(iter(plugin.nar_example_inputs(model))).kwargs


def test_what_cannot_run_by_itself_is_not_listed(listed):
    assert not {"ModelMixin", "MotionAdapter", "ControlNetXSAdapter"} & set(listed("diffusers"))


def test_the_unet_of_stable_diffusion_has_its_published_size(build):
    model = build("UNet2DConditionModel", cross_attention_dim=768, sample_size=64)
    assert sum(parameter.numel() for parameter in model.parameters()) == 859_520_964
    assert _first(model)["encoder_hidden_states"].shape == (1, 77, 768)


def test_sizes_come_from_the_configuration(build):
    given = _first(build("UNet2DConditionModel", **_UNET))
    assert given["sample"].shape == (1, 4, 16, 16)
    assert given["encoder_hidden_states"].shape[-1] == 32
    assert "added_cond_kwargs" not in given


def test_sdxl_is_given_text_and_sizes_beside_the_cross_attention(build):
    model = build(
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
def test_a_model_of_another_configuration_is_traced(name, config, build):
    assert trace(build(name, **config)).method == "meta"


def test_a_subclass_is_known_by_its_parent(library):
    class Mine(library.UNet2DConditionModel):
        pass

    provenance = plugin.nar_provenance(built(lambda: Mine(**_UNET)))
    assert provenance.name == "diffusers:UNet2DConditionModel"
