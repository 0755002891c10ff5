"""What pytorchcv's plugin reads from pytorchcv's models, and how it builds them."""

import sys

import pytest
import torch
from nar_plugin.hooks import pytorchcv as plugin

from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

pytest.importorskip("pytorchcv")
from pytorchcv.model_provider import get_model


@pytest.fixture(scope="module")
def listed() -> dict[str, NamedArchitecture]:
    return {item.name: item for item in plugin.nar_architectures()}


@pytest.mark.parametrize(
    ("name", "family", "task"),
    [
        ("resnet18", "resnet", "image-classification"),
        ("seresnet56_cifar10", "seresnet", "image-classification"),
        ("preresnet18", "resnetv2", "image-classification"),
        ("mobilenet_w1_cub", "mobilenetv1", "image-classification"),
        ("deeplabv3_resnetd50b_voc", "deeplabv3", "image-segmentation"),
        ("simplepose_resnet18_coco", "simplepose", "keypoint-detection"),
        ("quartznet15x5_en", "quartznet", "automatic-speech-recognition"),
        ("raft_small", "raft", "optical-flow"),
    ],
)
def test_family_and_task(
    listed: dict[str, NamedArchitecture], name: str, family: str, task: str
) -> None:
    found = listed[f"pytorchcv:{name}"]
    assert (found.family, found.task, found.licence) == (family, task, "MIT")


# The counts stand in the tests of pytorchcv's own modules.
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("resnet18", 11689512),
        ("squeezenet_v1_0", 1248424),
        ("nin_cifar10", 966986),
        ("irevnet301", 125120356),
        ("voca8flame", 809563),
        ("nvpattexp116bazel76", 327397),
        ("visemenet20", 14574303),
        ("raft_small", 990162),
        ("propainter", 39429667),
    ],
)
def test_a_model_is_built_without_weights_and_traced(name: str, parameters: int) -> None:
    model = built(lambda: plugin.nar_build(f"pytorchcv:{name}"))
    assert model is not None
    assert all(parameter.is_meta for parameter in model.parameters())
    graph = trace(model)
    assert (graph.method, graph.params) == ("meta", parameters)


def test_a_speech_model_starts_at_the_spectrogram() -> None:
    model = built(lambda: plugin.nar_build("pytorchcv:quartznet5x5_en_ls"))
    assert model is not None
    guesses = plugin.nar_example_inputs(model)
    assert guesses is not None
    spectrogram, length = guesses[0].args
    assert spectrogram.shape[1] == 64
    assert length.tolist() == [spectrogram.shape[2]]


def test_the_first_guess_fits_changed_models() -> None:
    with torch.device("meta"):
        model = get_model("resnet18", in_channels=1, in_size=(64, 96), num_classes=5)
    guesses = plugin.nar_example_inputs(model)
    assert guesses is not None
    assert guesses[0].args[0].shape == (1, 1, 64, 96)
    assert trace(model).method == "meta"


def test_a_model_is_known_by_its_class() -> None:
    with torch.device("meta"):
        provenance = plugin.nar_provenance(get_model("resnet18"))
    assert provenance is not None
    assert (provenance.name, provenance.library) == ("pytorchcv:ResNet", "pytorchcv")


def test_other_models_are_left_to_other_plugins() -> None:
    plain = torch.nn.Conv2d(3, 8, 3)
    assert plugin.nar_provenance(plain) is None
    assert plugin.nar_example_inputs(plain) is None
    assert plugin.nar_build("timm:resnet18") is None


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(PluginError, match="pytorchcv:resnet50"):
        plugin.nar_build("pytorchcv:resnet5O")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pytorchcv.model_provider", None)
    assert list(plugin.nar_architectures()) == []
    with pytest.raises(PluginError, match="pip install pytorchcv"):
        plugin.nar_build("pytorchcv:resnet18")
