"""How an example of a README becomes a model and its inputs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nar_plugin.hookspecs import ExampleInputs

from .._shared import torchaudio_import
from .._shared.expressions import evaluate

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class Example:
    """A model of a README.

    Attributes:
        modules: What its names are imported from, the package first.
        build: The expression that makes the model.
        call: The arguments that it is called with, as a call of `call`; None leaves them to the
            tracer.
    """

    modules: str
    build: str
    call: str | None = None


def construct(example: Example) -> nn.Module:
    """Make the model.

    Raises:
        ImportError: The package is not installed.
    """
    import torch

    names = _names(example.modules)
    try:
        model: nn.Module = evaluate(example.build, names)
    except (NotImplementedError, RuntimeError):  # reads values of its weights as it makes them
        with torch.device("cpu"):
            model = evaluate(example.build, names).to("meta")
    return model


def inputs(example: Example) -> ExampleInputs:
    """What the README calls the model with; never its training loss."""
    import torch
    from torch.utils._pytree import tree_map

    with torch.device("cpu"), torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        names = {**_names(example.modules), "call": _arguments}
        args, kwargs = evaluate(example.call or "call()", names)
    kwargs.pop("return_loss", None)
    args, kwargs = tree_map(_unreal, (args, kwargs))
    return ExampleInputs(tuple(args), kwargs, batch=_samples((args, kwargs)))


def _samples(called_with: Any) -> int:
    """The first side of the first tensor, unless that is a vector."""
    from torch.utils._pytree import tree_leaves

    shapes = [item.shape for item in tree_leaves(called_with) if hasattr(item, "shape")]
    return int(shapes[0][0]) if shapes and len(shapes[0]) > 1 else 1


@cache
def _names(modules: str) -> dict[str, Any]:
    """What the expressions may use: what the modules hold, PyTorch first."""
    import torch

    names: dict[str, Any] = {}
    with torch.device("cpu"):  # tensors that a module makes when it is imported stay real
        with suppress(ImportError):
            torchaudio_import.import_torchaudio()
        for module in reversed(modules.split()):
            names.update(vars(import_module(module)))
    return {**names, "torch": torch, "nn": torch.nn, "dict": dict, "range": range}


def _arguments(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, kwargs


def _unreal(item: Any) -> Any:
    """Floating point tensors belong on the meta device."""
    import torch

    real = isinstance(item, torch.Tensor) and item.is_floating_point()
    return item.to("meta") if real else item
