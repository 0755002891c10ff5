"""The parts of a model, read from where `nn.Module` keeps them.

Some classes override `modules`, `parameters` or `children`, with other arguments or another
meaning; a twin is made of what is read here, so everything else reads the same.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn


def named_modules(model: nn.Module, path: str = "") -> Iterator[tuple[str, nn.Module]]:
    """The model and all modules inside, each once, before its own parts; as in `nn.Module`."""
    seen: set[int] = set()

    def walk(module: nn.Module, path: str) -> Iterator[tuple[str, nn.Module]]:
        if id(module) in seen:
            return
        seen.add(id(module))
        yield path, module
        for name, child in named_children(module):
            yield from walk(child, f"{path}.{name}" if path else name)

    return walk(model, path)


def modules(model: nn.Module) -> Iterator[nn.Module]:
    """As `named_modules`, without the paths."""
    return (module for _, module in named_modules(model))


def named_children(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """The modules directly inside, by their first names, each once; as in `nn.Module`."""
    seen: set[int] = set()
    for name, child in list(vars(module).get("_modules", {}).items()):
        if child is not None and id(part := referent(child)) not in seen:
            seen.add(id(part))
            yield name, part


def referent(value: Any) -> Any:
    """What a weak proxy stands for, which nn.Module takes for a part; anything else as it is.

    Raises:
        ReferenceError: It is gone.
    """
    return value.__dir__.__self__ if type(value) in weakref.ProxyTypes else value


def children(module: nn.Module) -> Iterator[nn.Module]:
    """The modules directly inside."""
    return (child for _, child in named_children(module))


def named_parameters(model: nn.Module) -> Iterator[tuple[str, nn.Parameter]]:
    """The parameters of the model and of all modules inside, each once."""
    seen: set[int] = set()
    for path, module in named_modules(model):
        for name, parameter in list(vars(module).get("_parameters", {}).items()):
            if parameter is not None and id(parameter) not in seen:
                seen.add(id(parameter))
                yield f"{path}.{name}" if path else name, parameter


def parameters(model: nn.Module) -> Iterator[nn.Parameter]:
    """As `named_parameters`, without the names."""
    return (parameter for _, parameter in named_parameters(model))


def buffers(model: nn.Module) -> Iterator[torch.Tensor]:
    """The buffers of the model and of all modules inside."""
    for module in modules(model):
        for buffer in list(vars(module).get("_buffers", {}).values()):
            if buffer is not None:
                yield buffer


def module_name(kind: type) -> str:
    """The name of the Python module that defines a class; empty where it is no text."""
    name = kind.__module__
    return name if isinstance(name, str) else ""
