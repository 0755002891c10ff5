"""A model reference, which is text, to the model that it names."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from nar_plugin import manager
from nar_plugin.errors import NarError, PluginError, UnknownReference
from nar_plugin.references.callables import current_folder_importable, from_callable
from nar_plugin.references.config_file import FILES
from nar_plugin.references.configuration import from_hub
from nar_plugin.references.construction import Result, built
from nar_plugin.references.guard import DataOnly
from nar_plugin.references.installation import PACKAGES, NotInstalled, want
from nar_plugin.references.model_file import from_path, is_model_file
from nar_plugin.references.suggestions import did_you_mean, libraries, listed

if TYPE_CHECKING:
    from torch import nn

_FORMS = (
    "timm:resnet50, torchvision:resnet50, transformers:bert, hub:owner/name, ./folder with a "
    "config.json, ./model.onnx, or package.module:callable"
)
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?")
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def resolve(reference: str) -> nn.Module:
    """Build the model that a reference names, without weights.

    Example:
        ```python
        resolve("timm:resnet50")
        resolve("transformers:bert/BertForMaskedLM")
        resolve("hub:owner/name@v1")
        resolve("./folder")
        resolve("my.module:make_model")
        ```

    Raises:
        NarError: When it names no model; the text says which ones come near, or what to install.
    """
    if _is_path(reference):
        return from_path(Path(reference))
    library, colon, name = reference.partition(":")
    if not colon or not name:
        raise _not_a_reference(reference)
    if library == "hub":
        return from_hub(name)
    if library in PACKAGES:
        want(library, for_what=reference)
    model = _from_plugins(reference)
    return _from_code(reference) if model is None else model


def _is_path(reference: str) -> bool:
    return (
        reference.startswith((".", "~"))
        or Path(reference).is_absolute()
        or (":" not in reference and _is_file(Path(reference)))
    )


def _is_file(path: Path) -> bool:
    return path.suffix in FILES or is_model_file(path)


def _from_plugins(reference: str) -> nn.Module | None:
    def guarded(ask: Callable[[], Result]) -> Result:
        with DataOnly(reference):
            return built(ask)

    answers = manager.call_each("nar_build", around=guarded, name=reference)
    try:
        return next((model for _, model in answers), None)
    except PluginError as error:
        if isinstance(error.__cause__, ImportError):
            raise NotInstalled(reference, str(error)) from error
        raise


def _from_code(reference: str) -> nn.Module:
    library, _, name = reference.partition(":")
    if library in (*PACKAGES, *libraries()):
        raise NarError(_why_not_built(reference))
    if library.endswith(".py") or not (_DOTTED.fullmatch(library) and _DOTTED.fullmatch(name)):
        raise _not_a_reference(reference)
    return from_callable(reference)


def _why_not_built(reference: str) -> str:
    """What became of the library's plugin, or, if it is well, which names come near."""
    library, _, name = reference.partition(":")
    for plugin in manager.list_plugins():
        if plugin.name == library and plugin.status == "disabled":
            return f"{reference} wants the plugin {library}, which NAR_DISABLE_PLUGINS turns off"
        if plugin.name == library and plugin.error:
            return f"{reference} was not built; the plugin {library} says: {plugin.error}"
    return f"{library} has no architecture {name}{did_you_mean(reference, listed(library))}"


def _not_a_reference(reference: str) -> NarError:
    problem = f"{reference!r} is not a model reference"
    if _HUB_ID.fullmatch(reference):
        return NarError(f"{problem}; for a model of the Hugging Face Hub write hub:{reference}")
    if written := _of_a_module(reference):
        return NarError(f"{problem}; for what a module defines write {written}")
    return UnknownReference(reference, problem, f": expected {_FORMS}")


def _of_a_module(reference: str) -> str:
    """`models:Net` for `models.Net` and `models.py:Net`; empty where there is no such module."""
    module, _, name = reference.replace(".py:", ".").rpartition(".")
    if not (_DOTTED.fullmatch(module) and _DOTTED.fullmatch(name)):
        return ""
    with current_folder_importable(), suppress(ValueError):  # of a module that has no spec
        if find_spec(module.partition(".")[0]):
            return f"{module}:{name}"
    return ""
