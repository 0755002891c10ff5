"""segment_anything: Meta's promptable segmentation of 2023."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


def _entries() -> Mapping[str, Entry]:
    from segment_anything import sam_model_registry

    return {
        name: Entry(build=builder, family="sam", task="mask-generation")
        for name, builder in sam_model_registry.items()
        if name != "default"
    }


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    points = {"point_coords": torch.empty(1, 1, 2, device="meta"), "point_labels": torch.ones(1, 1)}
    one = {"image": torch.empty(3, 1024, 1024, device="meta"), "original_size": (1024, 1024)}
    return [ExampleInputs(([{**one, **points}], False)), ExampleInputs(([one], False))]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="segment_anything",
    distribution="segment-anything",
    licence="Apache-2.0",
    url="https://github.com/facebookresearch/segment-anything",
    entries=_entries,
    inputs=_inputs,
).hooks()
