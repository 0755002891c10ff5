"""Refusals of a width that an optional condition, which was not given, would have had."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from torch import Tensor, nn

from nar_plugin.hookspecs import ExampleInputs

from ..._shared.layer_inputs import STEPS
from ..._shared.layers import floats
from ..guess.arguments import CONTEXT
from . import edits as edit
from .arguments import parameters

_MOST_NAMES = 2
_PICTURE = 4  # dimensions


def conditions(
    model: nn.Module, inputs: ExampleInputs, words: list[str]
) -> Iterator[ExampleInputs]:
    """`words` are the width that a layer found and the one that it wants.

    A cross attention without a context attends to the picture itself (Rombach et al. 2022), and
    what a condition should have been appended to is too short (Chi et al. 2023, section 3.1).
    """
    have, want = (int(word) for word in words)
    yield from _rows_for_pictures(inputs, have, want)
    for name in islice(_left_out(model, inputs), _MOST_NAMES):
        for shape in ((1, STEPS, want), (1, want - have), (1, STEPS, want - have)):
            if shape[-1] > 0:
                yield replace(inputs, kwargs={**inputs.kwargs, name: floats(*shape)})


def _rows_for_pictures(inputs: ExampleInputs, have: int, want: int) -> Iterator[ExampleInputs]:
    """What was given the shape of the picture and meets a linear layer: one row, or a text's."""
    for place in islice(edit.places(inputs), 1, None):
        value = edit.value_at(inputs, place)
        if isinstance(value, Tensor) and value.dim() == _PICTURE and value.shape[-1] == have:
            for shape in ((1, want), (1, STEPS, want)):
                yield edit.put(inputs, place, floats(*shape))


def _left_out(model: nn.Module, inputs: ExampleInputs) -> Iterator[str]:
    for place, (name, parameter) in enumerate(parameters(model).items()):
        given = place < len(inputs.args) or name in inputs.kwargs
        if not given and parameter.default is None and CONTEXT.search(name):
            yield name
