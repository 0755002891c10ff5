"""vit-pytorch: vision transformers and their many variants. https://pypi.org/project/vit-pytorch."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs, Provenance

if TYPE_CHECKING:
    from torch import nn

_PACKAGE = "vit_pytorch"


def _entries() -> Mapping[str, Entry]:
    """Every class with an example, such as `vit_pytorch:ViT` and `vit_pytorch:cait.CaiT`."""
    from .classes import entries

    return entries()


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    """An image, a video or a series of the size that the patches and their positions allow."""
    from .inputs import guesses

    return guesses(model)


def _provenance(_: nn.Module, owner: type) -> Provenance:
    """The module and the class, such as `vit_pytorch:cait.CaiT`: many classes are named alike."""
    from .classes import names

    path = f"{str(owner.__module__).removeprefix(f'{_PACKAGE}.')}.{owner.__name__}"
    exported = getattr(import_module(_PACKAGE), owner.__name__, None) is owner
    name = owner.__name__ if exported and owner.__name__ in names() else path
    return Provenance(f"{_PACKAGE}:{name}", _PACKAGE)


_CATALOGUE = Catalogue(
    package=_PACKAGE,
    distribution=_PACKAGE,
    licence="MIT",
    url="https://codeberg.org/lucidrains/vit-pytorch",
    entries=_entries,
    inputs=_inputs,
    provenance=_provenance,
)
nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = _CATALOGUE.hooks()
