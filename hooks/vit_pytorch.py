"""vit-pytorch: vision transformers and their many variants. https://pypi.org/project/vit-pytorch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from nar_plugin.hooks import _references

from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance, hookimpl

if TYPE_CHECKING:
    from torch import nn

_INSTALL = "pip install vit-pytorch"
_PACKAGE = "vit_pytorch"


@hookimpl
def nar_library() -> str:
    """The library's import name."""
    return _PACKAGE


@hookimpl
def nar_provenance(model: nn.Module) -> Provenance | None:
    """The module and the class, such as `vit_pytorch:cait.CaiT`: many classes are named alike."""
    owner = _class(model)
    if owner is None:
        return None
    from nar_plugin.hooks._vit_pytorch_catalogue import ENTRIES

    path = f"{owner.__module__.removeprefix(f'{_PACKAGE}.')}.{owner.__name__}"
    exported = getattr(import_module(_PACKAGE), owner.__name__, None) is owner
    name = owner.__name__ if exported and owner.__name__ in ENTRIES else path
    return Provenance(f"{_PACKAGE}:{name}", _PACKAGE)


@hookimpl
def nar_example_inputs(model: nn.Module) -> list[ExampleInputs] | None:
    """An image, a video or a series of the size that the patches and their positions allow."""
    if _class(model) is None:
        return None
    from nar_plugin.hooks._vit_pytorch_inputs import guesses

    found: list[ExampleInputs] = guesses(model)
    return found


@hookimpl
def nar_architectures() -> Iterator[NamedArchitecture]:
    """Every class with an example, such as `vit_pytorch:ViT` and `vit_pytorch:cait.CaiT`."""
    from nar_plugin.hooks._vit_pytorch_catalogue import ENTRIES

    try:
        known = _classes()
    except ImportError:
        return
    for name in known:
        entry = ENTRIES[name]
        yield NamedArchitecture(
            name=f"{_PACKAGE}:{name}",
            library=_PACKAGE,
            family=entry.family,
            task=entry.task,
            licence="MIT",
            url="https://codeberg.org/lucidrains/vit-pytorch",
        )


@hookimpl
def nar_build(name: str) -> nn.Module | None:
    """Build `vit_pytorch:ViT` or `vit_pytorch:cait.CaiT` without weights."""
    wanted = _references.architecture(name, _PACKAGE)
    if wanted is None:
        return None
    try:
        known = _classes()
    except ImportError as error:
        raise _references.missing(name, _PACKAGE, _INSTALL) from error
    if wanted not in known:
        raise _references.unknown(name, _PACKAGE, known)
    from nar_plugin.hooks._vit_pytorch_catalogue import ENTRIES, built

    model: nn.Module = built(known[wanted], ENTRIES[wanted])
    return model


@cache
def _classes() -> dict[str, type[nn.Module]]:
    """The classes of the catalogue that the installed version has."""
    import torch
    from nar_plugin.hooks._vit_pytorch_catalogue import ENTRIES

    found: dict[str, type[nn.Module]] = {}
    with torch.device("cpu"):  # tensors that a module makes when it is imported stay real
        import_module(_PACKAGE)
        for name in ENTRIES:
            module, _, owner = name.rpartition(".")
            try:
                inside = import_module(f"{_PACKAGE}.{module}" if module else _PACKAGE)
            except ImportError:  # an older version, or a package of its own that is not there
                continue
            if hasattr(inside, owner):
                found[name] = getattr(inside, owner)
    return found


def _class(model: nn.Module) -> type | None:
    """The nearest class that vit-pytorch defines, so that a subclass counts as well."""
    for owner in type(model).__mro__:
        if owner.__module__.startswith(f"{_PACKAGE}."):
            return owner
    return None
