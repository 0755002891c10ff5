"""Speech and sound for a model of transformers: spectrograms and waveforms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import ceil
from typing import Any

import torch
from torch import nn

from ..sizes import SOUND, find, number
from .media import Media, floats
from .texts import PLACEHOLDERS

_SAMPLES = 19200  # a little over a second at 16 kHz, in whole frames of the usual codecs
_FRAMES = 200
_HOP = 160  # samples from one frame to the next, at 16 kHz
_WHISPER = 1500  # positions; its encoder takes twice as many frames and no other number
_HEARING = re.compile("audio|speech|sound")
_USUAL = (128, 80)  # bins of the encoders that do not name theirs
_BINS = (
    "num_mel_bins",
    "n_mels",
    "num_mel_channels",
    "input_feat_per_channel",
    "feature_projection_input_dim",
    "input_feat_size",
    "feature_size",
    "input_dim",
    "num_chroma",
)


def sounds(model: nn.Module, names: set[str], required: set[str]) -> Iterator[Media]:
    """One sound as the signature names it, likeliest layout first."""
    config: Any = model.config
    if {"input_features", "input_values"} <= required:
        bins = number(config, _BINS, 80, SOUND)  # a codec that hears both
        kwargs = {"input_values": floats(1, 1, _SAMPLES), "input_features": floats(1, 60, bins)}
        yield Media(kwargs, kind="audio")
    if "input_features" in names:
        yield from _spectrograms(model, names)
    if "input_values" in names:
        yield from _waveforms(config, names)
    if "audio_mel" in names:
        mel = floats(1, _FRAMES, number(config, _BINS, 80, SOUND))
        mask = torch.zeros(1, _FRAMES, dtype=torch.bool)  # True is padding
        yield Media({"audio_mel": mel, "audio_mel_mask": mask}, kind="audio")


def _spectrograms(model: nn.Module, names: set[str]) -> Iterator[Media]:
    """Spectrograms as (bins, frames) and as (frames, bins)."""
    config: Any = model.config
    positions = number(config, ("max_source_positions",), 0, SOUND)
    frames = 2 * positions if 0 < positions <= _WHISPER else _FRAMES
    if "audio_config" in vars(config) and config.audio_config is None:
        return
    masked = _windows(config, frames) or frames
    places = list(_places(config, frames))
    for bins in _widths(model):
        for shape in ((1, bins, frames), (1, frames, bins), (1, 1, frames, bins)):
            kwargs: dict[str, Any] = {"input_features": floats(*shape)}
            for name in ("input_features_mask", "feature_attention_mask"):
                if name in names:
                    kwargs[name] = torch.ones(1, masked, dtype=torch.bool)
            if "chunk_sample_lengths" in names:
                kwargs["chunk_sample_lengths"] = torch.tensor([frames * _HOP])
            for tokens in places:
                yield Media(kwargs, tokens, kind="audio")


def _widths(model: nn.Module) -> list[int]:
    """The configured number of bins, and what the first layer takes, which may see it stacked."""
    config: Any = model.config
    widths = [number(config, _BINS, 80, SOUND)]
    tower = model
    if find(config, PLACEHOLDERS["audio"]) is not None:  # the first layer is the text's
        widths.append(number(config, ("input_size",), widths[0], SOUND))
        towers = [part for name, part in model.named_modules() if _HEARING.search(name)]
        if not towers:
            return list(dict.fromkeys(widths))
        tower = towers[0]
    for layer in tower.modules():
        if isinstance(layer, nn.Linear):
            widths.append(layer.in_features)
            break
        if isinstance(layer, nn.Conv1d):
            widths.append(layer.in_channels)
            break
    return list(dict.fromkeys((*widths, *_USUAL)))


def _places(config: Any, frames: int) -> Iterator[int]:
    """How many tokens a sound may take: its frames, shortened by strides of 2."""
    if find(config, PLACEHOLDERS["audio"]) is None:
        yield 0
        return
    counted = find(config, ("audio_soft_tokens_per_image", "audio_seq_length"))
    counts = [
        counted,
        _windows(config, frames),
        *(ceil(frames / step) for step in (4, 8, 2, 16, 1)),
    ]
    counts.insert(4, frames // 100 * 13)  # three strides of 2 in windows of 100
    yield from dict.fromkeys(count for count in counts if count)


def _windows(config: Any, frames: int) -> int:
    """What a Q-Former makes of the sound, a fixed number for each window of frames, or 0."""
    window, rate = (number(config, (name,), 0) for name in ("window_size", "downsample_rate"))
    return ceil(frames / window) * (window // rate) if window and rate else 0


def _waveforms(config: Any, names: set[str]) -> Iterator[Media]:
    """Samples, with a channel axis for codecs; and AST's spectrogram."""
    bins = number(config, ("num_mel_bins",), 0)
    length = number(config, ("max_length",), 0)
    if bins and length > bins:
        yield Media({"input_values": floats(1, length, bins)}, kind="audio")
    channels = number(config, ("audio_channels",), 1)
    samples = floats(1, _SAMPLES)
    for values in (samples, floats(1, channels, _SAMPLES)):
        for tokens in _heard(config):
            kwargs: dict[str, Any] = {"input_values": values}
            if "input_values_cutoffs" in names:  # where one sound ends and the next begins
                kwargs["input_values_cutoffs"] = torch.tensor([[_SAMPLES]])
            yield Media(kwargs, tokens, kind="audio")
            if "padding_mask" in names and tokens:
                mask = torch.ones(1, _SAMPLES, dtype=torch.bool)
                yield Media({**kwargs, "padding_mask": mask}, tokens, kind="audio")


def _heard(config: Any) -> Iterator[int]:
    """How many tokens the samples may take: as the configuration counts them, or as frames do."""
    places = list(_places(config, _SAMPLES // 1600))
    if any(places):
        step = number(config, ("samples_per_token", "hop_length", "frame_size"), 0, SOUND)
        counted = (ceil(_SAMPLES / step) if step else 0, _convolved(config))
        places = [count for count in (*counted, *places) if count]
    yield from dict.fromkeys(places)


def _convolved(config: Any) -> int:
    """What the convolutions of wav2vec 2.0 leave of the samples, where the tower has such, or 0."""
    kernels, steps = (find(config, (name,), SOUND) for name in ("conv_kernel", "conv_stride"))
    if not (isinstance(kernels, list | tuple) and isinstance(steps, list | tuple)):
        return 0
    left = _SAMPLES
    for kernel, step in zip(kernels, steps, strict=True):
        left = (left - kernel) // step + 1
    return left
