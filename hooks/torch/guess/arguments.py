"""What the names of a forward's arguments say about them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

# What a name says about an argument. `x` says nothing.
from nar_plugin.tracing.twin.parts import modules

from ..._shared.attribute_search import integer
from ..._shared.layer_inputs import KINDS, STEPS, TOKENS
from ..._shared.layers import floats, ids, stems_of, width_of
from ..._shared.picture_inputs import IMAGE
from .columns import columns
from .first_state import first_state

IDS = re.compile(r"ids?$|idx|token|word|text|sentence|caption|^src$|^tgt$|^trg$")
TIME = re.compile(r"^(t|time|sigma|step|noise_level)s?$|time_?steps?")
NOISE = re.compile(r"noise|latent|^sigma|^z$")
POSITIONS = re.compile(r"^pos|coord")  # of atoms, whose numbers are called z
_MASK = re.compile(r"mask")
_LENGTH = re.compile(r"len(gth)?s?$")
EDGES = re.compile(r"^edge_index|^edges?$")
_EDGE_FEATURES = re.compile(r"^(edge|bond)_")
ADJACENCY = re.compile(r"^adj")
_BATCH = re.compile(r"^batch(_index)?$")
_LABEL = re.compile(r"^y$|label|^class")
CONTEXT = re.compile(r"context|^ctx|cond|memory|encoder_hidden|prompt|^te?xt")
_POOLED = re.compile(r"pooled|^vec(tor)?$|_vec(tor)?$")
# Widths that a layer's refusal tells from one another and from the sides of a picture.
_CONTEXT_WIDTH, _POOLED_WIDTH = 88, 104
_SIZE = re.compile(r"(original|image|img|target|output)_size$")
_STATE = re.compile(r"^h(idden|x|0|_0|_prev)?$|hidden_state|^states?$|^prev")


def companions(name: str, main: Tensor, model: nn.Module) -> list[Any]:
    """Guesses at an argument beside the first, from its name."""
    length = main.shape[-1] if main.dim() < 3 else main.shape[1]
    picture = main.dim() > 3
    if (row := columns(name, model)) is not None:
        return [row]
    if TIME.search(name):
        steps = [] if NOISE.search(name) else [torch.tensor([7])]
        return [*steps, floats(1), floats(1, 1)]
    if _MASK.search(name):
        return [None, torch.ones(1, 1, length, dtype=torch.bool)]
    if _LENGTH.search(name):
        return [torch.tensor([length]), length]
    if _SIZE.search(name):
        return [tuple(main.shape[-2:])]
    if EDGES.search(name):
        return [torch.stack([torch.arange(32) % STEPS, torch.arange(32) * 5 % STEPS])]
    if _EDGE_FEATURES.search(name):
        return [floats(32, main.shape[-1]), torch.arange(32) % 3, floats(32)]
    if ADJACENCY.search(name):
        return [floats(STEPS, STEPS), floats(1, STEPS, STEPS)]
    if _BATCH.search(name):
        return [torch.zeros(STEPS, dtype=torch.int64)]
    if _LABEL.search(name) and (picture or _is_vector_beside_a_table(main, model)):
        return [torch.tensor([1]), main, floats(1, _POOLED_WIDTH)]
    if picture and _POOLED.search(name):
        return [floats(1, _POOLED_WIDTH), main]
    if _STATE.search(name) and not (picture and CONTEXT.search(name)):
        return [None, *first_state(model), *_states(model)]
    stems = stems_of(model)
    if CONTEXT.search(name) and not (IDS.search(name) and "ids" in stems):
        width = integer(model, ("context_dim", "cross_attention_dim", "cond_dim", "d_model"))
        if width:
            return [floats(1, STEPS, width), floats(1, width)]
        if picture:  # of a text, also where the others are guessed otherwise, or of a class
            rows = floats(1, STEPS, _CONTEXT_WIDTH)
            return [rows, rows, floats(1, _CONTEXT_WIDTH), main]
    if IDS.search(name) and main.is_floating_point() and main.dim() > 2 and "ids" in stems:
        return [ids(TOKENS, width_of(stems["ids"])), main]
    if IMAGE.search(name) and not picture and "image" in stems:
        return [next(KINDS["image"](model, stems["image"], name)), main]
    return [main]


def _is_vector_beside_a_table(main: Tensor, model: nn.Module) -> bool:
    """Whether there is one label, as of a conditional generator, that is looked up."""
    return main.is_floating_point() and main.dim() == 2 and "ids" in stems_of(model)


def _states(model: nn.Module) -> Iterator[Any]:
    """The initial state of the first recurrent layer."""
    for module in modules(model):
        if isinstance(module, nn.RNNCellBase | nn.RNNBase):
            layers = getattr(module, "num_layers", 0) * (1 + getattr(module, "bidirectional", 0))
            state = floats(*((layers,) if layers else ()), 1, module.hidden_size)
            yield (state, state) if isinstance(module, nn.LSTM | nn.LSTMCell) else state
            return
