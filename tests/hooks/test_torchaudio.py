"""What torchaudio's plugin reads from torchaudio's models, and how it builds them."""

import pytest
from nar_plugin.hooks import torchaudio as plugin

from nar_plugin.references import resolve
from nar_plugin.references.construction import built
from nar_plugin.tracing import trace


@pytest.fixture(autouse=True)
def torchaudio(installed):
    return installed("torchaudio")


def test_every_pipeline_is_listed(torchaudio, listed):
    names = {name for name in torchaudio.pipelines.__all__ if name.isupper()}
    assert names <= set(listed("torchaudio"))


def test_wav2vec2_is_as_large_as_that_of_transformers(installed):
    transformers = installed("transformers")
    other = built(lambda: transformers.Wav2Vec2Model(transformers.Wav2Vec2Config()))
    mask = other.masked_spec_embed.numel()  # which torchaudio leaves to pre-training
    sizes = [
        sum(parameter.numel() for parameter in model.parameters())
        for model in (resolve("torchaudio:wav2vec2_base"), other)
    ]
    assert sizes[0] == sizes[1] - mask


def test_widths_come_from_the_model(torchaudio):
    model = built(lambda: torchaudio.models.Conformer(24, 2, 32, 1, 7))
    frames, lengths = next(iter(plugin.nar_example_inputs(model))).args
    assert (frames.shape[-1], int(lengths)) == (24, frames.shape[1])
    assert trace(model).method == "meta"
