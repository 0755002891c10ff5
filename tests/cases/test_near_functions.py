"""What is turned, spread along another axis or shifted inside is another design."""

import copy

import pytest
import torch
from near_functions import NEAR, Square

from nar_plugin.tracing import trace

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _in_this_process(in_this_process):
    pass


def print_of(written):
    graph = trace(Square(written), torch.empty(1, 8, 8))
    assert graph.method in ("meta", "real")  # no fallback differs for free
    return graph.fingerprint


@pytest.mark.parametrize("name", NEAR)
def test_a_near_function_has_another_print(name):
    torch.manual_seed(0)
    written, near = NEAR[name]
    first, x = Square(written).double().eval(), torch.randn(1, 8, 8, dtype=torch.float64)
    wanted, told = first(x), print_of(written)
    for place, other in enumerate(near):
        model = copy.deepcopy(first)
        model.written = other
        out = model(x)
        assert out.shape != wanted.shape or not torch.allclose(out, wanted)
        assert print_of(other) != told, (name, place)
