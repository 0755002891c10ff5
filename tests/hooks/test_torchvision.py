"""What torchvision's plugin reads from torchvision's models, and how it builds them."""

import sys

import pytest
import torch
from nar_plugin.hooks import torchvision as plugin

from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.references import resolve
from nar_plugin.tracing import trace

torchvision = pytest.importorskip("torchvision")


@pytest.fixture(scope="module")
def listed() -> dict[str, NamedArchitecture]:
    return {item.name: item for item in plugin.nar_architectures()}


def test_every_listed_name_is_a_reference_of_its_own(listed: dict[str, NamedArchitecture]) -> None:
    assert list(listed) == [f"torchvision:{name}" for name in torchvision.models.list_models()]


@pytest.mark.parametrize(
    ("name", "family", "task"),
    [
        ("resnet50", "resnet", "image-classification"),
        ("quantized_resnet50", "resnet", "image-classification"),
        ("vit_b_16", "vit", "image-classification"),
        ("swin_v2_t", "swinv2", "image-classification"),
        ("r3d_18", "video_resnet", "video-classification"),
        ("fasterrcnn_resnet50_fpn", "faster_rcnn", "object-detection"),
        ("deeplabv3_resnet50", "deeplabv3", "image-segmentation"),
        ("raft_small", "raft", "optical-flow"),
    ],
)
def test_family_and_task(
    listed: dict[str, NamedArchitecture], name: str, family: str, task: str
) -> None:
    found = listed[f"torchvision:{name}"]
    assert (found.family, found.task, found.licence) == (family, task, "BSD-3-Clause")


@pytest.mark.parametrize(
    "name",
    [
        "resnet18",
        "vit_b_32",
        "inception_v3",
        "regnet_y_400mf",
        "quantized_mobilenet_v2",
        "lraspp_mobilenet_v3_large",
        "r3d_18",
        "mvit_v2_s",
        "raft_small",
    ],
)
def test_a_model_is_built_without_weights_and_traced(name: str) -> None:
    with torch.device("meta"):
        model = plugin.nar_build(f"torchvision:{name}")
    assert model is not None
    assert all(parameter.is_meta for parameter in model.parameters())
    assert len(trace(model)) > 0


def test_a_detector_is_given_a_list_of_images() -> None:
    with torch.device("meta"):
        model = plugin.nar_build("torchvision:fasterrcnn_mobilenet_v3_large_320_fpn")
    assert model is not None
    guesses = plugin.nar_example_inputs(model)
    assert guesses is not None
    ((image,),) = guesses[0].args
    assert image.shape == (3, 320, 320)


def test_widths_of_a_regnet_are_those_of_the_real_one() -> None:
    with torch.device("meta"):
        model = plugin.nar_build("torchvision:regnet_y_400mf")
    assert model is not None
    published = torchvision.models.RegNet_Y_400MF_Weights.DEFAULT.meta["num_params"]
    assert sum(parameter.numel() for parameter in model.parameters()) == published


@pytest.mark.parametrize("name", ["efficientnet_b3", "inception_v3", "swin_v2_t", "vit_b_16"])
def test_flops_are_of_the_published_size(name: str) -> None:
    weights = next(iter(torchvision.models.get_model_weights(name)))
    giga = trace(resolve(f"torchvision:{name}")).flops / 2e9
    assert giga == pytest.approx(weights.meta["_ops"], rel=0.01)


def test_a_subclass_is_known_by_its_parent() -> None:
    class Mine(torchvision.models.ResNet):  # type: ignore[misc, name-defined]
        pass

    with torch.device("meta"):
        model = Mine(torchvision.models.resnet.BasicBlock, [1, 1, 1, 1])
    provenance = plugin.nar_provenance(model)
    assert provenance is not None
    assert (provenance.name, provenance.library) == ("torchvision:ResNet", "torchvision")


def test_other_models_are_left_to_other_plugins() -> None:
    plain = torch.nn.Conv2d(3, 8, 3)
    assert plugin.nar_provenance(plain) is None
    assert plugin.nar_example_inputs(plain) is None
    assert plugin.nar_build("timm:resnet18") is None


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(PluginError, match="torchvision:resnet50"):
        plugin.nar_build("torchvision:resnet5O")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchvision", None)
    assert list(plugin.nar_architectures()) == []
    with pytest.raises(PluginError, match="pip install torchvision"):
        plugin.nar_build("torchvision:resnet50")
