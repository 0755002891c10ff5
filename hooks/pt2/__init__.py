"""pt2: programs of `torch.export`, in a file and in hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nar_plugin.hookspecs import FileFormat, hookimpl

if TYPE_CHECKING:
    from io import BufferedReader

    from torch import nn


@hookimpl
def nar_file_formats() -> list[FileFormat]:
    """`.pt2`, which `torch.export.save` writes."""
    return [FileFormat("a program of torch.export", (".pt2",), read, converts=convert)]


def read(file: BufferedReader) -> nn.Module:
    """The program of an archive, from its JSON alone."""
    from .archive import program

    model: nn.Module = program(file)
    return model


def convert(candidate: object) -> nn.Module | None:
    """A `torch.export.ExportedProgram` as a module."""
    from torch.export import ExportedProgram

    if not issubclass(type(candidate), ExportedProgram):
        return None
    from .in_hand import program

    model: nn.Module = program(candidate)
    return model
