"""pytorchcv: image, segmentation, pose, face and speech models. https://github.com/osmr/pytorchcv."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn

_MODELS = "pytorchcv.models"
_SPEECH = ("jasper", "jasperdr", "quartznet")


def _entries() -> Mapping[str, Entry]:
    """All that `pytorchcv.model_provider.get_model` knows."""
    from .families import family_of, task_of

    builders: Mapping[str, Callable[..., nn.Module]]
    builders = import_module("pytorchcv.model_provider")._models
    entries = {}
    for name, builder in builders.items():
        module = str(builder.__module__).removeprefix(f"{_MODELS}.")
        build = partial(_built, builder, speech=module in _SPEECH)
        entries[name] = Entry(build, family_of(module), task_of(module))
    return entries


def _built(builder: Callable[..., nn.Module], *, speech: bool) -> nn.Module:
    """Speech models start at the spectrogram: the filters before it would need librosa."""
    from nar_plugin.references.parameters_on_meta import parameters_on_meta

    with parameters_on_meta():  # also those of `torch.Tensor(...)`, which knows no device
        return builder(**({"from_audio": False} if speech else {}))


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    """An image of `model.in_size`, or what else the model's class eats."""
    from .inputs import guesses

    owner = _CATALOGUE.owner(model)
    return guesses(model, owner.__name__ if owner else "")


_CATALOGUE = Catalogue(
    package="pytorchcv",
    distribution="pytorchcv",
    licence="MIT",
    url="https://github.com/osmr/pytorchcv",
    entries=_entries,
    inputs=_inputs,
    models=(_MODELS,),
)
nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = _CATALOGUE.hooks()
