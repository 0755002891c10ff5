"""Guesses at the inputs of a model of diffusers, from its signature and its configuration."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from itertools import islice
from typing import Any

import torch
from torch import nn

from nar_plugin.hookspecs import ExampleInputs

from . import conditions, images
from .latents import latents
from .packed import packed
from .setting import Setting

_MOST = 24
_RULES = {**conditions.RULES, **images.RULES}


def guesses(model: nn.Module) -> Iterator[ExampleInputs]:
    """Inputs that the forward may accept, best first, all as keyword arguments.

    Example:
        ```python
        next(guesses(unet)).kwargs["sample"].shape  # (1, 4, 64, 64)
        ```
    """
    parts: Any = getattr(model, "nets", None)
    if isinstance(parts, nn.ModuleList) and len(parts):
        yield from _together(parts, guesses(parts[0]))
        return
    parameters = inspect.signature(model.forward).parameters
    required = frozenset(name for name, item in parameters.items() if item.default is item.empty)
    config: Any = model.config
    for kwargs in packed(model, config, set(parameters)):
        yield ExampleInputs(kwargs=kwargs)
    yield from islice(_combinations(model, list(parameters), required), _MOST)


def _combinations(
    model: nn.Module, names: list[str], required: frozenset[str]
) -> Iterator[ExampleInputs]:
    """Every main input with what goes with it; masks that may be left out come last."""
    config: Any = model.config
    main, others = names[0], [name for name in names[1:] if name in _RULES]
    optional = {name for name in others if "mask" in name} - required
    for left_out in (optional, set[str]()) if optional else (optional,):
        for latent in latents(model, config, set(names)):
            for width in conditions.text_widths(config):
                setting = Setting(model, config, frozenset(names), required, latent, width)
                try:
                    given = {name: _RULES[name](setting) for name in others if name not in left_out}
                except (IndexError, RuntimeError):  # a rule about films, when this is a vector
                    continue
                kept = {name: value for name, value in given.items() if value is not None}
                yield ExampleInputs(kwargs={main: latent.value, **kept})


def _together(parts: nn.ModuleList, found: Iterator[ExampleInputs]) -> Iterator[ExampleInputs]:
    """Several ControlNets side by side: each has its image, its scale and its kind of control."""
    for inputs in found:
        kwargs = dict(inputs.kwargs)
        if "controlnet_mode" in inspect.signature(parts[0].forward).parameters:
            kwargs["controlnet_mode"] = torch.tensor([0])
        for name in {"controlnet_cond", "control_type", "control_type_idx", "controlnet_mode"}:
            if name in kwargs:
                kwargs[name] = [kwargs[name]] * len(parts)
        kwargs["conditioning_scale"] = [1.0] * len(parts)
        yield ExampleInputs(kwargs=kwargs)
