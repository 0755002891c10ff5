"""torchsr: super-resolution networks in their published sizes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn

_SCALES = (2, 3, 4, 8)  # of the table in the library's README
_TO_FOUR = ("carn", "rdn")  # do not enlarge by eight
_FILTER = "direct"  # the module of bicubic and the like, of which nothing is learned


def _entries() -> Mapping[str, Entry]:
    from torchsr import models

    found: dict[str, Entry] = {}
    for name, builder in vars(models).items():
        if inspect.isfunction(builder) and "scale" in inspect.signature(builder).parameters:
            family = str(builder.__module__).rpartition(".")[2]
            scales = _SCALES[:-1] if family in _TO_FOUR else _SCALES
            for scale in scales if family != _FILTER else ():
                build = partial(_built, builder, scale)
                found[f"{name}_x{scale}"] = Entry(build, family, "image-to-image")
    return found


def _built(builder: Callable[..., nn.Module], scale: int) -> nn.Module:
    import torch

    with torch.device("cpu"):  # the shift of the colours is a layer filled with numbers
        return builder(scale=scale).to("meta")


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    return [ExampleInputs((torch.empty(1, 3, 64, 64, device="meta"),))]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="torchsr",
    distribution="torchsr",
    licence="MIT",
    url="https://github.com/Coloquinte/torchSR",
    entries=_entries,
    inputs=_inputs,
).hooks()
