"""torchscript: programs of `torch.jit`, in a file and in hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nar_plugin.hookspecs import ExampleInputs, FileFormat, hookimpl

if TYPE_CHECKING:
    from io import BufferedReader

    from torch import nn

_ENDINGS = (".pt", ".pth", ".torchscript", ".ts", ".jit")


@hookimpl
def nar_file_formats() -> list[FileFormat]:
    """What `torch.jit.save` writes; files of weights have some of its endings."""
    return [FileFormat("a TorchScript program", _ENDINGS, read, holds, convert)]


@hookimpl
def nar_example_inputs(model: nn.Module) -> list[ExampleInputs] | None:
    """What the first layers of the program take."""
    from .._shared.program import Program

    found: Any = getattr(model, "script_inputs", None) if issubclass(type(model), Program) else None
    return [ExampleInputs(inputs) for inputs in found] if found else None


def holds(file: BufferedReader) -> bool:
    """Whether it is an archive with code."""
    from .archive import has_code

    found: bool = has_code(file)
    return found


def read(file: BufferedReader) -> nn.Module:
    """The program of a file."""
    from .archive import load

    model: nn.Module = load(file)
    return model


def convert(candidate: object) -> nn.Module | None:
    """A `torch.jit.ScriptModule` as a module whose weights can be told from its inputs."""
    from torch.jit import ScriptModule

    if not issubclass(type(candidate), ScriptModule):
        return None
    from .lowered import program

    model: nn.Module = program(candidate)
    return model
