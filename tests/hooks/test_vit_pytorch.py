"""What vit-pytorch's plugin reads from vit-pytorch's models, and how it builds them."""

import sys

import pytest
import torch
from nar_plugin.hooks import vit_pytorch as plugin
from torch import nn

from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

pytest.importorskip("vit_pytorch")
from vit_pytorch import SimpleViT, ViT
from vit_pytorch.cct import CCT
from vit_pytorch.extractor import Extractor
from vit_pytorch.na_vit import NaViT
from vit_pytorch.vit_3d import ViT as ViT3d

SMALL = {"num_classes": 10, "dim": 64, "depth": 2, "heads": 4, "mlp_dim": 128}


@pytest.fixture(scope="module")
def listed() -> dict[str, NamedArchitecture]:
    return {item.name: item for item in plugin.nar_architectures()}


@pytest.mark.parametrize(
    ("name", "family", "task"),
    [
        ("ViT", "vit", "image-classification"),
        ("cait.CaiT", "cait", "image-classification"),
        ("max_vit.MaxViT", "maxvit", "image-classification"),
        ("vivit.ViViT", "vivit", "video-classification"),
        ("simple_vit_1d.SimpleViT", "vit", "time-series-classification"),
    ],
)
def test_family_and_task(
    listed: dict[str, NamedArchitecture], name: str, family: str, task: str
) -> None:
    found = listed[f"vit_pytorch:{name}"]
    assert (found.family, found.task, found.licence) == (family, task, "MIT")


@pytest.mark.parametrize(
    "name",
    [
        "ViT",
        "LoopedViT",
        "cait.CaiT",
        "cct_3d.CCT",
        "cvt.CvT",
        "twins_svt.TwinsSVT",
        "vit_nd.ViTND",
    ],
)
def test_a_model_is_built_without_weights_and_traced(name: str) -> None:
    model = built(lambda: plugin.nar_build(f"vit_pytorch:{name}"))
    assert model is not None
    assert all(parameter.is_meta for parameter in model.parameters())
    assert trace(model).method == "meta"


def _small(name: str) -> nn.Module:
    models = {
        "small": lambda: ViT(image_size=64, patch_size=8, **SMALL),
        "one channel, tall": lambda: ViT(
            image_size=(256, 128), patch_size=(32, 16), channels=1, **SMALL
        ),
        "simple": lambda: SimpleViT(image_size=48, patch_size=16, **SMALL),
        "wrapped": lambda: Extractor(ViT(image_size=64, patch_size=8, **SMALL)),
        "film": lambda: ViT3d(
            image_size=32, image_patch_size=16, frames=4, frame_patch_size=2, **SMALL
        ),
        "convolutions": lambda: CCT(
            img_size=(32, 64),
            embedding_dim=64,
            n_conv_layers=1,
            num_layers=2,
            num_heads=2,
            num_classes=10,
            mlp_ratio=1.0,
            positional_embedding="learnable",
        ),
    }
    return built(models[name])


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("small", (1, 3, 64, 64)),
        ("one channel, tall", (1, 1, 256, 128)),
        ("simple", (1, 3, 48, 48)),
        ("wrapped", (1, 3, 64, 64)),
        ("film", (1, 3, 4, 32, 32)),
        ("convolutions", (1, 3, 32, 64)),
    ],
)
def test_the_input_comes_from_patches_and_positions(name: str, shape: tuple[int, ...]) -> None:
    model = _small(name)
    guesses = plugin.nar_example_inputs(model)
    assert guesses is not None
    assert shape in [tuple(guess.args[0].shape) for guess in guesses]
    assert trace(model).method == "meta"


def test_images_of_any_size_come_packed() -> None:
    with torch.device("meta"):
        model = NaViT(image_size=64, patch_size=16, **SMALL)
    guesses = plugin.nar_example_inputs(model)
    assert guesses is not None
    ((pack,),) = guesses[0].args
    assert pack[0].shape[0] == 3
    assert trace(model).method == "meta"


@pytest.mark.parametrize("name", ["vit_pytorch:ViT", "vit_pytorch:cait.CaiT"])
def test_provenance_builds_the_model_again(name: str) -> None:
    model = built(lambda: plugin.nar_build(name))
    assert model is not None
    provenance = plugin.nar_provenance(model)
    assert provenance is not None
    assert provenance.name == name


def test_other_models_are_left_to_other_plugins() -> None:
    plain = nn.Conv2d(3, 8, 3)
    assert plugin.nar_provenance(plain) is None
    assert plugin.nar_example_inputs(plain) is None
    assert plugin.nar_build("timm:resnet18") is None


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(PluginError, match=r"vit_pytorch:cait\.CaiT"):
        plugin.nar_build("vit_pytorch:cait.CaIT")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vit_pytorch", None)
    assert list(plugin.nar_architectures()) == []
    with pytest.raises(PluginError, match="pip install vit_pytorch"):
        plugin.nar_build("vit_pytorch:ViT")
