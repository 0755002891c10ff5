"""Guesses at the inputs of a model of transformers, from its signature and its configuration."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from torch import Tensor, nn

from nar_plugin.hookspecs import ExampleInputs

from . import images, others, parts, sounds, texts
from . import readings as read
from .media import Media

_MOST = 48  # layouts that are tried with the text around them
_FEW = 4  # that are then tried without
_INNER = ("model", "encoder")
_MEDIA = {"pixel_values", "input_features", "input_values"}
_BESIDE_MEDIA = (
    "image_grid_thw",
    "image_position_ids",
    "image_sizes",
    "input_features_mask",
    "feature_attention_mask",
    "mm_token_type_ids",
)


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
    names = set(parameters) | (_passed_on(model) if loose else set())
    choices = type(model).__name__.endswith("ForMultipleChoice")
    classifies = type(model).__name__.endswith("ForSequenceClassification")
    for extra in _without_cache(model, parameters):
        for kwargs in _candidates(model, names, required):
            if choices:  # (batch, choices, tokens)
                kwargs = {name: _twice(value) for name, value in kwargs.items()}
            if classifies and {"input_ids", "decoder_input_ids"} <= set(kwargs):
                # The decoder reads the text once more, shifted, and its last state is classified.
                kwargs["decoder_input_ids"] = kwargs["input_ids"].roll(1, dims=-1)
            yield ExampleInputs(kwargs={**kwargs, **extra})


def _twice(value: Tensor) -> Tensor:
    """The same for both choices: (batch, choices, ...)."""
    return value[:, None].expand(1, 2, *value.shape[1:])


def _passed_on(model: nn.Module) -> set[str]:
    """Media that a forward names nowhere and hands on to what is inside, by `**kwargs`."""
    own = set(inspect.signature(model.forward).parameters)
    found: set[str] = set()
    for name in _INNER:
        inner = getattr(model, name, None)
        if isinstance(inner, nn.Module) and not own & _MEDIA:
            named = set(inspect.signature(inner.forward).parameters)
            found |= named & {*_MEDIA, *_BESIDE_MEDIA}
            found |= _passed_on(inner)
    return found if found & _MEDIA else set()


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
    films = list(images.videos(model, names)) if not pictures or _films_apart(model) else []
    alone = _MOST
    if names & {"input_ids", "decoder_input_ids"}:
        sorts = [sort for sort in (pictures, films, audible) if sort]
        layouts = _together(sorts)[:_MOST]
        apart = [(item,) for sort in sorts for item in sort][:_MOST] if len(sorts) > 1 else []
        heard = read.readings(model, names)
        for shown in (layouts, apart, [()]):
            for media in shown:
                if heard:
                    yield {**_completed(config, names, required, media), **heard}
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


def _films_apart(model: nn.Module) -> bool:
    """Whether videos have a tower of their own beside that of the images."""
    return any(name.endswith("video_tower") for name, _ in model.named_modules())


def _together(sorts: list[list[Media]]) -> list[tuple[Media, ...]]:
    """One of each sort, such as every picture with every sound, the likeliest first."""
    if not sorts:
        return []
    places = product(*(range(len(sort)) for sort in sorts))
    return [
        tuple(sort[place] for sort, place in zip(sorts, chosen, strict=True))
        for chosen in sorted(places, key=sum)
    ]
