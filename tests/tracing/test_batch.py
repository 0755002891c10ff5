"""FLOPs are those of one sample, also of models that refuse a batch of one."""

import torch
from torch import nn

from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.tracing import trace
from nar_plugin.tracing.run.inputs import mended


class Paired(nn.Module):
    """Compares a batch with itself, so it needs two samples."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 8)

    def forward(self, x):
        if len(x) < 2:
            raise ValueError("two samples at least")
        return self.layer(x).relu()


def test_flops_are_those_of_one_sample():
    inputs = ExampleInputs((torch.empty(6, 16, device="meta"),), batch=6)
    graph = trace(Paired(), inputs)
    assert graph.flops == 2 * 16 * 8
    assert graph.work == {"matmul": 2 * 16 * 8}
    assert graph.fingerprint == trace(Paired(), torch.empty(3, 16)).fingerprint


def test_a_mended_guess_holds_as_many_samples():
    refused = ExampleInputs((torch.empty(2, 3, 28, 28),), batch=2)
    message = "Input image height (28) doesn't match model (224)."
    proposals = list(mended(nn.Flatten(), refused, message))
    assert proposals
    assert {proposal.batch for proposal in proposals} == {2}
