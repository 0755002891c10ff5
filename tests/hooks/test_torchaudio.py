"""What torchaudio's plugin reads from torchaudio's models, and how it builds them."""

import sys
from typing import Any

import pytest
import torch
from nar_plugin.hooks import torchaudio as plugin

from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.references import resolve
from nar_plugin.tracing import trace

# A wheel of torchaudio belongs to one version of torch and of CUDA, and refuses others.
torchaudio: Any = pytest.importorskip("torchaudio", exc_type=(ImportError, OSError, RuntimeError))


@pytest.fixture(scope="module")
def listed() -> dict[str, NamedArchitecture]:
    return {item.name: item for item in plugin.nar_architectures()}


def test_every_pipeline_is_listed(listed: dict[str, NamedArchitecture]) -> None:
    names = {name for name in torchaudio.pipelines.__all__ if name.isupper()}
    assert names <= {name.partition(":")[2] for name in listed}


@pytest.mark.parametrize(
    ("name", "family", "task"),
    [
        ("wav2vec2_base", "wav2vec2", "feature-extraction"),
        ("VOXPOPULI_ASR_BASE_10K_EN", "wav2vec2", "automatic-speech-recognition"),
        ("HUBERT_ASR_LARGE", "hubert", "automatic-speech-recognition"),
        ("wavlm_large", "wavlm", "feature-extraction"),
        ("conv_tasnet_base", "conv_tasnet", "audio-to-audio"),
        ("CONVTASNET_BASE_LIBRI2MIX", "conv_tasnet", "audio-to-audio"),
        ("HDEMUCS_HIGH_MUSDB", "hdemucs", "audio-to-audio"),
        ("TACOTRON2_WAVERNN_CHAR_LJSPEECH", "tacotron2", "text-to-speech"),
        ("emformer_rnnt_base", "emformer", "automatic-speech-recognition"),
        ("Conformer", "conformer", "automatic-speech-recognition"),
    ],
)
def test_family_and_task(
    listed: dict[str, NamedArchitecture], name: str, family: str, task: str
) -> None:
    found = listed[f"torchaudio:{name}"]
    assert (found.family, found.task, found.licence) == (family, task, "BSD-2-Clause")


@pytest.mark.parametrize(
    "name",
    [
        "wav2vec2_base",
        "WAVLM_BASE_PLUS",
        "hubert_pretrain_base",
        "ConvTasNet",
        "Conformer",
        "DeepSpeech",
        "Emformer",
        "Wav2Letter",
        "WaveRNN",
        "emformer_rnnt_base",
        "squim_subjective_base",
    ],
)
def test_a_model_is_built_without_weights_and_traced(name: str) -> None:
    model = resolve(f"torchaudio:{name}")
    assert all(parameter.is_meta for parameter in model.parameters())
    assert trace(model).method == "meta"


def test_wav2vec2_is_as_large_as_that_of_transformers() -> None:
    transformers = pytest.importorskip("transformers")
    with torch.device("meta"):
        other = transformers.Wav2Vec2Model(transformers.Wav2Vec2Config())
    mask = other.masked_spec_embed.numel()  # which torchaudio leaves to pre-training
    sizes = [
        sum(parameter.numel() for parameter in model.parameters())
        for model in (resolve("torchaudio:wav2vec2_base"), other)
    ]
    assert sizes[0] == sizes[1] - mask


def test_widths_come_from_the_model() -> None:
    with torch.device("meta"):
        model = torchaudio.models.Conformer(24, 2, 32, 1, 7)
    guesses = plugin.nar_example_inputs(model)
    assert guesses is not None
    frames, lengths = next(iter(guesses)).args
    assert (frames.shape[-1], int(lengths)) == (24, frames.shape[1])
    assert trace(model).method == "meta"


def test_provenance_is_the_class() -> None:
    provenance = plugin.nar_provenance(resolve("torchaudio:HUBERT_BASE"))
    assert provenance is not None
    assert provenance.name == "torchaudio:Wav2Vec2Model"


def test_other_models_are_left_to_other_plugins() -> None:
    plain = torch.nn.Conv2d(3, 8, 3)
    assert plugin.nar_provenance(plain) is None
    assert plugin.nar_example_inputs(plain) is None
    assert plugin.nar_build("timm:resnet18") is None


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(PluginError, match="torchaudio:wav2vec2_base"):
        plugin.nar_build("torchaudio:wav2vec2_bose")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchaudio", None)
    assert list(plugin.nar_architectures()) == []
    with pytest.raises(PluginError, match="pip install torchaudio"):
        plugin.nar_build("torchaudio:wav2vec2_base")


@pytest.mark.slow
def test_nearly_all_models_are_traced(listed: dict[str, NamedArchitecture]) -> None:
    traced = sum(trace(resolve(name)).method == "meta" for name in listed)
    assert traced >= 0.97 * len(listed)
