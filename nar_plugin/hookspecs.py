"""The hooks that a model library's plugin can fill, and the types that they exchange.

A plugin is a module with any of these functions, marked with `nar_plugin.hookimpl`. A hook
function may leave out arguments that it does not use; none has a default value (pluggy would
silently pass the default).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
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
        batch: How many samples they hold; a graph's FLOPs are those of one. One is best, but for
            models that refuse it.
        blind: Whether nothing of the model speaks for them. What the forward's messages make of
            the guesses before is tried first.
    """

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    batch: int = 1
    blind: bool = False


@dataclass(frozen=True)
class Provenance:
    """Where a model came from, as far as the model itself says. Labels results, never ranks."""

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
        composed: Whether the name is a cell of a cross product that the plugin enumerates, such
            as any encoder in any decoder, and not something that the library publishes.
    """

    name: str
    library: str
    family: str
    task: str
    licence: str
    url: str | None = None
    hub_id: str | None = None
    composed: bool = False


@hookspec
def nar_library() -> str:
    """The import name of the model library, such as `timm`; its other hooks run only when needed.

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
    """Where this model came from, read from the model itself, or None.

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
    """Inputs that the model's forward should accept, best guess first, or None.

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
    """What to try after the forward refused these inputs with this message, or None.

    It is asked when every guess that is not blind was refused, and again for what it proposed; the
    tracer stops after a bounded number of tries.

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
    """Every architecture that the installed library can build by name.

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
    """Build the named architecture, without weights, or None when the name is another's.

    It is called under `torch.device("meta")`. `name` is a whole reference, `timm:resnet50`.

    Example:
        ```python
        @hookimpl
        def nar_build(name):
            library, _, architecture = name.partition(":")
            return timm.create_model(architecture) if library == "timm" else None
        ```
    """
    raise AssertionError("a specification, never called")
