"""pretrainedmodels: Cadene's image classifiers of 2017 to 2019."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


def _entries() -> Mapping[str, Entry]:
    from pretrainedmodels import model_names, models

    builders = {name: getattr(models, name) for name in model_names}
    return {
        name: Entry(
            build=partial(builder, pretrained=None),
            family=str(builder.__module__).rpartition(".")[2],
            task="image-classification",
        )
        for name, builder in builders.items()
    }


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    sides = (*getattr(model, "input_size", ())[1:2], 331, 299, 224)
    return [ExampleInputs((torch.empty(1, 3, side, side, device="meta"),)) for side in sides]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="pretrainedmodels",
    distribution="pretrainedmodels",
    licence="BSD-3-Clause",
    url="https://github.com/Cadene/pretrained-models.pytorch",
    entries=_entries,
    inputs=_inputs,
).hooks()
