"""geffnet: EfficientNets and their kin with one generator, the forerunner of timm's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from nar_plugin.hooks._catalogue import Catalogue, Entry

from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


def _entries() -> Mapping[str, Entry]:
    from geffnet import create_model, gen_efficientnet, mobilenetv3

    return {
        name: Entry(
            build=partial(create_model, name),
            family=module.__name__.rpartition(".")[2],
            task="image-classification",
        )
        for module in (gen_efficientnet, mobilenetv3)
        for name in module.__all__
        if name[0].islower()
    }


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    return [ExampleInputs((torch.empty(1, 3, 224, 224, device="meta"),))]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="geffnet",
    distribution="geffnet",
    licence="Apache-2.0",
    url="https://github.com/rwightman/gen-efficientnet-pytorch",
    entries=_entries,
    inputs=_inputs,
).hooks()
