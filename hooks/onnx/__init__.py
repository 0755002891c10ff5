"""onnx: graphs of ONNX, as calls of torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nar_plugin.hookspecs import ExampleInputs, FileFormat, hookimpl

if TYPE_CHECKING:
    from io import BufferedReader

    from torch import nn


@hookimpl
def nar_library() -> str:
    """The import name."""
    return "onnx"


@hookimpl
def nar_file_formats() -> list[FileFormat]:
    """`.onnx`, and what onnxruntime saves for itself where it is an ONNX file too."""
    return [FileFormat("an ONNX model", (".onnx",), read)]


@hookimpl
def nar_example_inputs(model: nn.Module) -> list[ExampleInputs] | None:
    """The inputs that the graph declares, with the likely sizes of what it leaves open."""
    from .._shared.program import Program

    found: Any = getattr(model, "onnx_inputs", None) if issubclass(type(model), Program) else None
    return [ExampleInputs(inputs) for inputs in found] if found else None


def read(file: BufferedReader) -> nn.Module:
    """The graph as a module; weights are not read.

    Raises:
        ImportError: The extra `onnx` is not installed.
    """
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise ImportError("it needs onnx: pip install 'nar-plugin[onnx]'") from error
    from .model import model_of

    model: nn.Module = model_of(file)
    return model
