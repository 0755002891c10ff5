"""What MONAI's plugin reads from MONAI's networks, and how it builds them."""

import pytest
from nar_plugin.hooks import monai as plugin

from nar_plugin.references.construction import built
from nar_plugin.tracing import trace


@pytest.fixture(autouse=True)
def library(installed):
    return installed("monai")


def _changed(name):
    from monai.networks import nets

    models = {
        "flat UNETR": lambda: nets.UNETR(3, 4, img_size=(64, 64), spatial_dims=2),
        "long UNETR": lambda: nets.UNETR(2, 4, img_size=(32, 64, 32)),
        "flat ViT": lambda: nets.ViT(3, img_size=(64, 96), patch_size=16, spatial_dims=2),
        "flat SwinUNETR": lambda: nets.SwinUNETR(4, 3, feature_size=24, spatial_dims=2),
    }
    return built(models[name])


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("flat UNETR", (1, 3, 64, 64)),
        ("long UNETR", (1, 2, 32, 64, 32)),
        ("flat ViT", (1, 3, 64, 96)),
        ("flat SwinUNETR", (1, 4, 256, 256)),
    ],
)
def test_the_first_guess_fits_changed_networks(name, shape):
    model = _changed(name)
    assert tuple(plugin.nar_example_inputs(model)[0].args[0].shape) == shape
    assert trace(model).method == "meta"


def test_conditions_are_as_wide_as_what_reads_them():
    from monai.networks import nets

    widths = {"in_channels": 4, "out_channels": 4, "cross_attention_dim": 33}
    options = {"with_conditioning": True, "num_class_embeds": 5}
    model = built(lambda: nets.DiffusionModelUNet(spatial_dims=2, **widths, **options))
    given = plugin.nar_example_inputs(model)[0].kwargs
    assert given["context"].shape[2] == 33
    assert set(given) == {"timesteps", "context", "class_labels"}
