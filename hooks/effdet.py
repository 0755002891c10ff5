"""effdet: EfficientDet and its kin, over backbones of timm."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING
from unittest import mock

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


def _entries() -> Mapping[str, Entry]:
    import torch

    # PyTorch Geometric replaces it, and effdet has TorchScript compile its caller when imported.
    with mock.patch.object(torch, "index_select", torch._C._VariableFunctions.index_select):
        from effdet import create_model
        from effdet.config.model_config import efficientdet_model_param_dict

    return {
        name: Entry(
            build=partial(create_model, name, pretrained_backbone=False),
            family="efficientdet",
            task="object-detection",
        )
        for name in efficientdet_model_param_dict
    }


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    network = getattr(model, "model", model)  # a bench of the library wraps the network
    sides = getattr(getattr(network, "config", None), "image_size", (512, 512))
    return [ExampleInputs((torch.empty(1, 3, *sides, device="meta"),))]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="effdet",
    distribution="effdet",
    licence="Apache-2.0",
    url="https://github.com/rwightman/efficientdet-pytorch",
    entries=_entries,
    inputs=_inputs,
).hooks()
