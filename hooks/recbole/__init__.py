"""RecBole: recommenders of four kinds: general, sequential, context-aware, with knowledge."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

from .models import build, model_names

if TYPE_CHECKING:
    from torch import nn


def _entries() -> Mapping[str, Entry]:
    return {
        name: Entry(build=partial(build, name), family=name.lower(), task="recommendation")
        for name in model_names()
    }


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    """Two users, items or histories; a context-aware model gets every field of the data."""
    import torch

    interaction = _interaction(model)
    rows = torch.arange(1, 3)
    histories = torch.arange(1, 101).view(2, 50)
    lengths = torch.tensor([50, 20])
    values: dict[str, Any] = dict.fromkeys(("item_seq_len", "seq_item_len"), lengths)
    values["interaction"] = interaction
    given = [
        values.get(name, histories if "seq" in name else rows)
        for name, item in inspect.signature(model.forward).parameters.items()
        if item.default is item.empty
    ]
    ratings = torch.empty(2, getattr(model, "n_items", 1), device="meta")
    return [
        ExampleInputs(tuple(given), batch=2 if given else 1),
        ExampleInputs((ratings,), batch=2),
        ExampleInputs((interaction,), batch=2),
    ]


def _interaction(model: nn.Module) -> Any:
    """What `forward(interaction)` reads: one value of every field that a model can ask for."""
    import torch
    from recbole.data.interaction import Interaction

    fields: dict[str, Any] = {
        "user_id": [1, 2],
        "item_id": [1, 2],
        "timestamp": [[0.1, 1.0], [0.2, 1.0]],
        "release_year": [1, 2],
        "age": [1, 2],
        "gender": [1, 2],
        "occupation": [1, 2],
        "zip_code": [1, 2],
        "class": [[1, 2], [3, 0]],
        "movie_title": [[1, 2], [3, 0]],
        "item_length": [50, 20],
        "label": [1.0, 0.0],
    }
    return Interaction({name: torch.tensor(value) for name, value in fields.items()})


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="recbole",
    distribution="recbole",
    licence="MIT",
    url="https://recbole.io",
    entries=_entries,
    inputs=_inputs,
).hooks()
