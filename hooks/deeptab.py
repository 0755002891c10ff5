"""deeptab: networks for tables, of the makers of Mambular."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

from ._shared.class_catalogue import classes_below, entries

if TYPE_CHECKING:
    from torch import nn

_NUMBERS, _CATEGORIES = 6, 4


def _entries() -> Mapping[str, Entry]:
    about = {"preprocessing": "quantile", "dimension": 1, "categories": None}
    numbers: dict[str, Any] = {f"number{place}": about for place in range(_NUMBERS)}
    about = {"preprocessing": "int", "dimension": 1, "categories": 10}
    categories: dict[str, Any] = {f"category{place}": about for place in range(_CATEGORIES)}
    values: dict[str, Any] = {"feature_information": (numbers, categories, {})}
    classes = classes_below("deeptab.architectures")
    found: Mapping[str, Entry] = entries(classes, values, task="tabular-regression")
    return found


def _inputs(_: nn.Module) -> list[ExampleInputs]:
    """A batch of rows: columns of numbers, columns of categories, no embeddings."""
    import torch

    numbers = [torch.empty(8, 1, device="meta") for _ in range(_NUMBERS)]
    categories = [torch.arange(8).view(8, 1) for _ in range(_CATEGORIES)]
    return [ExampleInputs((numbers, categories, []), batch=8)]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="deeptab",
    distribution="deeptab",
    licence="MIT",
    url="https://deeptab.readthedocs.io",
    entries=_entries,
    inputs=_inputs,
).hooks()
