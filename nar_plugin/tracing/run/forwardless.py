"""Modules that hold the parts of a model and have no forward of their own, as agents do.

A Lightning module with steps only is another: it most often holds one network, which is the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from torch import nn

from nar_plugin.tracing.twin.parts import named_children, parameters

_MOST = 6  # parts that are named


def forwardless(model: nn.Module) -> str:
    """That a module has no forward, and which of its parts can be asked about; else empty.

    Example:
        ```python
        forwardless(agent)  # "Agent has no forward of its own; ask about a part: model.actor"
        ```
    """
    if _has_forward(model):
        return ""
    parts = [name for name, _ in islice(_parts(model, "model"), _MOST + 1)]
    named = ", ".join(parts[:_MOST]) + (", …" if len(parts) > _MOST else "")
    advice = f"; ask about a part: {named}" if named else ""
    return f"{type(model).__name__} has no forward of its own{_refusal(model)}{advice}"


def lone_part(model: nn.Module) -> tuple[str, nn.Module] | None:
    """The part that stands for a module without a forward, as it is written, or None.

    It is the only one with a forward and parameters, and has all the parameters of the model.

    Example:
        ```python
        lone_part(lightning_module)  # ("model.net", lightning_module.net)
        ```
    """
    parts = list(islice(_parts(model, "model"), 2))
    if len(parts) != 1:
        return None
    inside = {id(parameter) for parameter in parameters(parts[0][1])}
    whole = all(id(parameter) in inside for parameter in parameters(model))
    return parts[0] if whole else None


def _has_forward(module: nn.Module) -> bool:
    """Whether a call runs more than a refusal: nn.Module's own, or an abstract class's."""
    if "forward" in vars(module) or type(module).__call__ is not nn.Module.__call__:
        return True
    forward = _forward(module)
    code = getattr(forward, "__code__", None)  # absent from a forward in C++ or TorchScript
    abstract = code is not None and code.co_names == (NotImplementedError.__name__,)
    return forward is not nn.Module.forward and not abstract


def _forward(module: nn.Module) -> Any:
    """The first forward of its classes that does not only call the next one, as Lightning's."""
    forwards = [vars(kind)["forward"] for kind in type(module).__mro__ if "forward" in vars(kind)]
    for forward in forwards:
        names = getattr(getattr(forward, "__code__", None), "co_names", ())
        if names != ("super", "forward"):
            return forward
    return nn.Module.forward


def _refusal(model: nn.Module) -> str:
    """What an abstract forward raises in words, in brackets; empty where it has none."""
    forward = _forward(model)
    if forward is nn.Module.forward:
        return ""
    texts = [text for text in forward.__code__.co_consts if isinstance(text, str)]
    words = " ".join(text for text in texts if text != forward.__doc__)
    return f" ({words})" if words else ""


def _parts(module: nn.Module, name: str) -> Iterator[tuple[str, nn.Module]]:
    """The nearest modules inside that have a forward and parameters, and how they are written."""
    for key, child in named_children(module):
        written = _written(module, name, key)
        if next(parameters(child), None) is None:
            continue
        if _has_forward(child):
            yield written, child
        else:
            yield from _parts(child, written)


def _written(module: nn.Module, name: str, key: str) -> str:
    """A child in Python."""
    if isinstance(module, nn.ModuleList):
        return f"{name}[{key}]"
    return f"{name}[{key!r}]" if isinstance(module, nn.ModuleDict) else f"{name}.{key}"
