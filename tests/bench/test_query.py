"""What `nar dev bench query` and `nar dev bench trace` time, on small designs."""

import torch

from nar_plugin.bench.cost import trace_cost
from nar_plugin.bench.query import STAGES, bare_forward, time_query
from nar_plugin.references import resolve

NAME = "reference:lenet5"


def test_every_stage_of_a_query_takes_time():
    times = time_query(NAME, repeats=1)
    assert list(times) == ["model", *STAGES]
    assert all(times[stage] > 0 for stage in STAGES)


def test_the_bare_forward_is_that_of_the_model():
    with torch.device("meta"):
        model = resolve(NAME).eval()
    answer = bare_forward(model)()
    assert answer.device.type == "meta"
    assert answer.shape[1:] == (10,)


def test_a_trace_is_timed_with_the_inputs_that_it_took():
    cost = trace_cost("reference:vae_2013", repeats=1)
    assert cost.ops > 0
    assert min(cost.bare, cost.recorder, cost.trace) > 0
