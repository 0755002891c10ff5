"""What open_clip's plugin reads from open_clip's models, and how it builds them."""

import pytest
import torch
from nar_plugin.hooks import open_clip as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace


@pytest.fixture(autouse=True)
def library(installed):
    return installed("open_clip")


def test_every_listed_name_is_a_reference_of_its_own(library, listed):
    assert list(listed("open_clip")) == library.list_models()


def test_captions_are_as_long_as_the_text_tower_takes():
    image, text = plugin.nar_example_inputs(resolve("open_clip:coca_ViT-B-32"))[0].args
    assert image.shape == (1, 3, 224, 224)
    assert text.shape == (1, 76)  # the class token is the 77th


@pytest.mark.parametrize("part", ["whole", "visual", "text"])
def test_a_model_of_another_configuration_is_traced(part, library):
    towers = {
        "vision_cfg": {"image_size": 96, "layers": 2, "width": 96, "patch_size": 16},
        "text_cfg": {"context_length": 20, "vocab_size": 500, "width": 64, "heads": 2, "layers": 2},
    }
    with torch.device("meta"):
        model = library.CustomTextCLIP(embed_dim=32, **towers)
    image, text = plugin.nar_example_inputs(model)[0].args
    assert (image.shape, text.shape) == ((1, 3, 96, 96), (1, 20))
    assert int(text.max()) == 499
    assert trace(model if part == "whole" else getattr(model, part)).method == "meta"
