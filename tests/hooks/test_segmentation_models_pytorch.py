"""What the plugin of segmentation_models_pytorch reads from its models, and builds."""

import contextlib
import sys

import pytest
import torch
from nar_plugin.hooks import segmentation_models_pytorch as plugin

from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.references import resolve
from nar_plugin.tracing import trace

smp = pytest.importorskip("segmentation_models_pytorch")
_PREFIX = "segmentation_models_pytorch"


@pytest.fixture(scope="module")
def listed() -> dict[str, NamedArchitecture]:
    return {item.name: item for item in plugin.nar_architectures()}


def test_every_decoder_and_every_encoder_is_listed(listed: dict[str, NamedArchitecture]) -> None:
    pairs = [name.partition(":")[2].split("/") for name in listed]
    assert {decoder for decoder, _ in pairs} == set(smp.MODEL_ARCHITECTURES_MAPPING)
    encoders = {encoder for decoder, encoder in pairs if decoder == "unet"}
    assert encoders == set(smp.encoders.get_encoder_names())


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("unet/resnet34", "unet"),
        ("unetplusplus/resnet34", "unetplusplus"),
        ("deeplabv3/resnet34", "deeplabv3"),
        ("fpn/resnet34", "fpn"),
    ],
)
def test_family_and_task(listed: dict[str, NamedArchitecture], name: str, family: str) -> None:
    found = listed[f"{_PREFIX}:{name}"]
    assert (found.family, found.task, found.licence) == (family, "image-segmentation", "MIT")


@pytest.mark.parametrize(
    "name",
    [
        "unet/resnet34",
        "unet/mit_b0",
        "pan/resnet34",
        "dpt/tu-vit_base_patch16_224.augreg_in21k",
        "fpn/tu-convnext_atto",
        "segformer",
    ],
)
def test_a_model_is_built_without_weights_and_traced(name: str) -> None:
    model = resolve(f"{_PREFIX}:{name}")
    assert all(parameter.is_meta for parameter in model.parameters())
    assert trace(model).method == "meta"


def test_the_documented_unet_has_its_known_size() -> None:
    model = resolve(f"{_PREFIX}:unet/resnet34")
    assert sum(parameter.numel() for parameter in model.parameters()) == 24_436_369


@pytest.mark.parametrize("channels", [1, 4, 13])
def test_the_image_has_the_channels_of_the_encoder(channels: int) -> None:
    with torch.device("meta"):
        model = smp.Unet("resnet18", encoder_weights=None, in_channels=channels, classes=5)
    guesses = plugin.nar_example_inputs(model)
    assert guesses is not None
    assert guesses[0].args[0].shape == (1, channels, 256, 256)
    assert trace(model).method == "meta"


def test_provenance_builds_the_model_again() -> None:
    with torch.device("meta"):
        model = smp.FPN("resnet18", encoder_weights=None)
    provenance = plugin.nar_provenance(model)
    assert provenance is not None
    assert provenance.name == f"{_PREFIX}:fpn/resnet18"
    assert trace(resolve(provenance.name)).fingerprint == trace(model).fingerprint


def test_other_models_are_left_to_other_plugins() -> None:
    plain = torch.nn.Conv2d(3, 8, 3)
    assert plugin.nar_provenance(plain) is None
    assert plugin.nar_example_inputs(plain) is None
    assert plugin.nar_build("timm:resnet18") is None


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(PluginError, match=f"{_PREFIX}:unet/resnet34"):
        plugin.nar_build(f"{_PREFIX}:unet/resnet3A")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, _PREFIX, None)
    assert list(plugin.nar_architectures()) == []
    with pytest.raises(PluginError, match="pip install segmentation-models-pytorch"):
        plugin.nar_build(f"{_PREFIX}:unet/resnet34")


@pytest.mark.slow
def test_a_sample_is_traced(listed: dict[str, NamedArchitecture]) -> None:
    names = [name for name, item in listed.items() if not item.composed]
    models = {name: resolve(name) for name in names}
    composed = [name for name, item in listed.items() if item.composed][::50]
    for name in composed:
        with contextlib.suppress(PluginError):  # the library refuses some pairs itself
            models[name] = resolve(name)
    assert len(models) >= len(names) + 0.8 * len(composed)
    assert [name for name, model in models.items() if trace(model).method != "meta"] == []
