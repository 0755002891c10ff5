"""Two spellings of one function have one fingerprint, and near functions have two."""

import copy
import itertools

import pytest
import torch
from spellings import OPERATIONS, Model

from nar_plugin.tracing import trace

SIZES = [(8, (1, 5, 6)), (12, (2, 5, 6)), (16, (3, 7, 6))]
NAMES = list(OPERATIONS)
# Spellings, by their place, that have another print still: docs/decisions/one-print.md.
UNLIKE: set[tuple[str, int]] = set()
pytestmark = pytest.mark.slow


def same_pairs():
    return [
        (name, place, width, shape)
        for name, operation in OPERATIONS.items()
        for place in range(1, len(operation.same))
        for width, shape in SIZES
    ]


def near_pairs():
    """A function with each near one, with itself at another width, and with the next operation."""
    pairs = []
    for number, (name, operation) in enumerate(OPERATIONS.items()):
        following = OPERATIONS[NAMES[(number + 1) % len(NAMES)]].same[0]
        for width, other in ((8, 12), (12, 16)):
            first = (operation.same[0], width)
            pairs += [(name, first, (near, width)) for near in operation.near]
            pairs += [(name, first, (operation.same[0], other)), (name, first, (following, width))]
    return pairs


def print_of(written, width, shape=(1, 5, 6)):
    graph = trace(Model(written, width), torch.empty(shape))
    assert graph.method in ("meta", "real")  # no fallback differs for free
    return graph.fingerprint


@pytest.fixture(autouse=True)
def _in_this_process(in_this_process):
    pass


def test_the_spellings_are_equal_functions():
    with torch.no_grad():
        for name, operation in OPERATIONS.items():
            first = Model(operation.same[0], 8).double().eval()
            x = torch.randn(2, 5, 6, dtype=torch.float64)
            wanted = first(x)
            for written in operation.same[1:]:
                other = copy.deepcopy(first)
                other.written = written
                torch.testing.assert_close(other(x), wanted, rtol=1e-5, atol=1e-7, msg=name)


def test_two_spellings_have_one_print():
    pairs = same_pairs()
    assert len(pairs) >= 150
    prints = {
        (name, width): print_of(OPERATIONS[name].same[0], width, shape)
        for name, (width, shape) in itertools.product(NAMES, SIZES)
    }
    unlike = {
        (name, place)
        for name, place, width, shape in pairs
        if print_of(OPERATIONS[name].same[place], width, shape) != prints[name, width]
    }
    assert unlike == UNLIKE


def test_near_functions_have_two_prints():
    pairs = near_pairs()
    assert len(pairs) >= 150
    alike = [name for name, one, other in pairs if print_of(*one) == print_of(*other)]
    assert not alike
