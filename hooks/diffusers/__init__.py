"""diffusers: autoencoders, U-Nets, diffusion transformers and ControlNets, by class.

https://github.com/huggingface/diffusers
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import ExampleInputs, Provenance, hookimpl

if TYPE_CHECKING:
    from torch import nn

_HUB_ID = re.compile(r"[\w-][\w.-]*/[\w.-]+")


def _entries() -> Mapping[str, Entry]:
    """Every public model class that has a forward of its own."""
    import diffusers  # noqa: F401 (an ImportError is the answer where it is not installed)

    from .catalogue import classes, family, task

    known = classes()
    return {
        name: Entry(partial(_built, owner, known), family(owner), task(owner))
        for name, owner in known.items()
    }


def _built(owner: type[Any], known: Mapping[str, type[Any]]) -> nn.Module:
    """A model of the default configuration."""
    from .configs import build

    try:
        model: nn.Module = build(owner, known)
    except (TypeError, ValueError) as error:
        raise PluginError(
            f"diffusers cannot build diffusers:{owner.__name__} from its default configuration: "
            f"{str(error).strip()[:300]}"
        ) from error
    return model


def _provenance(model: nn.Module, owner: type) -> Provenance | None:
    """The class, and the Hub id that the configuration was loaded from."""
    if not _is_ours(model):
        return None
    config: Any = getattr(model, "config", {})  # several ControlNets together have none
    source = str(config.get("_name_or_path") or "")
    hub_id = source if _HUB_ID.fullmatch(source) else None
    return Provenance(f"diffusers:{owner.__name__}", "diffusers", hub_id)


_CATALOGUE = Catalogue(
    package="diffusers",
    distribution="diffusers",
    licence="Apache-2.0",
    url="https://huggingface.co/docs/diffusers/api/models/overview",
    entries=_entries,
    models=("diffusers.models",),
    provenance=_provenance,
)
nar_library = _CATALOGUE.nar_library
nar_provenance = _CATALOGUE.nar_provenance
nar_architectures = _CATALOGUE.nar_architectures
nar_build = _CATALOGUE.nar_build


@hookimpl
def nar_example_inputs(model: nn.Module) -> Iterator[ExampleInputs] | None:
    """What the forward's signature and the configuration ask for."""
    if not _is_ours(model):
        return None
    from .inputs.guesses import guesses

    return guesses(model)


def _is_ours(model: nn.Module) -> bool:
    """Whether this is a ModelMixin; diffusers is not imported to find out."""
    modeling = sys.modules.get("diffusers.models.modeling_utils")
    return modeling is not None and isinstance(model, modeling.ModelMixin)
