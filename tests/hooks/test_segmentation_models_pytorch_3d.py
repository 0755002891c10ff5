"""What segmentation_models_pytorch_3d's plugin lists and builds."""

import pytest
from nar_plugin.hooks import segmentation_models_pytorch_3d as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("segmentation_models_pytorch_3d")
_PREFIX = "segmentation_models_pytorch_3d:"


def test_only_the_default_encoder_is_no_composition():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 366
    published = {name for name, item in listed.items() if not item.composed}
    assert len(published) == 9
    assert f"{_PREFIX}unetplusplus/resnet34" in published
    assert listed[f"{_PREFIX}unet/vgg16_bn"].composed
    assert listed[f"{_PREFIX}unet/vgg16_bn"].family == "unet"


def test_an_encoder_that_cannot_be_dilated_goes_with_no_decoder_that_needs_it():
    listed = {item.name for item in plugin.nar_architectures()}
    assert f"{_PREFIX}pan/vgg16" not in listed
    assert f"{_PREFIX}fpn/vgg16" in listed


def test_the_encoder_is_the_flat_one_with_a_third_dimension_in_its_kernels():
    model = resolve(f"{_PREFIX}unet/resnet34")
    graph = trace(model)
    assert graph.method == "meta"
    flat = 21_284_672  # torchvision's resnet34 without its classifier of 513,000
    pointwise = (
        64 * 128 + 128 * 256 + 256 * 512 + 2 * 8512
    )  # shortcuts; weights and biases of norms
    stem = 64 * 3 * 49
    spatial = flat - pointwise - stem
    encoder = sum(item.numel() for item in model.encoder.parameters())
    assert encoder == 3 * spatial + 7 * stem + pointwise
