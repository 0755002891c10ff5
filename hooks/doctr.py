"""doctr: text detection, text recognition and layout in pictures of documents."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


_TASKS = {
    "classification": "image-classification",
    "detection": "object-detection",
    "recognition": "image-to-text",
    "layout": "object-detection",
    "table_structure": "object-detection",
}
_OVER_BACKBONES = ("detection", "recognition", "table_structure")


def _entries() -> Mapping[str, Entry]:
    from importlib import import_module

    entries = {}
    for part, task in _TASKS.items():
        module = import_module(f"doctr.models.{part}")
        weights = {"pretrained": False}
        if part in _OVER_BACKBONES:
            weights["pretrained_backbone"] = False
        for name in import_module(f"doctr.models.{part}.zoo").ARCHS:
            builder = getattr(module, name)
            family = str(builder.__module__).split(".")[3]
            entries[name] = Entry(partial(builder, **weights), family, task)
    return entries


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    size = (getattr(model, "cfg", None) or {}).get("input_shape", (3, 512, 512))
    return [ExampleInputs((torch.empty(1, *size, device="meta"),))]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="doctr",
    distribution="python-doctr",
    licence="Apache-2.0",
    url="https://mindee.github.io/doctr/",
    entries=_entries,
    inputs=_inputs,
).hooks()
