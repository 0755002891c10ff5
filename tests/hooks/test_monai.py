"""What MONAI's plugin reads from MONAI's networks, and how it builds them."""

import sys

import pytest
import torch
from nar_plugin.hooks import monai as plugin
from torch import nn

from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

pytest.importorskip("monai")
from monai.networks import nets


@pytest.fixture(scope="module")
def listed() -> dict[str, NamedArchitecture]:
    return {item.name: item for item in plugin.nar_architectures()}


@pytest.mark.parametrize(
    ("name", "family", "task"),
    [
        ("UNet/2d", "unet", "image-segmentation"),
        ("UNETR", "unetr", "image-segmentation"),
        ("resnet50", "resnet", "image-classification"),
        ("ViT", "vit", "image-classification"),
        ("DecoderOnlyTransformer", "gpt", "text-generation"),
    ],
)
def test_family_and_task(
    listed: dict[str, NamedArchitecture], name: str, family: str, task: str
) -> None:
    found = listed[f"monai:{name}"]
    assert (found.family, found.task, found.licence) == (family, task, "Apache-2.0")


@pytest.mark.parametrize(
    "name",
    [
        "UNet",
        "UNet/2d",
        "UNETR",
        "DiffusionModelUNet/2d",
        "FullyConnectedNet",
        "Generator",
        "MILModel",
        "NaViT",
        "SPADENet",
        "VoxelMorph",
        "vista3d132",
    ],
)
def test_a_network_is_built_without_weights_and_traced(name: str) -> None:
    model = built(lambda: plugin.nar_build(f"monai:{name}"))
    assert model is not None
    assert all(parameter.is_meta for parameter in model.parameters())
    assert trace(model).method == "meta"


def _changed(name: str) -> nn.Module:
    models = {
        "flat UNETR": lambda: nets.UNETR(3, 4, img_size=(64, 64), spatial_dims=2),
        "long UNETR": lambda: nets.UNETR(2, 4, img_size=(32, 64, 32)),
        "flat ViT": lambda: nets.ViT(3, img_size=(64, 96), patch_size=16, spatial_dims=2),
        "flat SwinUNETR": lambda: nets.SwinUNETR(4, 3, feature_size=24, spatial_dims=2),
    }
    return built(models[name])


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("flat UNETR", (1, 3, 64, 64)),
        ("long UNETR", (1, 2, 32, 64, 32)),
        ("flat ViT", (1, 3, 64, 96)),
        ("flat SwinUNETR", (1, 4, 256, 256)),
    ],
)
def test_the_first_guess_fits_changed_networks(name: str, shape: tuple[int, ...]) -> None:
    model = _changed(name)
    guesses = plugin.nar_example_inputs(model)
    assert guesses is not None
    assert tuple(guesses[0].args[0].shape) == shape
    assert trace(model).method == "meta"


def test_conditions_are_as_wide_as_what_reads_them() -> None:
    with torch.device("meta"):
        model = nets.DiffusionModelUNet(
            spatial_dims=2,
            in_channels=4,
            out_channels=4,
            with_conditioning=True,
            cross_attention_dim=33,
            num_class_embeds=5,
        )
    guesses = plugin.nar_example_inputs(model)
    assert guesses is not None
    assert guesses[0].kwargs["context"].shape[2] == 33
    assert set(guesses[0].kwargs) == {"timesteps", "context", "class_labels"}


def test_a_network_is_known_by_its_class() -> None:
    with torch.device("meta"):
        provenance = plugin.nar_provenance(nets.SegResNet())
    assert provenance is not None
    assert (provenance.name, provenance.library) == ("monai:SegResNet", "monai")


def test_other_models_are_left_to_other_plugins() -> None:
    plain = nn.Conv2d(3, 8, 3)
    assert plugin.nar_provenance(plain) is None
    assert plugin.nar_example_inputs(plain) is None
    assert plugin.nar_build("timm:resnet18") is None


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(PluginError, match="monai:UNETR"):
        plugin.nar_build("monai:UNETRR")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "monai.networks", None)
    assert list(plugin.nar_architectures()) == []
    with pytest.raises(PluginError, match="pip install monai"):
        plugin.nar_build("monai:UNet")
