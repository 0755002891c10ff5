"""`package.module:callable`: import it, call it without arguments, get a model."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from functools import reduce
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from nar_plugin.errors import NarError
from nar_plugin.references.construction import built

if TYPE_CHECKING:
    from torch import nn

_WITH_ARGUMENTS = (
    "To pass arguments, name a function that builds the model: def tiny(): return Net(8)"
)
_WITHOUT_VALUES = (
    "It was called on the meta device, where tensors have no values. Build the model in Python, "
    "and ask nar_plugin.find_similar(model)"
)


def from_callable(reference: str) -> nn.Module:
    """The model that a callable returns, or the model that stands under that name.

    The current folder is searched first, as `python -m` does.

    Raises:
        NarError: When the module, the name or the call fails, or no model comes back.
    """
    from torch import nn

    module_name, _, path = reference.partition(":")
    with current_folder_importable():
        found = _attribute(_module(module_name), path)
        model = found if isinstance(found, nn.Module) else _called(found, reference)
    if not isinstance(model, nn.Module):
        raise NarError(f"{reference} gives a {type(model).__name__}, not a torch.nn.Module")
    return model


def _module(name: str) -> ModuleType:
    try:
        return import_module(name)
    except (Exception, SystemExit) as error:
        raise NarError(
            f"cannot import {name}: {type(error).__name__}: {error}. The part before the colon is "
            "a model library (timm, torchvision, transformers, hub) or a module that can be "
            "imported from the current folder"
        ) from error


def _attribute(module: ModuleType, path: str) -> Any:
    try:
        return reduce(getattr, path.split("."), module)
    except AttributeError as error:
        public = [name for name in vars(module) if not name.startswith("_")]
        near = get_close_matches(path, public, n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise NarError(f"{module.__name__} has no {path}{hint}") from error


def _called(found: Any, reference: str) -> Any:
    if not callable(found):
        raise NarError(f"{reference} is a {type(found).__name__}, not a torch.nn.Module")
    try:
        return built(found)
    except (Exception, SystemExit) as error:
        hint = _WITHOUT_VALUES if "meta" in str(error) else _WITH_ARGUMENTS
        raise NarError(
            f"calling {reference} without arguments failed: {type(error).__name__}: {error}. {hint}"
        ) from error


@contextmanager
def current_folder_importable() -> Iterator[None]:
    """Search the current folder first for modules, as `python -m` does."""
    folder = os.getcwd()  # noqa: PTH109 (sys.path holds text)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
