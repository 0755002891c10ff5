"""super_gradients: classifiers, detectors, segmenters and pose models of its recipes."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from functools import cache, partial
from typing import TYPE_CHECKING
from unittest.mock import patch

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


_PARTS = {  # subpackage -> task, classes of the data set of its recipes
    "classification_models": ("image-classification", 1000),
    "detection_models": ("object-detection", 80),
    "segmentation_models": ("image-segmentation", 19),
    "pose_estimation_models": ("keypoint-detection", 17),
}

_NEEDED = {"repvgg": {"build_residual_branches": True}}  # as in the library's recipes


@cache
def _entries() -> Mapping[str, Entry]:
    quiet = {"CRASH_HANDLER": "FALSE", "UPLOAD_LOGS": "FALSE"}  # no hooks in the user's process
    with patch.dict(os.environ, quiet), redirect_stdout(sys.stderr):
        from super_gradients.common.registry.registry import ARCHITECTURES
        from super_gradients.training import models

    entries = {}
    for name, network in ARCHITECTURES.items():
        *_, module = path = str(network.__module__).split(".")
        home = next((one for one in path if one in _PARTS), None)
        if home is not None and "custom" not in name.lower():  # those need their sizes given
            task, classes = _PARTS[home]
            build = partial(models.get, name, _NEEDED.get(module), num_classes=classes)
            entries[name] = Entry(build, module.removesuffix("_variants"), task)
    return entries


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    sides = [(640, 640), (512, 1024), (512, 512), (32, 32)]
    if ".classification_models." in type(model).__module__:
        sides = [(224, 224), (32, 32), (384, 384)]
    return [ExampleInputs((torch.empty(1, 3, *size, device="meta"),)) for size in sides]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="super_gradients",
    distribution="super-gradients",
    licence="Apache-2.0",
    url="https://github.com/Deci-AI/super-gradients",
    entries=_entries,
    inputs=_inputs,
).hooks()
