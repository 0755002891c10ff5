"""Forwards that a recorder used to break: the graph, and no blame for good inputs."""

import differentiating as cases
import pytest
import torch
from torch import nn

import nar_plugin


@pytest.fixture(autouse=True)
def _in_this_process(in_this_process):
    pass


def kinds(graph):
    return [op.kind for op in graph.ops]


def test_forces_are_the_graph_of_the_energy_and_of_its_gradient():
    x = torch.randn(5, 3)
    graph = nar_plugin.trace(cases.Potential(), example_inputs=x)
    with_gradients = nar_plugin.trace(cases.PotentialWithGradientsOn(), example_inputs=x)

    assert graph.method == "meta"
    assert graph.fingerprint == with_gradients.fingerprint
    assert kinds(graph) == [*"linear silu linear sum linear silu_backward linear".split()]
    assert nar_plugin.trace(cases.Potential()).fingerprint == graph.fingerprint


def test_a_scan_is_the_loop_that_it_stands_for():
    by_hand = nar_plugin.trace(cases.ScannedByHand(), example_inputs=torch.randn(2, 7, 4))

    for steps in (5, 9):
        graph = nar_plugin.trace(cases.Scanned(), example_inputs=torch.randn(2, steps, 4))
        assert graph.fingerprint == by_hand.fingerprint
    assert nar_plugin.trace(cases.Scanned()).fingerprint == by_hand.fingerprint


def test_a_map_is_the_function_on_all_rows():
    graph = nar_plugin.trace(cases.Mapped(), example_inputs=torch.randn(2, 7, 4))
    by_hand = nar_plugin.trace(cases.MappedByHand(), example_inputs=torch.randn(2, 7, 4))

    assert graph.fingerprint == by_hand.fingerprint
    assert graph.flops == by_hand.flops == 2 * 7 * 4 * 8  # of one of two samples


def test_an_associative_scan_does_not_depend_on_the_length():
    found = {
        nar_plugin.trace(cases.Summed(), example_inputs=torch.randn(2, n, 4)).fingerprint
        for n in (7, 16, 33)
    }

    assert len(found) == 1


def test_a_loop_operator_is_a_round_of_its_body():
    assert kinds(nar_plugin.trace(cases.Repeated())) == ["linear", "tanh"]


@pytest.mark.parametrize("kind", [cases.Jagged, cases.Strided])
def test_nested_tensors_are_followed(kind):
    graph = nar_plugin.trace(kind(), example_inputs=cases.TWO)

    assert graph.method == "meta"
    assert kinds(graph) == ["linear"]
    assert graph.flops == 2 * (3 + 5) * 16 * 16


@pytest.mark.parametrize("kind, inputs", cases.FURTHER, ids=lambda item: str(item)[:60])
def test_further_forwards_are_followed(kind, inputs):
    graph = nar_plugin.trace(kind(), example_inputs=inputs)

    assert graph.method in ("meta", "real")
    assert graph.unread == 0


class SeesTheTracer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 4)

    def forward(self, x):
        assert not torch.utils._python_dispatch._get_current_dispatch_mode_stack()
        return self.layer(x)


def test_a_failure_of_the_tracer_is_not_blamed_on_the_inputs():
    graph = nar_plugin.trace(SeesTheTracer(), example_inputs=torch.randn(2, 16))

    assert graph.method == "modules"
    assert "no fault of its inputs" in graph.reason


def test_inputs_that_do_not_fit_are_told_so_all_the_same():
    with pytest.raises(nar_plugin.NarError, match="refused the given inputs"):
        nar_plugin.trace(SeesTheTracer(), example_inputs=torch.randn(2, 15))


class Unknown(nn.Module):
    """An operator that nothing here knows."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 4)

    def forward(self, x):
        from torch._higher_order_ops.strict_mode import strict_mode_op

        return strict_mode_op(lambda x: (self.layer(x),), (x,))[0]


@pytest.mark.parametrize("inputs", [None, torch.randn(2, 16)], ids=["guessed", "given"])
def test_an_operator_that_is_not_known_is_named(inputs):
    graph = nar_plugin.trace(Unknown(), example_inputs=inputs)

    assert graph.method == "modules"
    assert "does not know the higher-order operator strict_mode" in graph.reason
