"""PyKEEN: models that embed knowledge graphs."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest import mock

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn

_NO_NETWORK = {"CooccurrenceFilteredModel", "FixedModel"}


def _entries() -> Mapping[str, Entry]:
    _import_resolvers()
    from pykeen.models import EvaluationOnlyModel, model_resolver

    return {
        model.__name__: Entry(
            build=partial(_build, model),
            family=str(model.__module__).rpartition(".")[2],
            task="graph-ml",
        )
        for model in model_resolver.lookup_dict.values()
        if not issubclass(model, EvaluationOnlyModel) and model.__name__ not in _NO_NETWORK
    }


def _import_resolvers() -> None:
    """Import class-resolver's lists of PyTorch's classes, without those of MONAI.

    It takes subclasses of subclasses for PyTorch's own, and refuses two of a name.
    """
    from class_resolver import api

    find = api.get_subclasses

    def of_torch(base: type, **kwargs: Any) -> list[type]:
        return [item for item in find(base, **kwargs) if str(item.__module__).startswith("torch.")]

    with mock.patch.object(api, "get_subclasses", of_torch):
        importlib.import_module("class_resolver.contrib.torch")


def _build(model: Any) -> nn.Module:
    """With the default sizes, for the graph of nations that the package carries."""
    import torch
    from pykeen.datasets.nations import Nations, NationsLiteral

    with torch.device("cpu"):
        data: Any = NationsLiteral() if "multimodal" in model.__module__ else Nations()
        triples: Any = data.training
    if model.__name__ in ("CompGCN", "NodePiece"):  # these ask for the inverse relations as well
        triples = Nations(create_inverse_triples=True).training
    built: nn.Module = model(triples_factory=triples)
    return built


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    """Heads, relations and tails of two triples; CompGCN computes the whole graph for any."""
    import torch

    places = (torch.tensor([0, 1]), torch.tensor([2, 3]), torch.tensor([4, 5]))
    samples = 1 if type(model).__name__ == "CompGCN" else 2
    return [ExampleInputs(places, kwargs, batch=samples) for kwargs in ({"mode": None}, {})]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="pykeen",
    distribution="pykeen",
    licence="MIT",
    url="https://github.com/pykeen/pykeen",
    entries=_entries,
    inputs=_inputs,
).hooks()
