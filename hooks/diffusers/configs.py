"""Builds a class of diffusers: by its default configuration, or by that of `configs.toml`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from .._shared.tables import table

_PARTS = {
    "FluxMultiControlNetModel": "FluxControlNetModel",
    "HunyuanDiT2DMultiControlNetModel": "HunyuanDiT2DControlNetModel",
    "MultiAdapter": "T2IAdapter",
    "MultiControlNetModel": "ControlNetModel",
    "MultiControlNetUnionModel": "ControlNetUnionModel",
    "QwenImageMultiControlNetModel": "QwenImageControlNetModel",
    "SD3MultiControlNetModel": "SD3ControlNetModel",
}


def build(owner: type[Any], classes: Mapping[str, type[Any]]) -> Any:
    """A model of this class: of its default configuration, completed where that is not enough.

    Args:
        owner: The class.
        classes: All classes by name; some are made of two models of another.
    """
    name = owner.__name__
    if name in _PARTS:
        part: Callable[[], Any] = lambda: build(classes[_PARTS[name]], classes)  # noqa: E731
        return owner([part()] if name == "QwenImageMultiControlNetModel" else [part(), part()])
    model = owner(**deepcopy(table(__package__, "configs.toml").get(name, {})))
    if name == "ZImageControlNetModel":  # it shares the embeddings of the transformer
        model = owner.from_transformer(model, classes["ZImageTransformer2DModel"]())
    return model
