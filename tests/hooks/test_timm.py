"""What timm's plugin reads from timm's models, and how it builds them."""

import pytest
import torch
from nar_plugin.hooks import timm as plugin


@pytest.fixture(autouse=True)
def timm(installed):
    return installed("timm")


def test_every_listed_name_is_a_reference_of_its_own(timm, listed):
    assert list(listed("timm")) == [*timm.list_models(), *timm.list_pretrained()]


def test_the_page_is_that_of_the_default_weights(timm, listed):
    tag = timm.get_pretrained_cfg("resnet50").tag
    assert listed("timm")["resnet50"].url == f"https://huggingface.co/timm/resnet50.{tag}"


@pytest.mark.parametrize(
    ("name", "options", "shape"),
    [
        ("resnet18", {"features_only": True}, (1, 3, 224, 224)),
        ("resnet18", {"num_classes": 0, "in_chans": 1}, (1, 1, 224, 224)),
        ("resnet18", {"in_chans": 4}, (1, 4, 224, 224)),
        ("vit_tiny_patch16_224", {"img_size": 96}, (1, 3, 96, 96)),
    ],
)
def test_the_first_guess_fits_changed_models(name, options, shape, timm):
    with torch.device("meta"):
        model = timm.create_model(name, **options)
        (image,) = plugin.nar_example_inputs(model)[0].args
        assert image.shape == shape
        model(image)


def test_unusual_channels_are_the_second_guess(timm):
    with torch.device("meta"):
        guesses = plugin.nar_example_inputs(timm.create_model("resnet18", in_chans=6))
    assert [guess.args[0].shape[1] for guess in guesses] == [3, 6]
