"""OpenAI's Whisper: speech recognition."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn

# Width, heads and layers of encoder and decoder alike: table 1 of https://arxiv.org/abs/2212.04356.
_SIZES = {
    "tiny": (384, 6, 4),
    "base": (512, 8, 6),
    "small": (768, 12, 12),
    "medium": (1024, 16, 24),
    "large": (1280, 20, 32),
}
_TURBO_LAYERS = 4  # of the decoder of large-v3-turbo
_WINDOW = {"n_audio_ctx": 1500, "n_text_ctx": 448}  # 30 s of sound; tokens


def _entries() -> Mapping[str, Entry]:
    import whisper

    return {
        name: Entry(
            build=partial(_build, name),
            family="whisper",
            task="automatic-speech-recognition",
            hub_id=None if name in ("large", "turbo") else f"openai/whisper-{name}",
        )
        for name in whisper.available_models()
    }


def _build(name: str) -> nn.Module:
    from whisper.model import ModelDimensions, Whisper

    third = name in ("large", "turbo") or "v3" in name  # more bands and one more language
    turbo = "turbo" in name
    width, heads, layers = _SIZES["large" if turbo else name.partition(".")[0].partition("-")[0]]
    dimensions: dict[str, Any] = {
        **_WINDOW,
        "n_mels": 128 if third else 80,
        "n_audio_state": width,
        "n_audio_head": heads,
        "n_audio_layer": layers,
        "n_vocab": 51864 if name.endswith(".en") else 51865 + third,
        "n_text_state": width,
        "n_text_head": heads,
        "n_text_layer": _TURBO_LAYERS if turbo else layers,
    }
    model: nn.Module = Whisper(ModelDimensions(**dimensions))
    return model


def _inputs(model: Any) -> list[ExampleInputs]:
    import torch

    if not hasattr(model, "dims"):
        return []
    sound = torch.empty(1, model.dims.n_mels, 2 * model.dims.n_audio_ctx, device="meta")
    return [ExampleInputs((sound, torch.arange(16)[None]))]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="whisper",
    distribution="openai-whisper",
    licence="MIT",
    url="https://github.com/openai/whisper",
    entries=_entries,
    inputs=_inputs,
).hooks()
