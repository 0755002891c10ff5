"""Plain PyTorch: any `nn.Module` that no other plugin knows. Asked last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nar_plugin.hookspecs import ExampleInputs, hookimpl

if TYPE_CHECKING:
    from torch import nn


@hookimpl
def nar_library() -> str:
    """The library's import name."""
    return "torch"


@hookimpl
def nar_example_inputs(model: nn.Module) -> list[ExampleInputs]:
    """What the first layers and the names of the forward's arguments suggest."""
    from .guess.guesses import guesses

    found: list[ExampleInputs] = guesses(model)
    return found


@hookimpl
def nar_mended_inputs(model: nn.Module, inputs: ExampleInputs, message: str) -> list[ExampleInputs]:
    """What the message of a refusal says about the sizes, kinds and names that were wanted."""
    from .mend.messages import mended

    found: list[ExampleInputs] = mended(model, inputs, message)
    return found
