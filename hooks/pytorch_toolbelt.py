"""pytorch_toolbelt: encoders that give their features at every scale."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, cast

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


def _entries() -> Mapping[str, Entry]:
    import inspect

    from pytorch_toolbelt.modules import encoders

    entries = {}
    for name, encoder in vars(encoders).items():
        if not inspect.isclass(encoder) or not issubclass(encoder, encoders.EncoderModule):
            continue
        parameters = inspect.signature(encoder).parameters
        if all(item.default is not item.empty for item in parameters.values()):
            weights = dict.fromkeys(parameters.keys() & {"pretrained"}, False)
            family = str(encoder.__module__).rpartition(".")[2]
            build = partial(cast("type[nn.Module]", encoder), **weights)
            entries[name] = Entry(build, family, "image-feature-extraction")
    return entries


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    return [
        ExampleInputs((torch.empty(1, 3, side, side, device="meta"),)) for side in (256, 224, 384)
    ]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="pytorch_toolbelt",
    distribution="pytorch-toolbelt",
    licence="MIT",
    url="https://github.com/BloodAxe/pytorch-toolbelt",
    entries=_entries,
    inputs=_inputs,
).hooks()
