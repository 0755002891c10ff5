"""Sizes of inputs as the data pipeline in a model's config states them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import nn


def stated_size(model: nn.Module, *transforms: str) -> tuple[int, int] | None:
    """Height and width that the test pipeline of `model.cfg` makes, or None.

    Args:
        model: A model that was built from a config.
        *transforms: Types of transforms as the config spells them, the most telling first.
    """
    for kind in transforms:
        step = stated_step(model, kind) or {}
        size = step.get("crop_size") or step.get("scale") or step.get("input_size")
        if isinstance(size, int):
            return size, size
        if isinstance(size, list | tuple) and all(isinstance(n, int) and n > 0 for n in size):
            width, height = size
            return height, width
    return None


def stated_step(model: nn.Module, kind: str) -> dict[str, Any] | None:
    """The arguments of a transform in the pipeline of `model.cfg`, or None."""
    config: Any = getattr(model, "cfg", None) or {}
    for pipeline in ("val_pipeline", "test_pipeline"):
        for step in _steps(config.get(pipeline) or []):
            if str(step.get("type")) == kind:
                return step
    return None


def _steps(pipeline: Any) -> Iterator[dict[str, Any]]:
    """The transforms of a pipeline, those inside others too."""
    if isinstance(pipeline, dict):
        if "type" in pipeline:
            yield pipeline
        pipeline = list(pipeline.values())
    if isinstance(pipeline, list | tuple):
        for item in pipeline:
            yield from _steps(item)
