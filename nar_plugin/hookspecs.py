"""The hooks that a model library's plugin can fill, and the types that they exchange.

A plugin is a module with some of these functions, each marked with `nar_plugin.hookimpl`. Leave out
arguments that you do not use. Give none a default value, because pluggy would pass the default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from io import BufferedReader

    from torch import nn

PROJECT = "nar_plugin"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@dataclass(frozen=True)
class ExampleInputs:
    """One guess at what a model's forward accepts.

    Floating point tensors may live on the meta device; integer and boolean tensors (token ids,
    masks) are real and small, so that a forward can look at their values.

    Attributes:
        args: Positional arguments.
        kwargs: Keyword arguments.
        batch: The number of samples. Use 1, unless the model refuses it: FLOPs are divided by it.
        blind: Whether nothing in the model supports this guess. Mended guesses are tried before it.
    """

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    batch: int = 1
    blind: bool = False


@dataclass(frozen=True)
class Provenance:
    """Where a model came from, as the model itself says. It names results and never ranks them."""

    name: str
    library: str
    hub_id: str | None = None


@dataclass(frozen=True)
class NamedArchitecture:
    """One architecture that a library can build by name.

    Attributes:
        name: A model reference, such as `timm:resnet50`.
        library: Distribution name of the library.
        family: The defining module or model type, such as `resnet`.
        task: Such as `image-classification`; the names of the Hugging Face Hub.
        licence: SPDX expression of the code.
        url: A page about the architecture, or None.
        hub_id: Repository on the Hub of a checkpoint with this architecture, or None.
        composed: Whether the plugin made the name by combining parts, such as any encoder with any
            decoder, and the library does not publish it.
        year: Of the first version of its paper.
        paper: Such as `arXiv:1512.03385`, `doi:10.1038/nature14236` or an address.
        title: Of the paper.
        weights_license: Of the published weights, in the words of the source that says it.
        build: A line of Python that builds it.
    """

    name: str
    library: str
    family: str
    task: str
    licence: str
    url: str | None = None
    hub_id: str | None = None
    composed: bool = False
    year: int | None = None
    paper: str | None = None
    title: str | None = None
    weights_license: str | None = None
    build: str | None = None


@dataclass(frozen=True)
class FileFormat:
    """A kind of file, or of object in hand, that holds a model.

    Attributes:
        name: In an error's words, such as `an ONNX model`.
        endings: Of its files, such as `.onnx`.
        read: From the open file to a module whose forward computes what the file says. Weights are
            on the meta device. Code in the file never runs, and an error says what is wrong.
        holds: Whether an open file is of this format, where another has the same ending.
        converts: From an object in hand to such a module; None of any other object.
    """

    name: str
    endings: tuple[str, ...]
    read: Callable[[BufferedReader], nn.Module]
    holds: Callable[[BufferedReader], bool] | None = None
    converts: Callable[[object], nn.Module | None] | None = None


@hookspec
def nar_library() -> str:
    """Return the import name of the model library, such as `timm`.

    The other hooks of the plugin run once that library is needed.

    Example:
        ```python
        @hookimpl
        def nar_library() -> str:
            return "timm"
        ```
    """
    raise AssertionError("a specification, never called")


@hookspec
def nar_provenance(model: nn.Module) -> Provenance | None:
    """Say where this model came from, as the model itself tells, or return None.

    Example:
        ```python
        @hookimpl
        def nar_provenance(model):
            cfg = getattr(model, "pretrained_cfg", None)
            return Provenance(f"timm:{cfg['architecture']}", "timm") if cfg else None
        ```
    """
    raise AssertionError("a specification, never called")


@hookspec
def nar_example_inputs(model: nn.Module) -> Iterable[ExampleInputs] | None:
    """Guess inputs that the model's forward accepts, best guess first, or return None.

    Example:
        ```python
        @hookimpl
        def nar_example_inputs(model):
            if isinstance(model, MyNet):
                return [ExampleInputs((torch.empty(1, 3, 224, 224, device="meta"),))]
        ```
    """
    raise AssertionError("a specification, never called")


@hookspec
def nar_mended_inputs(
    model: nn.Module, inputs: ExampleInputs, message: str
) -> Iterable[ExampleInputs] | None:
    """Propose inputs after the forward refused these with this message, or return None.

    The tracer asks when every guess that is not blind was refused. It asks again about inputs that
    you proposed, and stops after a limited number of tries.

    Example:
        ```python
        @hookimpl
        def nar_mended_inputs(model, inputs, message):
            if "have 1 channels" in message:
                return [ExampleInputs((torch.empty(1, 1, 224, 224, device="meta"),))]
        ```
    """
    raise AssertionError("a specification, never called")


@hookspec
def nar_architectures() -> Iterable[NamedArchitecture] | None:
    """List every architecture that the installed library can build by name.

    Example:
        ```python
        @hookimpl
        def nar_architectures():
            for name in timm.list_models():
                yield NamedArchitecture(f"timm:{name}", "timm", "resnet", "image-classification",
                                        "Apache-2.0")
        ```
    """
    raise AssertionError("a specification, never called")


@hookspec
def nar_build(name: str) -> nn.Module | None:
    """Build the named architecture without weights, or return None for a name of another library.

    The hook is called under `torch.device("meta")`. `name` is a whole reference: `timm:resnet50`.

    Example:
        ```python
        @hookimpl
        def nar_build(name):
            library, _, architecture = name.partition(":")
            return timm.create_model(architecture) if library == "timm" else None
        ```
    """
    raise AssertionError("a specification, never called")


@hookspec
def nar_file_formats() -> Iterable[FileFormat] | None:
    """Say which files this plugin reads as models.

    Example:
        ```python
        @hookimpl
        def nar_file_formats():
            return [FileFormat("a tiny net", (".tiny",), read=read_tiny)]
        ```
    """
    raise AssertionError("a specification, never called")
