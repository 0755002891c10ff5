"""FLOPs of what torch's own counter leaves out, each against a value worked by hand."""

import pytest
import torch
from torch import nn

from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.tracing import trace
from nar_plugin.tracing.canon.flops import flops_of
from nar_plugin.tracing.record.record import Record


class Computes(nn.Module):
    """A weight and what is computed with it."""

    def __init__(self, compute, *shape):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(*shape))
        self.compute = compute

    def forward(self, x):
        return self.compute(x, self.weight)


def routed(x, experts):
    counts = torch.full((experts.shape[0],), x.shape[0] // experts.shape[0], dtype=torch.int32)
    return torch._grouped_mm(x.bfloat16(), experts.bfloat16(), counts.cumsum(0, dtype=torch.int32))


CASES = {
    # 32 rows, each through one of 4 experts of 16 x 64
    "routed experts": (Computes(routed, 4, 16, 64), (32, 16), 2 * 32 * 16 * 64),
    # 5 rows, 3 numbers each
    "matrix and vector": (Computes(torch.mv, 3), (5, 3), 2 * 5 * 3),
    "two vectors": (Computes(torch.dot, 7), (7,), 2 * 7),
    # 2 rows; the weight (5, 3, 4) meets the first input, then (5, 4) the second
    "bilinear": (
        Computes(lambda x, w: nn.functional.bilinear(x[:, :3], x[:, 3:], w), 5, 3, 4),
        (2, 7),
        2 * 2 * (5 * 3 * 4 + 5 * 4),
    ),
    # 50 x 60 pairs of 3 numbers, their square and a one
    "distances": (Computes(torch.cdist, 60, 3), (50, 3), 2 * 50 * 60 * 5),
}


@pytest.mark.parametrize(("model", "shape", "flops"), CASES.values(), ids=list(CASES))
def test_flops_by_hand(model, shape, flops):
    graph = trace(model, ExampleInputs((torch.empty(*shape),)))  # the rows are one sample
    assert (graph.flops, graph.work) == (flops, {"matmul": flops})


def test_a_deformable_convolution_counts_as_its_convolution():
    ops = pytest.importorskip("torchvision.ops")

    class Deformable(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.empty(8, 4, 3, 3))

        def forward(self, x):
            offset = x.new_zeros(1, 18, 10, 10)
            return ops.deform_conv2d(x, offset, self.weight)

    graph = trace(Deformable(), torch.empty(1, 4, 12, 12))
    assert graph.work == {"conv": 2 * 10 * 10 * 8 * 4 * 9}


def test_a_call_with_what_cannot_be_hashed_counts_as_any():
    class Unhashable:
        __hash__ = None

    tensors = torch.empty(4, 8), torch.empty(8, 16)
    record = Record(torch.ops.aten.mm.default, tensors, {}, torch.empty(4, 16), [], "")
    odd = record._replace(kwargs={"out_dtype": Unhashable()})
    assert flops_of([record, odd]).kinds == {"matmul": 2 * (2 * 4 * 8 * 16)}
