"""Models on an accelerator: a forked child reads copies, which its parent made before."""

import os

import pytest
import torch
from torch import nn

from nar_plugin import isolation
from nar_plugin.tracing import trace
from nar_plugin.tracing.record.host_copies import host_copies

OWN = os.getpid()


class Away(torch.Tensor):
    """A tensor that says it is on a GPU, and like one can be read in the first process alone."""

    @staticmethod
    def __new__(cls, values):
        return torch.Tensor._make_wrapper_subclass(
            cls, values.shape, dtype=values.dtype, device="cuda"
        )

    def __init__(self, values):
        self.values = values

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.detach.default:
            return Away(args[0].values)
        if func is torch.ops.aten._to_copy.default:
            if os.getpid() != OWN:
                raise RuntimeError("Cannot re-initialize CUDA in forked subprocess")
            copied.append(args[0].values.numel())
            return args[0].values.clone()
        raise NotImplementedError(func)


copied = []


@pytest.fixture(autouse=True)
def forked(monkeypatch):
    monkeypatch.setattr(isolation._State, "stays", not isolation.FORKS)
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    copied.clear()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.register_buffer("order", torch.tensor([3, 1, 0, 2]))

    def forward(self, x):
        if self.order.tolist()[0] == 3:  # the values say which way
            return torch.relu(self.layer(x))
        return self.layer(x)


class Quantile(nn.Module):
    """`quantile` wants values: no stand-in reaches below the dispatcher."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        h = self.layer(x)
        return torch.relu(h - torch.quantile(h, torch.tensor([0.5])))


def on_gpu(model):
    for module in model.modules():
        for name, parameter in module._parameters.items():
            module._parameters[name] = nn.Parameter(Away(parameter.data), requires_grad=False)
        for name, buffer in module._buffers.items():
            module._buffers[name] = Away(buffer)
    return model


def test_small_integers_are_copied_and_weights_where_they_are_wanted():
    model = on_gpu(Net())
    copies = host_copies(model, None, weights=False)
    assert {key: copy.tolist() for key, copy in copies.items()} == {id(model.order): [3, 1, 0, 2]}
    everything = (*model.parameters(), *model.buffers())
    assert set(host_copies(model, None, weights=True)) == {id(tensor) for tensor in everything}


def test_the_weights_are_copied_for_a_model_that_must_run():
    graph = trace(on_gpu(Quantile()), Away(torch.zeros(1, 8)))
    assert graph.method == "real"
    assert graph.ops[-1].kind == "relu"
    assert 64 in copied


def test_ids_are_copied():
    graph = trace(on_gpu(nn.Sequential(nn.Embedding(5, 8))), Away(torch.arange(4)[None]))
    assert (graph.method, [op.kind for op in graph.ops]) == ("meta", ["embedding"])
    assert copied == [4]


@pytest.mark.gpu
def test_on_a_real_gpu():
    model = Net().cuda()
    x = torch.zeros(1, 8, device="cuda")
    model(x)
    assert [op.kind for op in trace(model, x).ops] == ["linear", "relu"]
    assert model(x).shape == (1, 8)
