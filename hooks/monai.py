"""MONAI: networks for medical images and volumes. https://docs.monai.io/en/stable/networks.html."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nar_plugin.hooks import _references

from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance, hookimpl

if TYPE_CHECKING:
    from torch import nn

_INSTALL = "pip install monai"
_PACKAGE = "monai.networks."


@hookimpl
def nar_library() -> str:
    """The library's import name."""
    return "monai"


@hookimpl
def nar_provenance(model: nn.Module) -> Provenance | None:
    """The class: a network of MONAI does not say more."""
    owner = _class(model)
    return None if owner is None else Provenance(f"monai:{owner.__name__}", "monai")


@hookimpl
def nar_example_inputs(model: nn.Module) -> list[ExampleInputs] | None:
    """An image or a volume, and what else the forward asks for."""
    if _class(model) is None:
        return None
    from nar_plugin.hooks._monai_inputs import guesses

    found: list[ExampleInputs] = guesses(model)
    return found


@hookimpl
def nar_architectures() -> Iterator[NamedArchitecture]:
    """The networks of `monai.networks.nets`, for volumes and (`/2d`) for images."""
    from nar_plugin.hooks._monai_catalogue import ENTRIES
    from nar_plugin.hooks._monai_networks import names

    try:
        classes = _classes()
    except ImportError:
        return
    for name in names(classes):
        entry = ENTRIES[name.partition("/")[0]]
        yield NamedArchitecture(
            name=f"monai:{name}",
            library="monai",
            family=entry.family,
            task=entry.task,
            licence="Apache-2.0",
            url="https://docs.monai.io/en/stable/networks.html",
        )


@hookimpl
def nar_build(name: str) -> nn.Module | None:
    """Build `monai:UNETR` or `monai:UNet/2d` without weights."""
    wanted = _references.architecture(name, "monai")
    if wanted is None:
        return None
    from nar_plugin.hooks._monai_networks import built, names

    try:
        classes = _classes()
    except ImportError as error:
        raise _references.missing(name, "monai", _INSTALL) from error
    if wanted not in names(classes):
        raise _references.unknown(name, "monai", names(classes))
    model: nn.Module = built(wanted, classes)
    return model


def _classes() -> Any:
    import torch

    with torch.device("cpu"):  # tensors that a module makes when it is imported stay real
        from monai.networks import nets

    return nets


def _class(model: nn.Module) -> type | None:
    """The nearest class that MONAI defines, so that a subclass counts as well."""
    for owner in type(model).__mro__:
        if owner.__module__.startswith(_PACKAGE):
            return owner
    return None
