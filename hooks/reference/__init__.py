"""reference: classic designs that no package of the registry has, typed in from their papers.

`designs.toml` lists them; docs/reference-designs.md says what each leaves out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs, Provenance

from .._shared.expressions import evaluate
from .._shared.tables import table

if TYPE_CHECKING:
    from torch import Tensor, nn


def _designs() -> dict[str, Any]:
    return table(__name__, "designs.toml")


def _entries() -> Mapping[str, Entry]:
    return {
        name: Entry(
            build=partial(_build, name),
            family=row["family"],
            task=row["task"],
            url=page(row["paper"]),
            year=row["year"],
            paper=row["paper"],
            title=row["title"],
            line=f"nar_plugin.hooks.reference.{row['build']}",
        )
        for name, row in _designs().items()
    }


def page(paper: str) -> str:
    """The page of a paper.

    Example:
        ```python
        page("arXiv:1609.03499")  # 'https://arxiv.org/abs/1609.03499'
        ```
    """
    kind, _, number = paper.partition(":")
    prefixes = {"arXiv": "https://arxiv.org/abs/", "doi": "https://doi.org/"}
    return f"{prefixes[kind]}{number}" if kind in prefixes else paper


def _build(name: str) -> nn.Module:
    """The design, which knows its own name."""
    text = _designs()[name]["build"]
    module = text.partition(".")[0]
    model: nn.Module = evaluate(text, {module: import_module(f".{module}", __name__)})
    model.design = name  # type: ignore[assignment]
    return model


def _inputs(model: nn.Module) -> list[ExampleInputs] | None:
    row = _designs().get(getattr(model, "design", ""))
    return [ExampleInputs(tuple(map(_tensor, row["inputs"])))] if row else None


def _tensor(text: str) -> Tensor:
    """A tensor of the shape that a row of the table states: ids where it has a limit."""
    import torch

    sizes, _, limit = text.partition("<")
    shape = tuple(map(int, sizes.split(",")))
    if limit:
        return torch.arange(math.prod(shape)).view(shape) % int(limit)
    return torch.empty(shape, device="meta")


def _provenance(model: nn.Module, _: type) -> Provenance | None:
    """The name of a design that was built here."""
    design = getattr(model, "design", None)
    return Provenance(f"reference:{design}", "reference") if design else None


_catalogue = Catalogue(
    package="reference",
    distribution="reference",
    licence="Apache-2.0",
    url="https://github.com/nar-plugin/nar-plugin",
    entries=_entries,
    inputs=_inputs,
    models=(__name__,),
    provenance=_provenance,
)
nar_provenance = _catalogue.nar_provenance
nar_example_inputs = _catalogue.nar_example_inputs
nar_architectures = _catalogue.nar_architectures
nar_build = _catalogue.nar_build
