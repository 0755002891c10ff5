"""Refusals of a width that an optional condition, which was not given, would have had."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from nar_plugin.hooks._torch_arguments import CONTEXT
from nar_plugin.hooks._torch_layers import STEPS, floats
from nar_plugin.hooks._torch_mended_arguments import parameters
from torch import nn

from nar_plugin.hookspecs import ExampleInputs

_MOST_NAMES = 2


def conditions(
    model: nn.Module, inputs: ExampleInputs, words: list[str]
) -> Iterator[ExampleInputs]:
    """`words` are the width that a layer found and the one that it wants.

    A cross attention without a context attends to the picture itself (Rombach et al. 2022), and
    what a condition should have been appended to is too short (Chi et al. 2023, section 3.1).
    """
    have, want = (int(word) for word in words)
    for name in islice(_left_out(model, inputs), _MOST_NAMES):
        for shape in ((1, STEPS, want), (1, want - have), (1, STEPS, want - have)):
            if shape[-1] > 0:
                yield replace(inputs, kwargs={**inputs.kwargs, name: floats(*shape)})


def _left_out(model: nn.Module, inputs: ExampleInputs) -> Iterator[str]:
    for place, (name, parameter) in enumerate(parameters(model).items()):
        given = place < len(inputs.args) or name in inputs.kwargs
        if not given and parameter.default is None and CONTEXT.search(name):
            yield name
