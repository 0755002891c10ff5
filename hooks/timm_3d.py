"""timm_3d: timm's image models of 2023 with three-dimensional layers, for volumes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


def _entries() -> Mapping[str, Entry]:
    from timm_3d import create_model, list_models, model_entrypoint

    return {
        name: Entry(
            build=partial(create_model, name),
            family=model_entrypoint(name).__module__.rpartition(".")[2],
            task="image-classification",
        )
        for name in list_models()
    }


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    channels, *stated = getattr(model, "default_cfg", {}).get("input_size", (3,))
    sizes = ([stated] if len(stated) == 3 else []) + [[side] * 3 for side in (96, 128, 224)]
    return [ExampleInputs((torch.empty(1, channels, *size, device="meta"),)) for size in sizes]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="timm_3d",
    distribution="timm-3d",
    licence="MIT",
    url="https://github.com/ZFTurbo/timm_3d",
    entries=_entries,
    inputs=_inputs,
).hooks()
