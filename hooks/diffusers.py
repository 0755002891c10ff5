"""diffusers: autoencoders, U-Nets, diffusion transformers and ControlNets, by class.

https://github.com/huggingface/diffusers
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nar_plugin.hooks import _references

from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance, hookimpl

if TYPE_CHECKING:
    from torch import nn

_INSTALL = "pip install diffusers"
_HUB_ID = re.compile(r"[\w-][\w.-]*/[\w.-]+")


@hookimpl
def nar_library() -> str:
    """The library's import name."""
    return "diffusers"


@hookimpl
def nar_provenance(model: nn.Module) -> Provenance | None:
    """The class, and the Hub id that the configuration was loaded from."""
    if not _is_ours(model):
        return None
    config: Any = getattr(model, "config", {})  # several ControlNets together have none
    source = str(config.get("_name_or_path") or "")
    hub_id = source if _HUB_ID.fullmatch(source) else None
    for owner in type(model).__mro__:
        if owner.__module__.startswith("diffusers.models."):
            return Provenance(f"diffusers:{owner.__name__}", "diffusers", hub_id)
    return None


@hookimpl
def nar_example_inputs(model: nn.Module) -> Iterator[ExampleInputs] | None:
    """What the forward's signature and the configuration ask for."""
    if not _is_ours(model):
        return None
    from nar_plugin.hooks._diffusers_inputs import guesses

    found: Iterator[ExampleInputs] = guesses(model)
    return found


@hookimpl
def nar_architectures() -> Iterator[NamedArchitecture]:
    """Every public model class that has a forward of its own."""
    try:
        import diffusers  # noqa: F401
    except ImportError:
        return
    from nar_plugin.hooks._diffusers_catalogue import classes, family, task

    for name, owner in classes().items():
        yield NamedArchitecture(
            name=f"diffusers:{name}",
            library="diffusers",
            family=family(owner),
            task=task(owner),
            licence="Apache-2.0",
            url="https://huggingface.co/docs/diffusers/api/models/overview",
        )


@hookimpl
def nar_build(name: str) -> nn.Module | None:
    """Build `diffusers:UNet2DConditionModel` from its default configuration, without weights."""
    wanted = _references.architecture(name, "diffusers")
    if wanted is None:
        return None
    try:
        import diffusers  # noqa: F401
    except ImportError as error:
        raise _references.missing(name, "diffusers", _INSTALL) from error
    from nar_plugin.hooks._diffusers_catalogue import classes
    from nar_plugin.hooks._diffusers_configs import build

    known = classes()
    if wanted not in known:
        raise _references.unknown(name, "diffusers", known)
    try:
        model: nn.Module = build(known[wanted], known)
    except (TypeError, ValueError) as error:
        raise PluginError(
            f"diffusers cannot build {name} from its default configuration: "
            f"{str(error).strip()[:300]}"
        ) from error
    return model


def _is_ours(model: nn.Module) -> bool:
    """Whether this is a ModelMixin; diffusers is not imported to find out."""
    modeling = sys.modules.get("diffusers.models.modeling_utils")
    return modeling is not None and isinstance(model, modeling.ModelMixin)
