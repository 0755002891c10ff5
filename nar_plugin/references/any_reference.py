"""Whatever a person passed as `model`, to the nn.Module that is meant."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from nar_plugin.errors import NarError, in_words
from nar_plugin.references.configuration import from_config, is_config
from nar_plugin.references.model_file import from_object, from_path
from nar_plugin.references.resolution import resolve

if TYPE_CHECKING:
    from torch import nn


def as_model(candidate: object, *, caller: str = "find_similar") -> nn.Module:
    """The model itself, or the one that a config or a reference describes.

    Example:
        ```python
        as_model(torchvision.models.resnet18())
        as_model(transformers.BertConfig())
        as_model("timm:resnet50")
        ```

    Args:
        candidate: An nn.Module, an exported program, a transformers config, a model reference, or
            the path of a model file, of a `config.json` or of its folder.
        caller: The public function that was called, for the error's text.

    Raises:
        NarError: When it is none of these; the text names what was got.
    """
    if issubclass(type(candidate), str):
        return resolve(str(candidate))
    if issubclass(type(candidate), Path):
        return from_path(cast(Path, candidate))
    from torch import jit, nn

    kind = type(candidate)
    if issubclass(kind, nn.Module) and not issubclass(kind, jit.ScriptModule):
        return cast("nn.Module", candidate)
    if (model := from_object(candidate)) is not None:
        return model
    if is_config(candidate):
        return from_config(candidate)
    raise NarError(
        f"{caller} wants a torch.nn.Module, a transformers config or a reference such as "
        f"'timm:resnet50'; got {_described(candidate, caller)}"
    )


def _described(candidate: object, caller: str) -> str:
    """What it is, and which part of it would do; its type alone where it cannot be looked at."""
    try:
        return _looked_at(candidate, caller)
    except (Exception, SystemExit):  # somebody else's `__getattr__` or `__repr__`
        return f"a {type(candidate).__name__}"


def _looked_at(candidate: object, caller: str) -> str:
    import torch
    from torch import nn

    if isinstance(candidate, type) and issubclass(candidate, nn.Module):
        return f"the class {candidate.__name__}: make a model of it first, {candidate.__name__}()"
    kind = type(candidate).__name__
    if parts := _parts(candidate):
        others = f" (also {', '.join(f'pipe.{part}' for part in parts[1:])})" if parts[1:] else ""
        return f"a {kind} of several models: ask one, such as pipe.{parts[0]}.{caller}(){others}"
    if isinstance(candidate, Mapping) and any(map(torch.is_tensor, candidate.values())):
        return (
            f"a {kind} of tensors: weights alone, without a forward; find_similar says which "
            f"designs have them, else build the model and ask it, {caller}(model)"
        )
    return f"{kind}: {in_words(candidate)}"


def _parts(candidate: object) -> list[str]:
    """The models of a diffusers pipeline, known by its `components`; largest first."""
    from torch import nn

    components = getattr(candidate, "components", None)
    if not isinstance(components, Mapping):
        return []
    sizes = {
        str(name): sum(parameter.numel() for parameter in part.parameters())
        for name, part in components.items()
        if isinstance(part, nn.Module)
    }
    return sorted(sizes, key=lambda name: -sizes[name])
