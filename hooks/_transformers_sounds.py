"""Speech and sound for a model of transformers: spectrograms and waveforms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from nar_plugin.hooks._transformers_media import Media, floats
from nar_plugin.hooks._transformers_sizes import SOUND, number
from torch import nn

_SAMPLES = 16000  # a second at 16 kHz
_FRAMES = 200
_BINS = (
    "num_mel_bins",
    "n_mels",
    "num_mel_channels",
    "input_feat_per_channel",
    "feature_projection_input_dim",
    "input_feat_size",
    "feature_size",
    "input_dim",
)


def sounds(model: nn.Module, names: set[str], required: set[str]) -> Iterator[Media]:
    """One second of sound as the signature names it, likeliest layout first."""
    config: Any = model.config  # type: ignore[assignment]
    if "input_features" in names:
        for kwargs, frames in _spectrograms(config, names):
            yield Media(kwargs, frames, kind="audio")
    elif "input_values" in names:
        yield from _waveforms(config)


def _spectrograms(config: Any, names: set[str]) -> Iterator[tuple[dict[str, Any], int]]:
    """Spectrograms as (bins, frames) and (frames, bins)."""
    bins = number(config, _BINS, 80, SOUND)
    whisper = number(config, ("max_source_positions",), 0, SOUND)
    frames = 2 * whisper if whisper else _FRAMES
    for shape in ((1, bins, frames), (1, frames, bins), (1, 1, frames, bins)):
        kwargs: dict[str, Any] = {"input_features": floats(*shape)}
        for name in ("input_features_mask", "feature_attention_mask"):
            if name in names:
                kwargs[name] = torch.ones(1, frames, dtype=torch.bool)
        yield kwargs, max(frames // 8, 1)


def _waveforms(config: Any) -> Iterator[Media]:
    """Samples, with a channel axis for codecs; and AST's spectrogram."""
    bins = number(config, ("num_mel_bins",), 0)
    length = number(config, ("max_length",), 0)
    if bins and length > bins:
        yield Media({"input_values": floats(1, length, bins)}, kind="audio")
    for shape in ((1, _SAMPLES), (1, 1, _SAMPLES)):
        yield Media({"input_values": floats(*shape)}, kind="audio")
