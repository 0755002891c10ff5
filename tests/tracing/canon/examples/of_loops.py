"""Examples of loops over the slices of a sequence."""

from functools import partial

import torch
from torch import nn
from tracing.canon.examples.example import Example

WIDTH = 8


def cells():
    return {
        "into": nn.Linear(WIDTH, WIDTH),
        "state": nn.Linear(WIDTH, WIDTH),
        "other": nn.Linear(WIDTH, WIDTH),
        "out": nn.Linear(WIDTH, WIDTH),
        "lstm": nn.LSTMCell(WIDTH, WIDTH),
        "encoder": nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU()),
        "more": nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(6)),
        "rates": nn.Parameter(torch.ones(WIDTH)),
    }


def recurrent(m, x, slices=None):
    """Elman's network, from a state of zeros."""
    state, found = torch.zeros(len(x), WIDTH), []
    for step in x.unbind(1) if slices is None else slices(x):
        state = torch.tanh(m.into(step) + m.state(state))
        found.append(state)
    return m.out(torch.stack(found, 1))


def by_lstm_cell(m, x):
    state = torch.zeros(len(x), WIDTH), torch.zeros(len(x), WIDTH)
    for step in range(x.shape[1]):
        state = m.lstm(x[:, step], state)
    return m.out(state[0])


def selective_scan(m, x):
    """As a lesson on Mamba has it: no weights inside the loop."""
    decay, update = m.into(x).sigmoid(), m.other(x)
    state, found = torch.zeros(len(x), WIDTH), []
    for step in range(x.shape[1]):
        state = decay[:, step] * state + update[:, step]
        found.append(state * m.rates)
    return m.out(torch.stack(found, 1))


def from_an_encoder(m, x):
    state, found = m.state(x.mean(1)), []
    for step in range(x.shape[1]):
        state = torch.tanh(m.into(x[:, step]) + state)
        found.append(state)
    return m.out(torch.stack(found, 1))


def of_other_layers(m, x):
    state = torch.zeros(len(x), WIDTH)
    for step, layer in zip(x.unbind(1), m.more, strict=False):
        state = torch.tanh(layer(step) + m.state(state))
    return m.out(state)


def depths_with_shared_weights(m, x):
    """As ALBERT: no slice is read, each layer is a layer."""
    for _ in range(4):
        x = torch.tanh(m.state(x))
    return m.out(x)


def two_halves(m, x):
    """What is done to one half and then to the other, in place: no loop."""
    y = m.state(x).clone()
    y[..., :4] *= m.into(x)[..., :4]
    y[..., 4:] *= m.into(x)[..., 4:]
    return m.out(y)


def propagated(m, x):
    """Along the same edges each time, as APPNP: no slice is another."""
    edges = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    y = m.into(x)[0]
    for _ in range(5):
        y = torch.zeros_like(y).index_add(0, edges[1], y[edges[0]])
    return m.out(y)


def without_a_state(m, x):
    return m.out(torch.stack([torch.tanh(m.into(step)) for step in x.unbind(1)], 1))


def dilated(m, x, gap):
    """As a dilated RNN: the state of some steps before, zeros at the first ones."""
    states = [torch.zeros(len(x), WIDTH)] * gap
    for step in x.repeat(1, 2, 1).unbind(1):
        states.append(torch.tanh(m.into(step) + m.state(states[-gap])))
    return m.out(torch.stack(states[gap:], 1))


def from_the_first_step(m, x, *, always):
    """The step before, and what the first step made, or the step before once more."""
    state = first = torch.tanh(m.into(x[:, 0]))
    for step in x[:, 1:].unbind(1):
        state = torch.tanh(m.into(step) + m.state(state) + (first if always else state))
    return m.out(state)


def with_powers(m, x, powers):
    """A number of each step's own."""
    state = m.state(x.mean(1))
    for step, power in zip(x.unbind(1), powers, strict=True):
        state = torch.tanh(m.into(step).pow(power) + state)
    return m.out(state)


def fading(m, x, rates):
    """Numbers that scale: no design, and they may depend on the step."""
    state = m.state(x.mean(1))
    for step, rate in zip(x.unbind(1), rates, strict=False):
        state = torch.tanh(m.into(step) * rate + state)
    return m.out(state)


def in_place(m, x):
    """As `selective_scan`, in the values themselves."""
    decay, values = m.into(x).sigmoid(), list(m.other(x).unbind(1))
    for step in range(1, x.shape[1]):
        values[step] = decay[:, step] * values[step - 1] + values[step]
    return m.out(torch.stack(values, 1))


EXAMPLES = {
    "steps of a loop": Example(
        same=[
            recurrent,
            lambda m, x: recurrent(m, x[:, :4]),
            lambda m, x: recurrent(m, x[:, :2]),
            lambda m, x: recurrent(m, x, lambda x: (x[:, step] for step in range(x.shape[1]))),
            lambda m, x: recurrent(m, x, lambda x: (p.squeeze(1) for p in x.split(1, 1))),
        ],
        different=[
            by_lstm_cell,
            selective_scan,
            from_an_encoder,
            of_other_layers,
            depths_with_shared_weights,
            without_a_state,
            two_halves,
            propagated,
            lambda m, x: recurrent(m, x[:, :1]),
            *[partial(dilated, gap=gap) for gap in (2, 3, 4, 5)],
            partial(from_the_first_step, always=True),
            partial(from_the_first_step, always=False),
            partial(with_powers, powers=(2,) * 6),
            partial(with_powers, powers=(2, 3) * 3),
            partial(with_powers, powers=(2, 3, 4, 5, 6, 7)),
        ],
        shape=(1, 6, WIDTH),
        layers=cells,
    ),
}

ALSO_SAME = {
    "cells": [
        by_lstm_cell,
        lambda m, x: by_lstm_cell(m, x[:, :5]),
        lambda m, x: by_lstm_cell(m, x[:, :3]),
    ],
    "a scan": [selective_scan, lambda m, x: selective_scan(m, x[:, :4])],
    "a state that is given": [from_an_encoder, lambda m, x: from_an_encoder(m, x[:, :3])],
    "numbers that scale": [
        from_an_encoder,
        partial(fading, rates=(0.5,) * 6),
        partial(fading, rates=(0.9, 0.8, 0.7, 0.6, 0.5, 0.4)),
        lambda m, x: fading(m, x[:, :4], (0.1, 0.2, 0.3, 0.4)),
    ],
    "a power": [
        partial(with_powers, powers=(2,) * 6),
        lambda m, x: with_powers(m, x[:, :3], (2, 2, 2)),
    ],
    "two powers by turns": [
        partial(with_powers, powers=(2, 3) * 3),
        lambda m, x: with_powers(m, x.repeat(1, 2, 1), (2, 3) * 6),
    ],
    "the first step for all": [
        partial(from_the_first_step, always=True),
        lambda m, x: from_the_first_step(m, x[:, :5], always=True),
    ],
    "a gap": [partial(dilated, gap=1), recurrent],
    "in place": [in_place, lambda m, x: in_place(m, x[:, :5])],
    "each slice alone": [
        lambda m, x: m.out(m.encoder(x)),
        lambda m, x: m.out(torch.stack([m.encoder(step) for step in x.unbind(1)], 1)),
        lambda m, x: m.out(torch.stack([m.encoder(x[:, step]) for step in range(6)], 1)),
        lambda m, x: m.out(torch.cat([m.encoder(part) for part in x.split(2, 1)], 1)),
    ],
}
