"""What open_clip's plugin reads from open_clip's models, and how it builds them."""

import sys

import pytest
import torch
from nar_plugin.hooks import open_clip as plugin

from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.references import resolve
from nar_plugin.tracing import trace

open_clip = pytest.importorskip("open_clip")


@pytest.fixture(scope="module")
def listed() -> dict[str, NamedArchitecture]:
    return {item.name: item for item in plugin.nar_architectures()}


def test_every_listed_name_is_a_reference_of_its_own(listed: dict[str, NamedArchitecture]) -> None:
    assert list(listed) == [f"open_clip:{name}" for name in open_clip.list_models()]


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("ViT-B-32", "clip"),
        ("RN50", "clip"),
        ("coca_ViT-B-32", "coca"),
        ("ViT-B-16-SigLIP", "siglip"),
        ("ViT-B-16-SigLIP2", "siglip2"),
    ],
)
def test_family_and_task(listed: dict[str, NamedArchitecture], name: str, family: str) -> None:
    found = listed[f"open_clip:{name}"]
    assert (found.family, found.licence) == (family, "MIT")
    assert found.task == "zero-shot-image-classification"


# In millions, from docs/model_profile.csv of the library.
@pytest.mark.parametrize(
    ("name", "millions"),
    [
        ("ViT-B-32", 151.28),
        ("RN50", 102.01),
        ("roberta-ViT-B-32", 212.72),
        ("mt5-base-ViT-B-32", 365.71),
        ("xlm-roberta-base-ViT-B-32", 366.12),
        ("ViT-B-16-SigLIP", 203.16),
    ],
)
def test_a_model_has_its_published_size_and_is_traced(name: str, millions: float) -> None:
    model = resolve(f"open_clip:{name}")
    assert all(parameter.is_meta for parameter in model.parameters())
    count = sum(parameter.numel() for parameter in model.parameters())
    assert count / 1e6 == pytest.approx(millions, abs=0.01)
    assert trace(model).method == "meta"


def test_captions_are_as_long_as_the_text_tower_takes() -> None:
    guesses = plugin.nar_example_inputs(resolve("open_clip:coca_ViT-B-32"))
    assert guesses is not None
    image, text = guesses[0].args
    assert image.shape == (1, 3, 224, 224)
    assert text.shape == (1, 76)  # the class token is the 77th


@pytest.mark.parametrize("part", ["whole", "visual", "text"])
def test_a_model_of_another_configuration_is_traced(part: str) -> None:
    towers = {
        "vision_cfg": {"image_size": 96, "layers": 2, "width": 96, "patch_size": 16},
        "text_cfg": {"context_length": 20, "vocab_size": 500, "width": 64, "heads": 2, "layers": 2},
    }
    with torch.device("meta"):
        model = open_clip.CustomTextCLIP(embed_dim=32, **towers)
    guesses = plugin.nar_example_inputs(model)
    assert guesses is not None
    image, text = guesses[0].args
    assert (image.shape, text.shape) == ((1, 3, 96, 96), (1, 20))
    assert int(text.max()) == 499
    assert trace(model if part == "whole" else getattr(model, part)).method == "meta"


def test_provenance_is_the_class() -> None:
    provenance = plugin.nar_provenance(resolve("open_clip:ViT-B-32"))
    assert provenance is not None
    assert (provenance.name, provenance.library) == ("open_clip:CLIP", "open_clip_torch")


def test_other_models_are_left_to_other_plugins() -> None:
    plain = torch.nn.Conv2d(3, 8, 3)
    assert plugin.nar_provenance(plain) is None
    assert plugin.nar_example_inputs(plain) is None
    assert plugin.nar_build("timm:resnet18") is None


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(PluginError, match="open_clip:ViT-B-32"):
        plugin.nar_build("open_clip:ViT-B-3Z")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "open_clip", None)
    assert list(plugin.nar_architectures()) == []
    with pytest.raises(PluginError, match="pip install open_clip_torch"):
        plugin.nar_build("open_clip:RN50")


@pytest.mark.slow
def test_a_sample_is_traced(listed: dict[str, NamedArchitecture]) -> None:
    names = list(listed)[::4]  # all of them: `nar dev bench coverage`
    assert [name for name in names if trace(resolve(name)).method != "meta"] == []
