"""Guesses at the inputs of a model of torchaudio, from its class and its layers."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from nar_plugin.hookspecs import ExampleInputs

_SAMPLES = 16000  # a second of speech
_MUSIC = 44100
_FRAMES = 64
_TOKENS = 16


def guesses(model: nn.Module) -> Iterator[ExampleInputs]:
    """Inputs that the forward may accept, best first, one for each required argument."""
    names = set(inspect.signature(model.forward).parameters)
    for signs, build in _BY_ARGUMENTS:
        if signs <= names:
            yield from build(model)
            return
    yield from _sounds(model)


def _waveform(model: nn.Module) -> Iterator[ExampleInputs]:
    yield ExampleInputs((_floats(1, _SAMPLES),))


def _pretraining(model: Any) -> Iterator[ExampleInputs]:
    """HuBERT: a class for each frame that the convolutions leave of the samples."""
    frames = _SAMPLES
    for layer in model.wav2vec2.feature_extractor.modules():
        if isinstance(layer, nn.Conv1d):
            frames = (frames - layer.kernel_size[0]) // layer.stride[0] + 1
    yield ExampleInputs((_floats(1, _SAMPLES), torch.zeros(1, frames, dtype=torch.int64)))


def _two_sounds(model: nn.Module) -> Iterator[ExampleInputs]:
    yield ExampleInputs((_floats(1, _SAMPLES), _floats(1, _SAMPLES)))


def _transducer(model: Any) -> Iterator[ExampleInputs]:
    """Frames and the text so far, which begins with a blank."""
    width = _number(model.transcriber, ("input_linear", "in_features"), 80)
    yield ExampleInputs(
        (
            _floats(1, _FRAMES, width),
            torch.tensor([_FRAMES]),
            torch.arange(_TOKENS, dtype=torch.int32)[None],
            torch.tensor([_TOKENS], dtype=torch.int32),
        )
    )


def _speech_synthesis(model: Any) -> Iterator[ExampleInputs]:
    tokens = torch.arange(_TOKENS)[None] % int(model.embedding.num_embeddings)
    mels = _floats(1, int(model.n_mels), _FRAMES)
    yield ExampleInputs((tokens, torch.tensor([_TOKENS]), mels, torch.tensor([_FRAMES])))


def _vocoder(model: Any) -> Iterator[ExampleInputs]:
    """WaveRNN: the samples of all frames but those that its first convolution takes away."""
    lost = int(model.kernel_size) - 1
    samples = (_FRAMES - lost) * int(model.hop_length)
    mels = _floats(1, 1, int(model.upsample.resnet.melresnet_model[0].in_channels), _FRAMES)
    yield ExampleInputs((_floats(1, 1, samples), mels))


def _frames(model: Any) -> Iterator[ExampleInputs]:
    """Conformer and Emformer: frames as wide as the first norm, with what is to come."""
    width = next(
        (layer.normalized_shape[0] for layer in model.modules() if isinstance(layer, nn.LayerNorm)),
        80,
    )
    ahead = int(getattr(model, "right_context_length", 0))
    yield ExampleInputs((_floats(1, _FRAMES + ahead, width), torch.tensor([_FRAMES])))


def _sounds(model: Any) -> Iterator[ExampleInputs]:
    """What has one argument: samples with or without channels, or a spectrogram."""
    for layer in model.modules():
        if isinstance(layer, nn.Linear):  # DeepSpeech: (1, channel, time, feature)
            yield ExampleInputs((_floats(1, 1, _FRAMES, layer.in_features),))
            break
        if isinstance(layer, nn.Conv1d | nn.Conv2d):
            break
    channels = getattr(model, "audio_channels", None)
    if isinstance(channels, int):
        yield ExampleInputs((_floats(1, channels, 3 * _MUSIC),))
    width = next((it.in_channels for it in model.modules() if isinstance(it, nn.Conv1d)), 1)
    yield ExampleInputs((_floats(1, width, _SAMPLES),))
    yield ExampleInputs((_floats(1, _SAMPLES),))


def _number(module: Any, path: tuple[str, ...], default: int) -> int:
    for name in path:
        module = getattr(module, name, None)
    return module if isinstance(module, int) else default


def _floats(*shape: int) -> Tensor:
    return torch.empty(*shape, device="meta")


# By the names of the forward's arguments, the particular before the general.
_BY_ARGUMENTS = (
    ({"waveforms", "labels"}, _pretraining),
    ({"waveforms"}, _waveform),
    ({"waveform", "reference"}, _two_sounds),
    ({"sources", "targets"}, _transducer),
    ({"tokens", "mel_specgram"}, _speech_synthesis),
    ({"waveform", "specgram"}, _vocoder),
    ({"input", "lengths"}, _frames),
)
