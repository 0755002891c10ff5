"""Inputs that are no single tensor are found, and give the graph that right ones give."""

import pytest
import structured_inputs as cases

import nar_plugin


@pytest.fixture(autouse=True)
def _in_this_process(in_this_process):
    pass


@pytest.mark.parametrize("name", [*cases.STATED, *cases.FURTHER])
def test_found_inputs_lead_to_the_graph_of_right_ones(name):
    make, inputs = (cases.STATED | cases.FURTHER)[name]
    found = nar_plugin.trace(make())
    given = inputs()

    assert found.method == "meta"
    assert found.unread == 0
    if given is not None:
        right = nar_plugin.trace(make(), example_inputs=given)
        assert found.fingerprint == right.fingerprint


def test_a_model_is_the_same_before_and_after_a_batch():
    model = cases.Leaky()
    before = nar_plugin.trace(model)
    cases.used(model, cases.torch.rand(4, 6))
    after = nar_plugin.trace(model)

    assert before.fingerprint == after.fingerprint
    assert model.voltage.shape == (4, 4)  # the user's own keeps what it had
