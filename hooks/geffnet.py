"""geffnet: EfficientNets and their kin with one generator, the forerunner of timm's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


# Pixels of each scale, as the author's later library (timm) states them; of all others 224.
_SIDES = {
    "b1": 240, "b2": 260, "b3": 300, "b4": 380, "b5": 456, "b6": 528, "b7": 600, "b8": 672,
    "em": 240, "el": 300, "l2": 800, "lite1": 240, "lite2": 260, "lite3": 300, "lite4": 380,
}  # fmt: skip


def _entries() -> Mapping[str, Entry]:
    from geffnet import gen_efficientnet, mobilenetv3

    return {
        name: Entry(
            build=partial(_built, name),
            family=module.__name__.rpartition(".")[2],
            task="image-classification",
        )
        for module in (gen_efficientnet, mobilenetv3)
        for name in module.__all__
        if name[0].islower()
    }


def _built(name: str) -> nn.Module:
    """The model, which says the side of its pictures in `image_size`."""
    from geffnet import create_model

    model: nn.Module = create_model(name)
    scale = next((word for word in name.split("_") if word in _SIDES), "")
    stated = name.rpartition("_")[2]
    model.__dict__["image_size"] = int(stated) if stated == "475" else _SIDES.get(scale, 224)
    return model


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    side = getattr(model, "image_size", 224)
    return [ExampleInputs((torch.empty(1, 3, side, side, device="meta"),))]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="geffnet",
    distribution="geffnet",
    licence="Apache-2.0",
    url="https://github.com/rwightman/gen-efficientnet-pytorch",
    entries=_entries,
    inputs=_inputs,
).hooks()
