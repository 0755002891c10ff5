"""Constructors that send themselves to a device, as recommenders and mmengine's models do."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import torch
from torch import nn

from nar_plugin.references.construction import built
from nar_plugin.references.parameters_on_meta import StaysOnMeta, parameters_on_meta
from nar_plugin.tracing import trace

DEVICE = torch.device("cpu")


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.scale = nn.Parameter(torch.ones(16))
        self.register_buffer("shift", torch.arange(16.0))

    def forward(self, x):
        return self.layers(x) * self.scale + self.shift


class SendsItself(Plain):
    """As deepctr_torch's models."""

    def __init__(self):
        super().__init__()
        self.to(DEVICE)


class SendsParts(Plain):
    """As recbole's models and deepctr_torch's Dice."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16).to(DEVICE), nn.ReLU()).cpu()
        self.scale = nn.Parameter(torch.ones(16).to(DEVICE))


class SendsData(Plain):
    def __init__(self):
        super().__init__()
        self.scale.data = self.scale.data.to(DEVICE)
        kept = torch.zeros(16, 8)
        kept.copy_(self.layers[0].weight.detach())


class ComparesMeans(Plain):
    """As mmengine's `init_weights`, which notes what an initialisation changed."""

    def __init__(self):
        super().__init__()
        before = self.scale.data.mean().cpu()
        if before != self.scale.data.mean().to("cpu"):
            raise RuntimeError("the mean changed")


@pytest.mark.parametrize("kind", [SendsItself, SendsParts, SendsData, ComparesMeans])
def test_a_constructor_may_send_itself_to_a_device(kind):
    model = built(kind)
    assert all(parameter.is_meta for parameter in model.parameters())
    assert model.shift.tolist() == list(range(16))
    assert trace(model).fingerprint == trace(Plain()).fingerprint


def test_sent_to_another_type_a_parameter_has_it():
    def make():
        return Plain().to(DEVICE, torch.float16)

    assert {tensor.dtype for tensor in built(make).state_dict().values()} == {torch.float16}


def test_another_threads_models_are_left_alone():
    step = Barrier(2, timeout=20)

    def inside():
        with parameters_on_meta(), StaysOnMeta():
            step.wait()  # both are ready
            step.wait()  # the other thread has built its model
            return nn.Linear(2, 2).weight.is_meta

    def outside():
        step.wait()
        weight = nn.Linear(2, 2).to(DEVICE).weight
        with torch.device("meta"), pytest.raises(NotImplementedError, match="meta tensor"):
            nn.Linear(2, 2).to(DEVICE)
        step.wait()
        return weight.is_meta

    with ThreadPoolExecutor(2) as threads:
        tried = [threads.submit(inside), threads.submit(outside)]
        assert [future.result() for future in tried] == [True, False]
    assert not nn.Linear(2, 2).weight.is_meta


def test_two_threads_build_at_once():
    step = Barrier(2, timeout=20)

    def make(width):
        with parameters_on_meta():
            step.wait()
            model = nn.Sequential(*[nn.Linear(width, width) for _ in range(50)])
        return {(parameter.is_meta, parameter.shape[0]) for parameter in model.parameters()}

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(make, [2, 3])) == [{(True, 2)}, {(True, 3)}]


def test_a_block_within_a_block():
    with parameters_on_meta():
        with parameters_on_meta():
            assert nn.Linear(2, 2).weight.is_meta
        assert nn.Linear(2, 2).weight.is_meta
    assert not nn.Linear(2, 2).weight.is_meta
