"""How long a sequence is, how often a loop goes round, and what values are: no part of a design."""

import lengths as cases
import pytest

import nar_plugin


@pytest.fixture(autouse=True)
def _in_this_process(in_this_process):
    pass


def fingerprints(pairs):
    graphs = [nar_plugin.trace(model, example_inputs=inputs) for model, inputs in pairs]
    assert {graph.method for graph in graphs} == {"meta"}
    return {graph.fingerprint for graph in graphs}


@pytest.mark.parametrize("name", [*cases.STATED, *cases.FURTHER, *cases.SECOND])
def test_one_design_has_one_fingerprint(name):
    assert len(fingerprints((cases.STATED | cases.FURTHER | cases.SECOND)[name])) == 1


@pytest.mark.parametrize("name", cases.APART)
def test_layers_that_share_their_weights_count(name):
    assert len(fingerprints(cases.APART[name])) == len(cases.APART[name])
