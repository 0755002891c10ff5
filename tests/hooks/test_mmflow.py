"""What mmflow's plugin lists and builds."""

import pytest
from nar_plugin.hooks import mmflow as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("mmflow")


def test_lists_what_the_library_publishes():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 70
    assert listed["mmflow:raft_8x2_100k_mixed_368x768"].family == "raft"


def test_published_parameter_count():
    graph = trace(resolve("mmflow:raft_8x2_100k_flyingchairs_368x496"))
    assert graph.method == "meta"
    assert graph.params == 5_257_536  # of the authors' own network
