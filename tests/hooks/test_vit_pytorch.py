"""What vit-pytorch's plugin reads from vit-pytorch's models, and how it builds them."""

import pytest
from nar_plugin.hooks import vit_pytorch as plugin

from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

SMALL = {"num_classes": 10, "dim": 64, "depth": 2, "heads": 4, "mlp_dim": 128}


@pytest.fixture(autouse=True)
def library(installed):
    return installed("vit_pytorch")


def _small(name):
    from vit_pytorch import SimpleViT, ViT
    from vit_pytorch.cct import CCT
    from vit_pytorch.extractor import Extractor
    from vit_pytorch.vit_3d import ViT as ViT3d

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
def test_the_input_comes_from_patches_and_positions(name, shape):
    model = _small(name)
    guesses = plugin.nar_example_inputs(model)
    assert shape in [tuple(guess.args[0].shape) for guess in guesses]
    assert trace(model).method == "meta"


def test_images_of_any_size_come_packed():
    from vit_pytorch.na_vit import NaViT

    model = built(lambda: NaViT(image_size=64, patch_size=16, **SMALL))
    ((pack,),) = plugin.nar_example_inputs(model)[0].args
    assert pack[0].shape[0] == 3
    assert trace(model).method == "meta"
