"""efficientnet_pytorch: EfficientNets as they were first written for PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


def _entries() -> Mapping[str, Entry]:
    from efficientnet_pytorch import VALID_MODELS, EfficientNet

    return {
        name: Entry(
            build=partial(EfficientNet.from_name, name),
            family="efficientnet",
            task="image-classification",
        )
        for name in VALID_MODELS
    }


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    stated: Any = getattr(model, "_global_params", None)  # its padding is for this size
    side = getattr(stated, "image_size", None) or 224
    return [ExampleInputs((torch.empty(1, 3, side, side, device="meta"),))]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="efficientnet_pytorch",
    distribution="efficientnet-pytorch",
    licence="Apache-2.0",
    url="https://github.com/lukemelas/EfficientNet-PyTorch",
    entries=_entries,
    inputs=_inputs,
).hooks()
