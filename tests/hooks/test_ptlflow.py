"""What ptlflow's plugin builds."""

import pytest
from nar_plugin.hooks import ptlflow as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("ptlflow")


def test_lists_what_the_library_publishes():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 85
    found = listed["ptlflow:raft"]
    assert (found.family, found.task) == ("raft", "optical-flow")


@pytest.mark.parametrize(
    ("name", "millions"),  # table 1 of https://arxiv.org/abs/2003.12039
    [("raft", 5.3), ("raft_small", 1.0)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"ptlflow:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, abs=0.05)
