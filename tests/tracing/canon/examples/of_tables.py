"""Examples of the rules on tables of learned positions."""

import torch
from torch import nn
from tracing.canon.examples.example import Example


def tables():
    return {
        "words": nn.Embedding(20, 8),
        "places": nn.Embedding(10, 8),
        "kinds": nn.Embedding(2, 8),
        "few": nn.Embedding(9, 8),
        "whole": nn.Parameter(torch.zeros(10, 8)),
        "of_six": nn.Parameter(torch.zeros(1, 6, 8)),
        "bias": nn.Parameter(torch.zeros(8)),
        "of_heads": nn.Parameter(torch.zeros(2, 4)),
        "fc": nn.Linear(8, 8),
        "norm": nn.LayerNorm(8),
    }


def ids(x):
    return x[:, :, 0].long()


def of_tokens(positions):
    return lambda m, x: m.norm(m.words(ids(x)) + positions(m, x))


def of_features(positions):
    return lambda m, x: m.norm(m.fc(x) + positions(m, x))


def first_six(m, x):
    return m.places(torch.arange(6))


def typed(m, x):
    """BERT's: positions and the kind of each token."""
    return m.places(torch.arange(6)) + m.kinds(torch.zeros(6, dtype=torch.long))


EXAMPLES = {
    "positions of tokens": Example(
        same=[
            of_tokens(first_six),
            of_tokens(lambda m, x: m.whole[:6]),
            of_tokens(lambda m, x: m.whole[None, :6]),
            of_tokens(lambda m, x: m.places.weight[:6]),
            lambda m, x: m.norm(8**0.5 * m.words(ids(x)) + m.whole[:6]),
        ],
        different=[
            of_tokens(lambda m, x: m.bias),
            of_tokens(lambda m, x: m.few(torch.arange(6))),
            of_tokens(lambda m, x: torch.arange(8)),
            of_tokens(typed),
            lambda m, x: m.fc(m.words(ids(x))).unflatten(-1, (2, 4)) + m.of_heads,
            lambda m, x: m.norm(m.words(ids(x))),
        ],
        layers=tables,
    ),
    "positions of features": Example(
        same=[
            of_features(first_six),
            of_features(lambda m, x: m.of_six),
            of_features(lambda m, x: m.whole[:6]),
            of_features(typed),
            of_features(lambda m, x: m.kinds(torch.zeros_like(ids(x)))),
        ],
        different=[
            of_features(lambda m, x: torch.arange(8)),
            of_features(lambda m, x: m.words(ids(x))),
            lambda m, x: m.norm(m.fc(x)),
        ],
        layers=tables,
    ),
}

ALSO_SAME = {
    "positions of tokens": [
        lambda m, x: m.norm(m.words(ids(x)) + m.places(torch.arange(6)) + m.kinds(ids(x) * 0)),
        lambda m, x: m.norm(m.words(ids(x)) + m.whole[:6] + m.kinds(torch.zeros_like(ids(x)))),
    ],
}
