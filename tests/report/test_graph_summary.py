import numpy as np

from nar_plugin.report.graph_summary import graph_summary
from nar_plugin.report.terminal import plain_text
from nar_plugin.tracing.graph import ArchitectureGraph, Op


def test_the_flops_of_a_forward_that_was_not_followed_are_unknown():
    none = np.zeros((0, 2), dtype=np.int32)
    graph = ArchitectureGraph((Op("relu"),), none, ("a",), method="modules", reason="no inputs")
    (line,) = [
        line for line in plain_text(graph_summary(graph, "net")).splitlines() if "FLOPs" in line
    ]
    assert line.split() == ["FLOPs", "unknown"]


def test_the_facts_of_a_graph():
    conv = Op("conv", (("kernel", "3x3"),))
    graph = ArchitectureGraph(
        ops=(conv, Op("relu"), conv),
        edges=np.array([[0, 1], [1, 2]], dtype=np.int32),
        paths=("a", "b", "c"),
        params=25_557_032,
        flops=8_178_000_000,
        inputs="1 image of 3x224x224",
    )
    text = plain_text(graph_summary(graph, "my:[bold]net"))
    for fact in ("my:[bold]net", "25.6M (25,557,032)", "3 ops, 2 edges", graph.fingerprint):
        assert fact in text
    assert "conv \N{MULTIPLICATION SIGN}2, relu \N{MULTIPLICATION SIGN}1" in text
