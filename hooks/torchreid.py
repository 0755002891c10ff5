"""torchreid: person re-identification, with the identities of Market-1501."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


_IDENTITIES = 751  # people in the training part of Market-1501


def _entries() -> Mapping[str, Entry]:
    from torchreid.reid import models

    return {
        name: Entry(
            build=partial(models.build_model, name, _IDENTITIES, pretrained=False, use_gpu=False),
            family=str(builder.__module__).rpartition(".")[2],
            task="image-feature-extraction",
        )
        for name, builder in vars(models)["__model_factory"].items()
    }


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    sizes = ((256, 128), (160, 64), (299, 299), (331, 331), (224, 224))
    return [ExampleInputs((torch.empty(1, 3, *size, device="meta"),)) for size in sizes]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="torchreid",
    distribution="torchreid",
    licence="MIT",
    url="https://kaiyangzhou.github.io/deep-person-reid/",
    entries=_entries,
    inputs=_inputs,
).hooks()
