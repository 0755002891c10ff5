"""pytorchcv: image, segmentation, pose, face and speech models. https://github.com/osmr/pytorchcv."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from nar_plugin.hooks import _references

from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance, hookimpl

if TYPE_CHECKING:
    from torch import nn

_INSTALL = "pip install pytorchcv"
_PACKAGE = "pytorchcv.models."
_SPEECH = ("jasper", "jasperdr", "quartznet")


@hookimpl
def nar_library() -> str:
    """The library's import name."""
    return "pytorchcv"


@hookimpl
def nar_provenance(model: nn.Module) -> Provenance | None:
    """The class: nothing in a model of pytorchcv says which builder made it."""
    owner = _class(model)
    return None if owner is None else Provenance(f"pytorchcv:{owner.__name__}", "pytorchcv")


@hookimpl
def nar_example_inputs(model: nn.Module) -> list[ExampleInputs] | None:
    """An image of `model.in_size`, or what else the model's class eats."""
    owner = _class(model)
    if owner is None:
        return None
    from nar_plugin.hooks._pytorchcv_inputs import guesses

    found: list[ExampleInputs] = guesses(model, owner.__name__)
    return found


@hookimpl
def nar_architectures() -> Iterator[NamedArchitecture]:
    """All that `pytorchcv.model_provider.get_model` knows."""
    from nar_plugin.hooks._pytorchcv_families import family_of, task_of

    try:
        builders = _builders()
    except ImportError:
        return
    for name, builder in builders.items():
        module = builder.__module__.removeprefix(_PACKAGE)
        yield NamedArchitecture(
            name=f"pytorchcv:{name}",
            library="pytorchcv",
            family=family_of(module),
            task=task_of(module),
            licence="MIT",
            url="https://github.com/osmr/pytorchcv",
        )


@hookimpl
def nar_build(name: str) -> nn.Module | None:
    """Build `pytorchcv:resnet18` without weights.

    Speech models start at the spectrogram: the filters before it would need librosa.
    """
    wanted = _references.architecture(name, "pytorchcv")
    if wanted is None:
        return None
    try:
        builders = _builders()
    except ImportError as error:
        raise _references.missing(name, "pytorchcv", _INSTALL) from error
    builder = builders.get(wanted)
    if builder is None:
        raise _references.unknown(name, "pytorchcv", builders)
    speech = builder.__module__.removeprefix(_PACKAGE) in _SPEECH
    from nar_plugin.references.parameters_on_meta import parameters_on_meta

    with parameters_on_meta():  # also those of `torch.Tensor(...)`, which knows no device
        return builder(**({"from_audio": False} if speech else {}))


def _builders() -> Mapping[str, Callable[..., nn.Module]]:
    import torch

    with torch.device("cpu"):  # tensors that a module makes when it is imported stay real
        provider = import_module("pytorchcv.model_provider")
    known: Mapping[str, Callable[..., nn.Module]] = provider._models
    return known


def _class(model: nn.Module) -> type | None:
    """The nearest class that pytorchcv defines, so that a subclass counts as well."""
    for owner in type(model).__mro__:
        if owner.__module__.startswith(_PACKAGE):
            return owner
    return None
