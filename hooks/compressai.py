"""compressai: learned image compression, each model at each published quality."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


def _entries() -> Mapping[str, Entry]:
    from compressai.zoo import image_models, ssf2020
    from compressai.zoo.image import cfgs

    entries = {
        f"{name}/{quality}": Entry(
            build=partial(_build, builder, quality), family=builder.__name__, task="image-to-image"
        )
        for name, builder in image_models.items()
        for quality in cfgs.get(name, (1,))
    }
    entries["ssf2020"] = Entry(partial(_build, ssf2020, 1), "ssf2020", "video-to-video")
    return entries


def _build(builder: Callable[[int], nn.Module], quality: int) -> nn.Module:
    import torch

    with torch.device("cpu"):  # its constructors mix in tensors that no device context moves
        return builder(quality).to("meta")


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    image = torch.empty(1, 3, 256, 256, device="meta")
    return [ExampleInputs((image,)), ExampleInputs(([image, image],))]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="compressai",
    distribution="compressai",
    licence="BSD-3-Clause-Clear",
    url="https://interdigitalinc.github.io/CompressAI/zoo.html",
    entries=_entries,
    inputs=_inputs,
).hooks()
