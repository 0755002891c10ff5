"""What pytorchcv's plugin reads from pytorchcv's models, and how it builds them."""

import pytest
from nar_plugin.hooks import pytorchcv as plugin

from nar_plugin.references import resolve
from nar_plugin.references.construction import built
from nar_plugin.tracing import trace


@pytest.fixture(autouse=True)
def library(installed):
    return installed("pytorchcv")


def test_a_speech_model_starts_at_the_spectrogram():
    model = resolve("pytorchcv:quartznet5x5_en_ls")
    spectrogram, length = plugin.nar_example_inputs(model)[0].args
    assert spectrogram.shape[1] == 64
    assert length.tolist() == [spectrogram.shape[2]]


def test_the_first_guess_fits_changed_models():
    from pytorchcv.model_provider import get_model

    model = built(lambda: get_model("resnet18", in_channels=1, in_size=(64, 96), num_classes=5))
    assert plugin.nar_example_inputs(model)[0].args[0].shape == (1, 1, 64, 96)
    assert trace(model).method == "meta"
