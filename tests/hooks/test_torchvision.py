"""What torchvision's plugin reads from torchvision's models, and how it builds them."""

import pytest
from nar_plugin.hooks import torchvision as plugin

from nar_plugin.references import resolve
from nar_plugin.references.construction import built
from nar_plugin.tracing import trace


@pytest.fixture(autouse=True)
def torchvision(installed):
    return installed("torchvision")


def test_every_listed_name_is_a_reference_of_its_own(torchvision, listed):
    assert list(listed("torchvision")) == torchvision.models.list_models()


def test_a_detector_is_given_a_list_of_images():
    model = resolve("torchvision:fasterrcnn_mobilenet_v3_large_320_fpn")
    ((image,),) = plugin.nar_example_inputs(model)[0].args
    assert image.shape == (3, 320, 320)


def test_widths_of_a_regnet_are_those_of_the_real_one(torchvision):
    model = resolve("torchvision:regnet_y_400mf")
    published = torchvision.models.RegNet_Y_400MF_Weights.DEFAULT.meta["num_params"]
    assert sum(parameter.numel() for parameter in model.parameters()) == published


@pytest.mark.parametrize("name", ["efficientnet_b3", "inception_v3", "swin_v2_t", "vit_b_16"])
def test_flops_are_of_the_published_size(name, torchvision):
    weights = next(iter(torchvision.models.get_model_weights(name)))
    giga = trace(resolve(f"torchvision:{name}")).flops / 2e9
    assert giga == pytest.approx(weights.meta["_ops"], rel=0.01)


def test_a_subclass_is_known_by_its_parent(torchvision):
    class Mine(torchvision.models.ResNet):
        pass

    block = torchvision.models.resnet.BasicBlock
    provenance = plugin.nar_provenance(built(lambda: Mine(block, [1, 1, 1, 1])))
    assert (provenance.name, provenance.library) == ("torchvision:ResNet", "torchvision")
