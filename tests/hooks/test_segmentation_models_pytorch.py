"""What the plugin of segmentation_models_pytorch reads from its models, and builds."""

import contextlib

import pytest
from nar_plugin.hooks import segmentation_models_pytorch as plugin

from nar_plugin.errors import PluginError
from nar_plugin.references import resolve
from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

_PREFIX = "segmentation_models_pytorch"


@pytest.fixture(autouse=True)
def smp(installed):
    return installed(_PREFIX)


def test_every_decoder_and_every_encoder_is_listed(smp, listed):
    pairs = [name.split("/") for name in listed(_PREFIX)]
    assert {decoder for decoder, _ in pairs} == set(smp.MODEL_ARCHITECTURES_MAPPING)
    encoders = {encoder for decoder, encoder in pairs if decoder == "unet"}
    assert encoders == set(smp.encoders.get_encoder_names())


@pytest.mark.parametrize("channels", [1, 4, 13])
def test_the_image_has_the_channels_of_the_encoder(channels, smp):
    options = {"encoder_weights": None, "in_channels": channels, "classes": 5}
    model = built(lambda: smp.Unet("resnet18", **options))
    assert plugin.nar_example_inputs(model)[0].args[0].shape == (1, channels, 256, 256)
    assert trace(model).method == "meta"


def test_provenance_builds_the_model_again(smp):
    model = built(lambda: smp.FPN("resnet18", encoder_weights=None))
    provenance = plugin.nar_provenance(model)
    assert provenance.name == f"{_PREFIX}:fpn/resnet18"
    assert trace(resolve(provenance.name)).fingerprint == trace(model).fingerprint


@pytest.mark.slow
def test_a_sample_is_traced(listed):
    items = listed(_PREFIX).values()
    names = [item.name for item in items if not item.composed]
    models = {name: resolve(name) for name in names}
    composed = [item.name for item in items if item.composed][::50]
    for name in composed:
        with contextlib.suppress(PluginError):  # the library refuses some pairs itself
            models[name] = resolve(name)
    assert len(models) >= len(names) + 0.8 * len(composed)
    assert [name for name, model in models.items() if trace(model).method != "meta"] == []
