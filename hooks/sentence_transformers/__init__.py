"""sentence_transformers: sentence embeddings, cross-encoders and sparse encoders.

https://www.sbert.net
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs, Provenance

if TYPE_CHECKING:
    from torch import nn

_LIBRARY = "sentence_transformers"
_DISTRIBUTION = "sentence-transformers"
_OWNER = "sentence-transformers"  # on the Hub
_HUB_ID = re.compile(r"[\w-][\w.-]*/[\w.-]+")
_TASKS = {
    "sentence": "sentence-similarity",
    "cross": "text-ranking",
    "sparse": "feature-extraction",
}


def _entries() -> Mapping[str, Entry]:
    """Published models whose layout is documented."""
    import sentence_transformers  # noqa: F401 (an ImportError where it is not installed)

    from .backbones import CONFIGS
    from .construction import construct
    from .layouts import LAYOUTS

    return {
        name: Entry(
            build=partial(construct, layout),
            family=str(CONFIGS[layout.backbone]["model_type"]).replace("-", "_"),
            task=_TASKS[layout.kind],
            url=f"https://huggingface.co/{name if '/' in name else f'{_OWNER}/{name}'}",
        )
        for name, layout in LAYOUTS.items()
    }


def _with_owner(name: str) -> Callable[[], nn.Module] | None:
    """Such as `sentence-transformers/all-MiniLM-L6-v2`, which is listed without its owner."""
    entry = _entries().get(name.removeprefix(f"{_OWNER}/"))
    return entry.build if entry else None


def _inputs(model: nn.Module) -> Iterable[ExampleInputs]:
    """The features that the first module reads, in one dict."""
    from .inputs import guesses

    return guesses(model)


def _provenance(model: nn.Module, owner: type) -> Provenance:
    """The class, and the Hub id that its encoder's configuration was loaded from."""
    hub_id = _hub_id(model)
    name = (hub_id or owner.__name__).removeprefix(f"{_OWNER}/")
    return Provenance(f"{_LIBRARY}:{name}", _DISTRIBUTION, hub_id)


def _hub_id(model: nn.Module) -> str | None:
    """Where the encoder's configuration was loaded from, if that was the Hub."""
    for module in model.children():
        config = getattr(getattr(module, "auto_model", None), "config", None)
        source = str(getattr(config, "_name_or_path", "") or "")
        if _HUB_ID.fullmatch(source):
            return source
    return None


_CATALOGUE = Catalogue(
    package=_LIBRARY,
    distribution=_DISTRIBUTION,
    licence="Apache-2.0",
    url="https://www.sbert.net",
    entries=_entries,
    inputs=_inputs,
    unlisted=_with_owner,
    provenance=_provenance,
)
nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = _CATALOGUE.hooks()
