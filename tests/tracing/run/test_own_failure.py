"""A failure that is the tracer's own says so, and does not blame the inputs."""

import pytest
import torch
from torch import nn

import nar_plugin
from nar_plugin.tracing.run import forward


@pytest.mark.parametrize("given", [None, (torch.zeros(1, 3, 32, 32),)])
def test_a_rule_that_fails_is_a_bug_of_nar_plugin(monkeypatch, in_this_process, given):
    def failing(recording):
        raise KeyError("a rule")

    monkeypatch.setattr(forward, "graph_of", failing)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())
    graph = nar_plugin.trace(model, example_inputs=given)
    assert graph.method == "modules"
    assert "no fault of its inputs" in graph.reason
    assert "a rule of nar-plugin failed: KeyError: 'a rule'" in graph.reason
