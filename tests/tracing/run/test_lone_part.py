"""Modules with steps and no forward, as with Lightning, and what they say of their inputs."""

import pytest
import torch
from models import ConvNet
from torch import nn

from nar_plugin.errors import TraceError
from nar_plugin.tracing import trace
from nar_plugin.tracing.run.forwardless import forwardless, lone_part

IMAGE = torch.empty(1, 3, 16, 16)


class Steps(nn.Module):
    """Its forward is Lightning's: the next one's."""

    def __init__(self, net=None):
        super().__init__()
        self.net = ConvNet() if net is None else net
        self.loss = nn.CrossEntropyLoss()

    def forward(self, *args, **kwargs):
        return super().forward(*args, **kwargs)

    def training_step(self, batch, _):
        return self.loss(self.net(batch[0]), batch[1])


class Whole(Steps):
    """A subclass with a forward; one of its own subclasses only calls it."""

    def forward(self, x):
        return self.net(x).tanh()


class Calls(Whole):
    def forward(self, x):
        return super().forward(x)


class Loose(Steps):
    """A parameter beside the network: no part is the model."""

    def __init__(self):
        super().__init__()
        self.temperature = nn.Parameter(torch.ones(1))


class Two(nn.Module):
    """Takes two maps; only what the module says fits at once."""

    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Conv2d(5, 8, 3), nn.Conv2d(7, 8, 5)

    def forward(self, left, right):
        if left.shape[-1] != 31:
            raise ValueError("the size is a secret")
        return self.left(left).mean((2, 3)) + self.right(right).mean((2, 3))


MAPS = torch.empty(4, 5, 31, 31), torch.empty(4, 7, 20, 20)


def lightning_steps():
    lightning = pytest.importorskip("lightning")

    class Lit(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = ConvNet()

        def predict_step(self, batch, _):
            return self.net(batch)

    return Lit()


@pytest.mark.parametrize(
    "make", [Steps, lightning_steps, lambda: nn.ModuleDict({"a": Steps()})], ids=str
)
def test_the_lone_part_is_the_model(make):
    model = make()
    plain = trace(ConvNet())
    graph = trace(model)
    assert graph.method == "meta"
    assert (graph.fingerprint, graph.params) == (plain.fingerprint, plain.params)
    assert "has no forward of its own, and model" in graph.reason
    assert trace(model, IMAGE).fingerprint == trace(ConvNet(), IMAGE).fingerprint


def test_a_compiled_part_is_looked_through():
    model = Steps(torch.compile(ConvNet(), backend="eager"))
    assert trace(model).fingerprint == trace(ConvNet()).fingerprint


@pytest.mark.parametrize("kind", [Whole, Calls])
def test_a_forward_that_is_inherited_is_one(kind):
    assert forwardless(kind()) == ""
    assert trace(kind(), IMAGE).fingerprint == trace(Whole(), IMAGE).fingerprint
    assert len(trace(kind(), IMAGE)) == len(trace(ConvNet(), IMAGE)) + 1


def test_no_part_stands_for_a_model_that_has_more():
    assert lone_part(Loose()) is None
    assert trace(Loose()).method == "modules"
    assert lone_part(nn.ModuleList([ConvNet(), ConvNet()])) is None
    shared = ConvNet()
    assert lone_part(nn.ModuleDict({"net": shared, "again": shared})) == ("model['net']", shared)


def test_a_refusal_is_the_parts():
    with pytest.raises(TraceError, match="forward of ConvNet refused the given inputs"):
        trace(Steps(), torch.empty(1, 7, 16, 16))


@pytest.mark.parametrize(
    "example", [MAPS, list(MAPS), {"left": MAPS[0], "right": MAPS[1]}], ids=type
)
@pytest.mark.parametrize("wrap", [lambda model: model, Steps], ids=["whole", "steps"])
def test_the_example_input_array_is_the_first_guess(example, wrap):
    model = wrap(Two())
    model.example_input_array = example
    graph, told = trace(model), trace(Two(), MAPS)
    assert graph.method == "meta"
    assert "[4, 5, 31, 31]" in graph.inputs
    assert "the forward accepted the example_input_array" in graph.reason
    assert (graph.fingerprint, graph.flops) == (told.fingerprint, told.flops)


def test_lightnings_own_attribute_is_read():
    model = lightning_steps()
    model.example_input_array = torch.empty(2, 3, 20, 20)
    assert trace(model).inputs == "float32[2, 3, 20, 20]"


@pytest.mark.parametrize("example", [None, (), "an array", torch.empty(1, 9, 9, 9)], ids=str)
def test_an_example_that_does_not_help_is_passed_by(example):
    model = ConvNet()
    model.example_input_array = example
    assert trace(model).fingerprint == trace(ConvNet()).fingerprint


def test_given_inputs_come_before_the_example():
    model = ConvNet()
    model.example_input_array = torch.empty(1, 3, 20, 20)
    assert trace(model, IMAGE).inputs == "float32[1, 3, 16, 16]"


def test_a_property_that_raises_is_passed_by():
    class Broken(ConvNet):
        @property
        def example_input_array(self):
            raise RuntimeError("no trainer")

    assert trace(Broken()).fingerprint == trace(ConvNet()).fingerprint
