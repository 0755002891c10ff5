"""Examples of loops over the slices of a sequence."""

import torch
from torch import nn
from tracing.examples.example import Example

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
        ],
        shape=(1, 6, WIDTH),
        layers=cells,
    ),
}

ALSO_SAME = {
    "cells": [by_lstm_cell, lambda m, x: by_lstm_cell(m, x[:, :5])],
    "a scan": [selective_scan, lambda m, x: selective_scan(m, x[:, :4])],
    "a state that is given": [from_an_encoder, lambda m, x: from_an_encoder(m, x[:, :3])],
    "each slice alone": [
        lambda m, x: m.out(m.encoder(x)),
        lambda m, x: m.out(torch.stack([m.encoder(step) for step in x.unbind(1)], 1)),
        lambda m, x: m.out(torch.stack([m.encoder(x[:, step]) for step in range(6)], 1)),
        lambda m, x: m.out(torch.cat([m.encoder(part) for part in x.split(2, 1)], 1)),
    ],
}
