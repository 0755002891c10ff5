"""mmflow: OpenMMLab's networks for optical flow, on mmcv 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

from ._openmmlab import mmcv_configs

if TYPE_CHECKING:
    from torch import nn


def _entries() -> Mapping[str, Entry]:
    return mmcv_configs.Configs("mmflow", part="", task="optical-flow", design=_design)


def _design(model: dict[str, Any]) -> str | None:
    """GMA is RAFT's class with a decoder of its own."""
    decoder = (model.get("decoder") or {}).get("type")
    return decoder if decoder == "GMADecoder" else None


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    """Two images, one upon the other."""
    import torch

    sizes = ((384, 448), (384, 512), (368, 768))
    images = [torch.empty(1, 6, *size, device="meta") for size in sizes]
    return [ExampleInputs((image,), {"test_mode": True}) for image in images]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="mmflow",
    distribution="mmflow",
    licence="Apache-2.0",
    url="https://mmflow.readthedocs.io/en/latest/model_zoo.html",
    entries=_entries,
    inputs=_inputs,
).hooks()
