"""ptlflow: optical flow, all models with one form of input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


def _entries() -> Mapping[str, Entry]:
    from ptlflow import get_model_names, get_model_reference

    builders = {name: get_model_reference(name) for name in get_model_names()}
    return {
        name: Entry(
            build=builder, family=str(builder.__module__).rpartition(".")[2], task="optical-flow"
        )
        for name, builder in builders.items()
    }


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    sizes = ((2, 384, 512), (2, 432, 960), (3, 384, 512), (5, 384, 512))
    return [
        ExampleInputs(({"images": torch.empty(1, frames, 3, *sides, device="meta")},))
        for frames, *sides in sizes
    ]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="ptlflow",
    distribution="ptlflow",
    licence="Apache-2.0",
    url="https://ptlflow.readthedocs.io",
    entries=_entries,
    inputs=_inputs,
).hooks()
