"""Modules that only hold parts: no inputs can help, and an answer says what to ask about."""

import pytest
import torch
from torch import nn

from nar_plugin.errors import TraceError
from nar_plugin.tracing import trace
from nar_plugin.tracing.run.forwardless import forwardless


class Agent(nn.Module):
    """As in cleanrl: other methods call the parts."""

    def __init__(self):
        super().__init__()
        self.critic = nn.Linear(4, 1)
        self.noise = nn.Dropout()
        self.actor = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))


class Abstract(Agent):
    """As in pytorch-a2c-ppo-acktr-gail, with its parts one level down."""

    def __init__(self):
        super().__init__()
        self.critic = nn.ModuleList([nn.Linear(4, 1), nn.Linear(4, 1)])

    def forward(self, inputs, states, masks):
        raise NotImplementedError


class Undecided(nn.Module):
    """It refuses some inputs, and has a layer."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        if x.dim() > 2:
            raise NotImplementedError
        return self.layer(x)


class Called(Agent):
    """Its call needs no forward."""

    def __call__(self, x):
        return self.actor(x)


def test_the_parts_are_named():
    assert forwardless(Agent()) == (
        "Agent has no forward of its own; ask about a part: model.critic, model.actor"
    )
    assert forwardless(Abstract()).endswith("model.critic[0], model.critic[1], model.actor")
    assert forwardless(nn.ModuleDict({"a": nn.Linear(1, 1)})).endswith("model['a']")
    assert forwardless(nn.ModuleList(nn.Linear(1, 1) for _ in range(7))).endswith("[5], …")


@pytest.mark.parametrize("model", [Undecided(), Called(), nn.Linear(2, 2)])
def test_what_runs_has_a_forward(model):
    assert forwardless(model) == ""


def test_what_an_abstract_forward_says_is_kept():
    class Worded(Agent):
        def forward(self, x):
            """Not here."""
            raise NotImplementedError("ask a subclass")

    assert forwardless(Worded()).startswith(
        "Worded has no forward of its own (ask a subclass); ask"
    )


def test_an_instance_may_bring_its_own_forward():
    agent = Agent()
    agent.forward = lambda x: agent.actor(x)
    assert forwardless(agent) == ""


@pytest.mark.parametrize("kind", [Agent, Abstract])
def test_its_layers_are_read_and_no_inputs_are_asked_for(kind):
    graph = trace(kind())
    assert graph.method == "modules"
    assert "linear" in {op.kind for op in graph.ops}
    assert "ask about a part" in graph.reason
    with pytest.raises(TraceError, match=r"no forward of its own; ask about a part: model\.") as e:
        trace(kind(), torch.rand(1, 4))
    assert "example_inputs" not in str(e.value)


def test_nothing_at_all_is_an_error():
    with pytest.raises(TraceError, match="no forward of its own, and no layers"):
        trace(nn.ModuleList())
