"""mmcls: OpenMMLab's image classifiers of before mmpretrain, on mmcv 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

from ._openmmlab import mmcv_configs

if TYPE_CHECKING:
    from torch import nn

_AS_LOGITS = {"return_loss": False, "post_process": False}  # and not as lists of numpy's


def _entries() -> Mapping[str, Entry]:
    return mmcv_configs.Configs("mmcls", part="backbone", task="image-classification")


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    config: Any = getattr(model, "cfg", None) or {}
    small = str(config.get("dataset_type")).startswith("CIFAR")
    sides = (32,) if small else (*_stated(config), 224, 384)
    images = [torch.empty(1, 3, side, side, device="meta") for side in sides]
    return [ExampleInputs((image,), _AS_LOGITS) for image in images]


def _stated(config: Any) -> list[int]:
    """The side that the test pipeline crops or scales to."""
    steps = {step["type"]: step for step in config.get("test_pipeline") or []}
    for kind, key in (("CenterCrop", "crop_size"), ("Resize", "size")):
        size = steps.get(kind, {}).get(key)
        if size is not None:
            return [size if isinstance(size, int) else size[0]]
    return []


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="mmcls",
    distribution="mmcls",
    licence="Apache-2.0",
    url="https://mmclassification.readthedocs.io/en/v0.25.0/model_zoo.html",
    entries=_entries,
    inputs=_inputs,
).hooks()
