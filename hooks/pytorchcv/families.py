"""Families and tasks of pytorchcv's models, by the module that defines the builder."""

from __future__ import annotations

import re

from .._shared.tables import table

_TABLE = "families.toml"

# Endings that name a data set and leave the design as it is.
_DATA_SET = re.compile(r"_(cifar|cifar10|cub|coco|cmupan)$")


def family_of(module: str) -> str:
    """The family of the models that `pytorchcv.models.<module>` defines.

    Example:
        ```python
        family_of("seresnet_cifar")  # 'seresnet'
        ```
    """
    design = _DATA_SET.sub("", module)
    return str(table(__package__, _TABLE)["families"].get(design, design))


def task_of(module: str) -> str:
    """The task of those models, in the words of the Hugging Face Hub."""
    tasks = table(__package__, _TABLE)["tasks"].items()
    return next((task for task, modules in tasks if module in modules), "image-classification")
