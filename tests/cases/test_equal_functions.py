"""Equal functions on inputs, of parts and of products have one print, and near ones another."""

import copy

import pytest
import torch
from on_inputs import ON_INPUTS, OnInput
from products_and_parts import PARTS, PRODUCTS, Parts
from timesteps import TIMES, Timed

from nar_plugin.tracing import trace

GROUPS = {"inputs": (OnInput, ON_INPUTS), "parts": (Parts, PARTS), "products": (Parts, PRODUCTS)}
CASES = [(group, name) for group, (_, table) in GROUPS.items() for name in table]
# Spellings, by their place, that have another print still: docs/decisions/one-print.md.
UNLIKE = {("parts", "two of three"): [1], ("products", "square of a length"): [2]}
LEARNED = "learned frequencies"  # of a whole time they are a weight, of a fraction a product

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _in_this_process(in_this_process):
    pass


def built(group, written):
    model = GROUPS[group][0](written)
    with torch.no_grad():
        model(torch.randn(1, 6, 8))  # the head takes its width
    return model.eval()


def print_of(group, written):
    graph = trace(built(group, written), torch.empty(1, 6, 8))
    assert graph.method in ("meta", "real")  # no fallback differs for free
    return graph.fingerprint


@pytest.mark.parametrize(("group", "name"), CASES)
def test_the_spellings_are_one_function_and_one_print(group, name):
    operation = GROUPS[group][1][name]
    first = built(group, operation.same[0]).double()
    x = torch.randn(2, 6, 8, dtype=torch.float64)
    wanted, unlike = first(x), []
    for place, written in enumerate(operation.same[1:], 1):
        other = copy.deepcopy(first)
        other.written = written
        torch.testing.assert_close(other(x), wanted, rtol=1e-5, atol=1e-5)
        if print_of(group, written) != print_of(group, operation.same[0]):
            unlike.append(place)
    assert unlike == UNLIKE.get((group, name), [])


@pytest.mark.parametrize(("group", "name"), CASES)
def test_near_functions_have_other_prints(group, name):
    operation = GROUPS[group][1][name]
    same = print_of(group, operation.same[0])
    assert all(print_of(group, written) != same for written in operation.near)


@pytest.mark.parametrize("name", TIMES)
def test_a_time_is_whole_or_not(name):
    x = torch.empty(1, 5, 8)
    times = torch.tensor([5]), torch.tensor([0.5]), torch.tensor([5], dtype=torch.int32)
    prints = {trace(Timed(TIMES[name]), (x, time)).fingerprint for time in times}
    assert len(prints) == 1 + (name == LEARNED)
