"""Asteroid: networks that separate and clean up recorded voices."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

from ._shared import class_catalogue, torchaudio_import

if TYPE_CHECKING:
    from torch import nn

_VOICES = 2
_RATE = 16_000  # samples a second


def _entries() -> Mapping[str, Entry]:
    torchaudio_import.import_torchaudio()
    from asteroid import models
    from asteroid.masknn.convolutional import DCUMaskNet
    from asteroid.masknn.recurrent import DCCRMaskNet

    sized = {"DCUNet": DCUMaskNet, "DCCRNet": DCCRMaskNet}  # and what knows their sizes
    classes = list(class_catalogue.classes_below("asteroid.models"))
    found: dict[str, Entry] = class_catalogue.entries(
        (item for item in classes if item.__name__ not in sized),
        {"n_src": _VOICES},
        task="audio-to-audio",
        special={"XUMX": {"sources": ["bass", "drums", "vocals", "other"]}},
        skip=("BaseModel", "BaseEncoderMaskerDecoder", "BaseDCUNet"),
    )
    for name, masker in sized.items():
        for size in masker._architectures:
            build: Any = partial(getattr(models, name), size)
            found[f"{name}/{size}"] = Entry(build, name.lower(), "audio-to-audio")
    return found


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    return [ExampleInputs((torch.empty(1, voices, _RATE, device="meta"),)) for voices in (1, 2)]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="asteroid",
    distribution="asteroid",
    licence="MIT",
    url="https://github.com/asteroid-team/asteroid",
    entries=_entries,
    inputs=_inputs,
).hooks()
