"""x-transformers: one transformer with many options. https://pypi.org/project/x-transformers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

from .._shared.expressions import evaluate
from .._shared.tables import table

if TYPE_CHECKING:
    from torch import nn

_PACKAGE = "x_transformers"


def _entries() -> Mapping[str, Entry]:
    """The README's examples, such as `x_transformers:decoder/rotary`."""
    names = vars(import_module(_PACKAGE))
    return {
        name: Entry(partial(evaluate, row["build"], names), row["family"], row["task"])
        for name, row in table(__package__, "networks.toml").items()
    }


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    """Token ids, vectors or an image, as the class and its widths say."""
    from .inputs import guesses

    return guesses(model)


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package=_PACKAGE,
    distribution=_PACKAGE,
    licence="MIT",
    url="https://codeberg.org/lucidrains/x-transformers",
    entries=_entries,
    inputs=_inputs,
).hooks()
