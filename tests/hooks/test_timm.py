"""What timm's plugin reads from timm's models, and how it builds them."""

import sys

import pytest
import torch
from nar_plugin.hooks import timm as plugin

from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.tracing import trace

timm = pytest.importorskip("timm")


@pytest.fixture(scope="module")
def listed() -> dict[str, NamedArchitecture]:
    return {item.name: item for item in plugin.nar_architectures()}


def test_every_listed_name_is_a_reference_of_its_own(listed: dict[str, NamedArchitecture]) -> None:
    names = (*timm.list_models(), *timm.list_pretrained())
    assert list(listed) == [f"timm:{name}" for name in names]


def test_a_checkpoint_has_its_repository(listed: dict[str, NamedArchitecture]) -> None:
    assert listed["timm:resnet50.a1_in1k"].hub_id == "timm/resnet50.a1_in1k"


@pytest.mark.parametrize(
    ("name", "family", "task"),
    [
        ("resnet50", "resnet", "image-classification"),
        ("vit_base_patch16_224", "vit", "image-classification"),
        ("swin_tiny_patch4_window7_224", "swin", "image-classification"),
        ("mobilenetv2_100", "mobilenetv2", "image-classification"),
        ("efficientnet_b0", "efficientnet", "image-classification"),
        ("vit_small_patch14_dinov2", "vit", "image-feature-extraction"),
        # Heads that project to an embedding, and one that was trained on labels in its place
        ("vit_base_patch16_clip_224.openai", "vit", "image-feature-extraction"),
        ("resnet50_clip.openai", "byobnet", "image-feature-extraction"),
        ("vit_base_patch16_clip_224.openai_ft_in1k", "vit", "image-classification"),
        # Label sets beside those that timm has names for
        ("mvitv2_base_cls.fb_inw21k", "mvitv2", "image-classification"),
        ("vit_base_patch16_224.bamboo", "vit", "image-classification"),
    ],
)
def test_family_and_task(
    listed: dict[str, NamedArchitecture], name: str, family: str, task: str
) -> None:
    found = listed[f"timm:{name}"]
    assert (found.family, found.task, found.licence) == (family, task, "Apache-2.0")


def test_the_page_is_that_of_the_default_weights(listed: dict[str, NamedArchitecture]) -> None:
    tag = timm.get_pretrained_cfg("resnet50").tag
    assert listed["timm:resnet50"].url == f"https://huggingface.co/timm/resnet50.{tag}"


@pytest.mark.parametrize(
    "name",
    [
        "resnet18",
        "vit_tiny_patch16_224",
        "convnext_atto",
        "efficientformer_l1",
        "naflexvit_base_patch16_gap",
        "mobilevit_xxs",
    ],
)
def test_a_model_is_built_without_weights_and_traced(name: str) -> None:
    with torch.device("meta"):
        model = plugin.nar_build(f"timm:{name}")
    assert model is not None
    assert all(parameter.is_meta for parameter in model.parameters())
    assert len(trace(model)) > 0


@pytest.mark.parametrize("name", ["timm:resnet50.a1_in1k", "timm:botnet26t_256.c1_in1k"])
def test_a_tag_is_kept(name: str) -> None:
    with torch.device("meta"):
        model = plugin.nar_build(name)
    assert model is not None
    provenance = plugin.nar_provenance(model)
    assert provenance is not None
    assert provenance.name == name
    assert provenance.hub_id == name.replace(":", "/")


def test_provenance_of_a_model_without_published_weights_builds_it_again() -> None:
    with torch.device("meta"):
        model = plugin.nar_build("timm:botnet50ts_256")
        assert model is not None
        provenance = plugin.nar_provenance(model)
        assert provenance is not None
        assert type(plugin.nar_build(provenance.name)) is type(model)


@pytest.mark.parametrize(
    ("name", "options", "shape"),
    [
        ("resnet18", {"features_only": True}, (1, 3, 224, 224)),
        ("resnet18", {"num_classes": 0, "in_chans": 1}, (1, 1, 224, 224)),
        ("resnet18", {"in_chans": 4}, (1, 4, 224, 224)),
        ("vit_tiny_patch16_224", {"img_size": 96}, (1, 3, 96, 96)),
    ],
)
def test_the_first_guess_fits_changed_models(
    name: str, options: dict[str, object], shape: tuple[int, ...]
) -> None:
    with torch.device("meta"):
        model = timm.create_model(name, **options)
        guesses = plugin.nar_example_inputs(model)
        assert guesses is not None
        (image,) = guesses[0].args
        assert image.shape == shape
        model(image)


def test_unusual_channels_are_the_second_guess() -> None:
    with torch.device("meta"):
        guesses = plugin.nar_example_inputs(timm.create_model("resnet18", in_chans=6))
    assert guesses is not None
    assert [guess.args[0].shape[1] for guess in guesses] == [3, 6]


def test_other_models_are_left_to_other_plugins() -> None:
    plain = torch.nn.Conv2d(3, 8, 3)
    assert plugin.nar_provenance(plain) is None
    assert plugin.nar_example_inputs(plain) is None
    assert plugin.nar_build("torchvision:resnet18") is None


@pytest.mark.parametrize(
    ("name", "near"),
    [("timm:resnet5O", "timm:resnet50"), ("timm:resnet50.a1_in1", "timm:resnet50.a1_in1k")],
)
def test_an_unknown_name_is_answered_with_the_nearest(name: str, near: str) -> None:
    with pytest.raises(PluginError, match=near):
        plugin.nar_build(name)


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "timm", None)
    assert list(plugin.nar_architectures()) == []
    with pytest.raises(PluginError, match=r"pip install nar-plugin\[timm\]"):
        plugin.nar_build("timm:resnet50")
