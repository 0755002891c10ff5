"""Path lengths and clustering, by hand, by networkx, and of the ENAS data."""

import networkx
import pytest
import torch

pytest.importorskip("tqdm")

from nar_plugin.train.vae.measure import structure, wirings
from nar_plugin.train.vae.spaces import enas
from nar_plugin.train.vae.spaces.graphs import Graphs
from nar_plugin.train.vae.spaces.networks import Networks


def test_a_triangle_with_a_tail_by_hand():
    edges = torch.zeros(1, 4, 4, dtype=torch.bool)
    for start, end in ((0, 1), (1, 2), (0, 2), (2, 3)):
        edges[0, start, end] = True
    graph = Graphs(torch.zeros(1, 4, dtype=torch.long), edges, 2)
    # 0-1, 0-2, 1-2 and 2-3 are one edge apart, 0-3 and 1-3 two.
    assert structure.path_length(graph).item() == pytest.approx(8 / 6)
    # One triangle; the degrees 2, 2, 3, 1 make 1 + 1 + 3 connected triples.
    assert structure.clustering(graph).item() == pytest.approx(3 / 5)


def test_any_graph_as_networkx_has_it():
    torch.manual_seed(0)
    edges = (torch.rand(20, 8, 8) < 0.4).triu(1)
    graphs = Graphs(torch.zeros(20, 8, dtype=torch.long), edges, 2)
    lengths, clusters = structure.path_length(graphs), structure.clustering(graphs)
    for number in range(20):
        graph = networkx.from_numpy_array(edges[number].numpy(), create_using=networkx.DiGraph)
        paths = dict(networkx.all_pairs_shortest_path_length(graph))
        known = [far for ends in paths.values() for far in ends.values() if far]
        assert lengths[number].item() == pytest.approx(sum(known) / len(known))
        clustered = networkx.transitivity(graph.to_undirected())
        assert clusters[number].item() == pytest.approx(clustered)


def test_the_spread_inside_a_wiring_by_hand():
    layers = [[0], [0, 1], [0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]
    same = [[5], [4, 1], *layers[2:]]  # other operations
    other = [[0], [0, 0], *layers[2:]]
    # Layer 1 (vertex 2) may read the input; its bit 0 makes the first two one wiring.
    graphs = enas.graphs_of([layers, same, other])
    found = wirings.spread(Networks(graphs, torch.tensor([0.5, 0.7, 0.1], dtype=torch.float64)))
    assert (found["wirings"], found["shared"], found["networks"]) == (2, 1, 2)
    assert found["spread"] == pytest.approx(0.2)
    assert found["range"] == pytest.approx(0.6)


def test_the_paper_s_correlations_and_what_the_labels_know(enas_data):
    data = enas_data
    lengths, clusters = structure.path_length(data.graphs), structure.clustering(data.graphs)
    assert structure.correlation(lengths, data.accuracy) == pytest.approx(0.32, abs=0.01)
    assert structure.correlation(clusters, data.accuracy) == pytest.approx(-0.39, abs=0.01)
    assert wirings.spread(data)["spread"] == 0.0
