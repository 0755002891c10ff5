"""Guesses at the inputs of a model of transformers, from its signature and its configuration."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from nar_plugin.hooks import _transformers_images as images
from nar_plugin.hooks import _transformers_others as others
from nar_plugin.hooks import _transformers_sounds as sounds
from nar_plugin.hooks import _transformers_texts as texts
from nar_plugin.hooks._transformers_media import Media
from torch import nn

from nar_plugin.hookspecs import ExampleInputs


def guesses(model: nn.Module) -> Iterator[ExampleInputs]:
    """Inputs that the forward may accept, best first, all as keyword arguments.

    Example:
        ```python
        next(guesses(bert)).kwargs["input_ids"].shape  # (1, 64)
        ```
    """
    parameters = inspect.signature(model.forward).parameters
    required = {name for name, item in parameters.items() if item.default is item.empty}
    required -= {name for name, item in parameters.items() if item.kind is item.VAR_KEYWORD}
    cached = "use_cache" in parameters
    choices = type(model).__name__.endswith("ForMultipleChoice")
    for kwargs in _candidates(model, set(parameters), required):
        if choices:  # (batch, choices, tokens)
            kwargs = {name: value[:, None].expand(1, 2, -1) for name, value in kwargs.items()}
        yield ExampleInputs(kwargs={**kwargs, "use_cache": False} if cached else kwargs)


def _candidates(model: nn.Module, names: set[str], required: set[str]) -> Iterator[dict[str, Any]]:
    config: Any = model.config
    yield from others.special(model, names)
    pictures = list(images.images(model, names, required))
    audible = list(sounds.sounds(model, names, required))
    films = [] if pictures else list(images.videos(model, names))
    pairs = _together(pictures or films, audible)
    if "input_ids" in names or "decoder_input_ids" in names:
        for media in pairs:
            yield from _completed(config, names, required, media)
    for picture in pictures or films or audible:
        yield {**picture.kwargs, **others.required(config, required - set(picture.kwargs))}
    if "input_ids" in names:
        yield from _completed(config, names, required, ())


def _completed(
    config: Any, names: set[str], required: set[str], media: tuple[Media, ...]
) -> Iterator[dict[str, Any]]:
    """Media with the text around them and what else must be given."""
    given: dict[str, Any] = {}
    for item in media:
        given.update(item.kwargs)
    given.update(texts.texts(config, names, required, media))
    given.update(others.required(config, required - set(given)))
    yield given


def _together(pictures: list[Media], audible: list[Media]) -> list[tuple[Media, ...]]:
    """Every picture with a sound, and where there is but one of them, that alone."""
    found = []
    for picture, sound in zip_longest(pictures, audible):
        picture = picture or (pictures[-1] if pictures else None)
        sound = sound or (audible[-1] if audible else None)
        found.append(tuple(item for item in (picture, sound) if item is not None))
    return found
