"""sentence_transformers: sentence embeddings, cross-encoders and sparse encoders.

https://www.sbert.net
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nar_plugin.hooks import _references

from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance, hookimpl

if TYPE_CHECKING:
    from torch import nn

_LIBRARY = "sentence_transformers"
_INSTALL = "pip install sentence-transformers"
_HUB_ID = re.compile(r"[\w-][\w.-]*/[\w.-]+")
_TASKS = {
    "sentence": "sentence-similarity",
    "cross": "text-ranking",
    "sparse": "feature-extraction",
}


@hookimpl
def nar_library() -> str:
    """The library's import name."""
    return _LIBRARY


@hookimpl
def nar_provenance(model: nn.Module) -> Provenance | None:
    """The class, and the Hub id that its encoder's configuration was loaded from."""
    owner = _class(model)
    if owner is None:
        return None
    hub_id = _hub_id(model)
    name = (hub_id or owner.__name__).removeprefix("sentence-transformers/")
    return Provenance(f"{_LIBRARY}:{name}", "sentence-transformers", hub_id)


@hookimpl
def nar_example_inputs(model: nn.Module) -> Iterator[ExampleInputs] | None:
    """The features that the first module reads, in one dict."""
    if _class(model) is None:
        return None
    from nar_plugin.hooks._sentence_transformers_inputs import guesses

    found: Iterator[ExampleInputs] = guesses(model)
    return found


@hookimpl
def nar_architectures() -> Iterator[NamedArchitecture]:
    """Published models whose layout is documented."""
    try:
        import sentence_transformers  # noqa: F401
    except ImportError:
        return
    from nar_plugin.hooks._sentence_transformers_backbones import CONFIGS
    from nar_plugin.hooks._sentence_transformers_layouts import LAYOUTS

    for name, layout in LAYOUTS.items():
        hub_id = name if "/" in name else f"sentence-transformers/{name}"
        yield NamedArchitecture(
            name=f"{_LIBRARY}:{name}",
            library="sentence-transformers",
            family=str(CONFIGS[layout.backbone]["model_type"]).replace("-", "_"),
            task=_TASKS[layout.kind],
            licence="Apache-2.0",
            url=f"https://huggingface.co/{hub_id}",
        )


@hookimpl
def nar_build(name: str) -> nn.Module | None:
    """Build `sentence_transformers:all-MiniLM-L6-v2` without weights."""
    wanted = _references.architecture(name, _LIBRARY)
    if wanted is None:
        return None
    try:
        import sentence_transformers  # noqa: F401
    except ImportError as error:
        raise _references.missing(name, _LIBRARY, _INSTALL) from error
    from nar_plugin.hooks._sentence_transformers_construction import construct
    from nar_plugin.hooks._sentence_transformers_layouts import LAYOUTS

    layout = LAYOUTS.get(wanted.removeprefix("sentence-transformers/"))
    if layout is None:
        raise _references.unknown(name, _LIBRARY, LAYOUTS)
    model: nn.Module = construct(layout)
    return model


def _class(model: nn.Module) -> type | None:
    """The nearest class that the library defines, so that a subclass counts as well."""
    for owner in type(model).__mro__:
        if owner.__module__.startswith(f"{_LIBRARY}."):
            return owner
    return None


def _hub_id(model: nn.Module) -> str | None:
    """Where the encoder's configuration was loaded from, if that was the Hub."""
    for module in model.children():
        config = getattr(getattr(module, "auto_model", None), "config", None)
        source = str(getattr(config, "_name_or_path", "") or "")
        if _HUB_ID.fullmatch(source):
            return source
    return None
