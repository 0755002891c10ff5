"""A forward that draws random numbers has one graph, and draws none of the user's."""

import random

import numpy as np
import pytest
import torch
from torch import nn

from nar_plugin.errors import TraceError
from nar_plugin.tracing import trace


class TeacherForcing(nn.Module):
    """Each step reads the target or what the step before has said, by the toss of a coin."""

    def __init__(self, toss):
        super().__init__()
        self.toss = toss
        self.embedding, self.cell = nn.Embedding(50, 16), nn.GRUCell(16, 16)
        self.head = nn.Linear(16, 50)

    def forward(self, target):
        word, state, said = target[0], torch.zeros(target.shape[1], 16), []
        for step in range(1, len(target)):
            state = self.cell(self.embedding(word), state)
            said.append(self.head(state))
            word = target[step] if self.toss(self) < 0.5 else said[-1].argmax(1)
        return torch.stack(said)


def by_python(model):
    return random.random()


def by_numpy(model):
    return np.random.rand()


def by_torch(model):
    return torch.rand(()).item()


def seed(number):
    random.seed(number)
    np.random.seed(number)
    torch.manual_seed(number)


def state():
    legacy = np.random.get_state(legacy=False)
    torchs = torch.get_rng_state()
    return random.getstate(), legacy["state"]["key"].tolist(), legacy["gauss"], torchs.tolist()


@pytest.mark.parametrize("toss", [by_python, by_numpy, by_torch])
def test_a_seed_is_no_design(toss):
    target = torch.randint(0, 50, (12, 2))
    found = set()
    for number in range(4):
        model = TeacherForcing(toss)
        seed(number)
        np.random.randn()  # keeps a second number for the next call
        before = state()
        found.add(trace(model, target).fingerprint)
        assert state() == before
    assert len(found) == 1


def test_a_model_that_refuses_leaves_them_too():
    model = TeacherForcing(by_python)
    before = state()
    with pytest.raises(TraceError, match="refused"):
        trace(model, torch.zeros(3))
    assert state() == before


GENERATORS = {
    "python": (random.Random, lambda held: held.random(), lambda held: held.getstate()),
    "numpy": (
        np.random.default_rng,
        lambda held: held.random(),
        lambda held: str(held.bit_generator.state),
    ),
    "older numpy": (
        np.random.RandomState,
        lambda held: held.rand(),
        lambda held: str(held.get_state()[1].tolist()),
    ),
    "torch": (
        lambda number: torch.Generator().manual_seed(number),
        lambda held: torch.rand((), generator=held).item(),
        lambda held: held.get_state().tolist(),
    ),
}


@pytest.mark.parametrize("name", GENERATORS)
def test_a_generator_of_the_models_own(name):
    make, draw, look = GENERATORS[name]
    found = set()
    for number in range(4):
        model = TeacherForcing(lambda model: draw(model.held))
        model.held = make(number)
        before = look(model.held)
        found.add(trace(model, torch.randint(0, 50, (12, 2))).fingerprint)
        assert look(model.held) == before
    assert len(found) == 1
