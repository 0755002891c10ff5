"""Guesses at the inputs of a model of transformers, from its signature and its configuration."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from nar_plugin.hooks import _transformers_images as images
from nar_plugin.hooks import _transformers_others as others
from nar_plugin.hooks import _transformers_parts as parts
from nar_plugin.hooks import _transformers_sounds as sounds
from nar_plugin.hooks import _transformers_texts as texts
from nar_plugin.hooks._transformers_media import Media
from torch import nn

from nar_plugin.hookspecs import ExampleInputs

_MOST = 48  # layouts that are tried with the text around them
_FEW = 4  # that are then tried without


def guesses(model: nn.Module) -> Iterator[ExampleInputs]:
    """Inputs that the forward may accept, best first, all as keyword arguments.

    Example:
        ```python
        next(guesses(bert)).kwargs["input_ids"].shape  # (1, 64)
        ```
    """
    parameters = inspect.signature(model.forward).parameters
    loose = {name for name, item in parameters.items() if item.kind is item.VAR_KEYWORD}
    required = {name for name, item in parameters.items() if item.default is item.empty} - loose
    choices = type(model).__name__.endswith("ForMultipleChoice")
    for extra in _without_cache(model, parameters):
        for kwargs in _candidates(model, set(parameters), required):
            if choices:  # (batch, choices, tokens)
                kwargs = {name: value[:, None].expand(1, 2, -1) for name, value in kwargs.items()}
            yield ExampleInputs(kwargs={**kwargs, **extra})


def _without_cache(
    model: nn.Module, parameters: Mapping[str, inspect.Parameter]
) -> list[dict[str, bool]]:
    """What keeps a forward from filling a cache: nothing, or an argument that it may refuse."""
    if "use_cache" in parameters:
        return [{"use_cache": False}]
    loose = any(item.kind is item.VAR_KEYWORD for item in parameters.values())
    return [{"use_cache": False}, {}] if loose and _caches(model) else [{}]


def _caches(model: nn.Module) -> bool:
    """Whether some part of the model, behind `**kwargs`, would fill a cache."""
    parts = {type(part): part for part in model.modules()}
    return any("use_cache" in inspect.signature(part.forward).parameters for part in parts.values())


def _candidates(model: nn.Module, names: set[str], required: set[str]) -> Iterator[dict[str, Any]]:
    config: Any = model.config
    yield from parts.arguments(model, names)
    yield from others.special(model, names)
    pictures = list(images.images(model, names))
    audible = list(sounds.sounds(model, names, required))
    films = [] if pictures else list(images.videos(model, names))
    alone = _MOST
    if names & {"input_ids", "decoder_input_ids"}:
        layouts = _together(pictures or films, audible)[:_MOST]
        for shown in (layouts, [()]):
            for media in shown:
                yield _completed(config, names, required, media)
            if "attention_mask" in names - required:  # some heads count its ones
                for media in shown[:_FEW]:
                    yield _completed(config, names, {*required, "attention_mask"}, media)
        alone = _FEW
    for item in (pictures or films or audible)[:alone]:
        yield {**item.kwargs, **others.required(config, required - set(item.kwargs))}
    if required:
        yield others.required(config, required)


def _completed(
    config: Any, names: set[str], required: set[str], media: tuple[Media, ...]
) -> dict[str, Any]:
    """Media with the text around them and what else must be given."""
    given: dict[str, Any] = {}
    for item in media:
        given.update(item.kwargs)
    given.update(texts.texts(config, names, required, media))
    given.update(others.required(config, required - set(given)))
    return given


def _together(pictures: list[Media], audible: list[Media]) -> list[tuple[Media, ...]]:
    """Every picture with every sound, the likeliest pairs first; where one sort lacks, alone."""
    if not pictures or not audible:
        return [(item,) for item in pictures or audible]
    places = product(range(len(pictures)), range(len(audible)))
    return [(pictures[left], audible[right]) for left, right in sorted(places, key=sum)]
