"""Guesses at the inputs of a module that nobody described, from its layers and its signature."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import torch
from torch import Tensor, nn

from nar_plugin.hookspecs import ExampleInputs

from ..._shared.attribute_search import input_shape
from ..._shared.layer_inputs import KINDS, STEPS, TOKENS
from ..._shared.layers import PICTURES, floats, ids, rows_of_table, stems_of, width_of
from ..._shared.picture_inputs import IMAGE, thinner
from .annotations import annotated
from .arguments import (
    ADJACENCY,
    EDGES,
    IDS,
    NOISE,
    POSITIONS,
    TIME,
    companions,
)
from .columns import columns
from .exported import exported
from .first_state import first_state
from .forecasters import forecasts
from .structures import steps_first, structured, walked
from .wrappers import handed_on

_MOST = 12


def guesses(model: nn.Module) -> list[ExampleInputs]:
    """Inputs that the forward may accept, best first, at most twelve, then those of a lone part.

    Example:
        ```python
        guesses(nn.Sequential(nn.Conv2d(3, 8, 3)))[0].args[0].shape  # (1, 3, 224, 224)
        ```
    """
    return [*_own(model), *handed_on(model, _own)]


def _own(model: nn.Module) -> Iterator[ExampleInputs]:
    names, keywords = _required(model)
    read = chain(structured(model, names, keywords, _mains), forecasts(model, list(names)))
    combined = _combinations(model, names, keywords)
    # A state that the model makes itself is none to read off its forward.
    makes_state = next(first_state(model), None) is not None
    both = chain(combined, read) if makes_state else chain(read, combined)
    likely = chain(exported(model), both)
    guesses = islice(likely, _MOST)
    return chain(*((steps_first(item), item) for item in guesses)) if walked(model) else guesses


def _combinations(
    model: nn.Module, positional: dict[str, Any], keywords: dict[str, Any]
) -> Iterator[ExampleInputs]:
    names = list(positional)
    others = {name: positional[name] for name in names[1:]} | keywords
    mains = chain(
        ((main, _one_id(main)) for main in _mains(model, names)),
        ((main, True) for main in _blind(names[0])),
    )
    for place, (main, blind) in enumerate(mains):
        choices = {
            name: annotated(annotation, companions(name, main, model), main)
            for name, annotation in others.items()
        }
        variants = max((len(found) for found in choices.values()), default=1)
        for variant in range(variants if place < 2 else 1):
            picked = {name: found[min(variant, len(found) - 1)] for name, found in choices.items()}
            yield ExampleInputs(
                (main, *(picked[name] for name in names[1:])),
                {name: picked[name] for name in keywords},
                blind=blind,
            )


def _required(model: nn.Module) -> tuple[dict[str, Any], dict[str, Any]]:
    """Positional arguments that must be given (one at least), and keywords; their annotations."""
    try:
        parameters = list(inspect.signature(model.forward).parameters.values())
    except (TypeError, ValueError):  # a forward in C++ or TorchScript
        return {"input": ""}, {}
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [item for item in parameters if item.kind in places]
    wanted = [item for item in positional if item.default is item.empty] or positional[:1]
    keywords = {
        item.name: item.annotation
        for item in parameters
        if item.kind is inspect.Parameter.KEYWORD_ONLY and item.default is item.empty
    }
    return {item.name: item.annotation for item in wanted} or {"input": ""}, keywords


def _mains(model: nn.Module, names: list[str]) -> Iterator[Tensor]:
    """Guesses at the first argument: for each kind of first layer, in the likely order."""
    stems = stems_of(model)
    order = list(stems)
    if any(TIME.search(name) for name in names[1:]):  # the time's own layers often come first
        order.sort(key=lambda kind: kind in ("ids", "features"))
    first = names[0]
    if IMAGE.search(first):
        order.sort(key=lambda kind: kind not in ("image", "volume"))
    elif IDS.search(first):
        order.sort(key=lambda kind: kind != "ids")
        if "ids" not in stems and (rows := rows_of_table(model)):
            yield ids(TOKENS, rows)
    elif NOISE.search(first) and not any(POSITIONS.search(name) for name in names):
        order.sort(key=lambda kind: kind == "ids")
    if (row := columns(first, model)) is not None:
        order = [kind for kind in order if kind != "ids" or not row.is_floating_point()]
        yield row
    if any(EDGES.search(name) or ADJACENCY.search(name) for name in names):
        yield floats(STEPS, width_of(stems["features"]) if "features" in stems else 64)
    if stated := input_shape(model):
        whole, other = (stated, (1, *stated)) if stated[0] == 1 else ((1, *stated), stated)
        yield floats(*whole)
        if len(whole) == 4:
            yield from thinner(floats(*whole))
        yield floats(*other)
    lists = {kind: list(islice(KINDS[kind](model, stems[kind], first), _MOST)) for kind in order}
    if order[:1] == ["features"] and width_of(stems.get("image", nn.Identity())) == 3:
        yield lists["image"][0]  # a head may be registered before what sees the picture
        yield from thinner(lists["image"][0])
    for (kind, found), share in zip(lists.items(), (6, 3, 2), strict=False):
        yield from found[:share]
        if kind in PICTURES:  # before vectors, which a forward may make pictures of one line
            yield from thinner(found[0])
    for found, share in zip(lists.values(), (6, 3, 2), strict=False):
        yield from found[share:]


def _one_id(main: Tensor) -> bool:
    """Whether it is one token: it can be added to a table of any length."""
    return main.shape == (1, 1) and main.dtype == torch.int64


def _blind(first: str) -> Iterator[Tensor]:
    """Guesses that no layer speaks for."""
    if IDS.search(first):
        yield ids(TOKENS, 128)
    yield from (floats(1, 3, 224, 224), floats(1, STEPS, 64), floats(1, 64), ids(TOKENS, 128))
