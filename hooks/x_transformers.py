"""x-transformers: one transformer with many options. https://pypi.org/project/x-transformers."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nar_plugin.hooks import _references

from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance, hookimpl

if TYPE_CHECKING:
    from torch import nn

_INSTALL = "pip install x-transformers"
_PACKAGE = "x_transformers"


@hookimpl
def nar_library() -> str:
    """The library's import name."""
    return _PACKAGE


@hookimpl
def nar_provenance(model: nn.Module) -> Provenance | None:
    """The class: a model of x-transformers does not say more."""
    owner = _class(model)
    return None if owner is None else Provenance(f"{_PACKAGE}:{owner.__name__}", _PACKAGE)


@hookimpl
def nar_example_inputs(model: nn.Module) -> list[ExampleInputs] | None:
    """Token ids, vectors or an image, as the class and its widths say."""
    if _class(model) is None:
        return None
    from nar_plugin.hooks._x_transformers_inputs import guesses

    found: list[ExampleInputs] = guesses(model)
    return found


@hookimpl
def nar_architectures() -> Iterator[NamedArchitecture]:
    """The README's examples, such as `x_transformers:decoder/rotary`."""
    try:
        _library()
    except ImportError:
        return
    from nar_plugin.hooks._x_transformers_catalogue import BUILDERS, family_of, task_of

    for name in BUILDERS:
        yield NamedArchitecture(
            name=f"{_PACKAGE}:{name}",
            library=_PACKAGE,
            family=family_of(name),
            task=task_of(name),
            licence="MIT",
            url="https://codeberg.org/lucidrains/x-transformers",
        )


@hookimpl
def nar_build(name: str) -> nn.Module | None:
    """Build `x_transformers:decoder/rotary` or `x_transformers:XTransformer` without weights."""
    wanted = _references.architecture(name, _PACKAGE)
    if wanted is None:
        return None
    try:
        library = _library()
    except ImportError as error:
        raise _references.missing(name, _PACKAGE, _INSTALL) from error
    from nar_plugin.hooks._x_transformers_catalogue import BUILDERS

    if wanted not in BUILDERS:
        raise _references.unknown(name, _PACKAGE, BUILDERS)
    model: nn.Module = BUILDERS[wanted](library)
    return model


def _library() -> Any:
    import torch

    with torch.device("cpu"):  # tensors that a module makes when it is imported stay real
        return import_module(_PACKAGE)


def _class(model: nn.Module) -> type | None:
    """The nearest class that x-transformers defines, so that a subclass counts as well."""
    for owner in type(model).__mro__:
        if owner.__module__.startswith(f"{_PACKAGE}."):
            return owner
    return None
