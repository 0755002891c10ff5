"""Decoded graphs as references: both spaces by hand, and what an autoencoder draws."""

import pytest
import torch

pytest.importorskip("tqdm")
pytest.importorskip("gpytorch")

import nar_plugin
from nar_plugin.train.vae.search.decoded_cells import decoded
from nar_plugin.train.vae.spaces import enas, nas201
from nar_plugin.train.vae.spaces import space as spaces
from nar_plugin.train.vae.spaces.graphs import END, START

SIX = [[2], [4, 0], [0, 1, 0], [0, 0, 1, 1], [2, 0, 0, 0, 0], [5, 1, 0, 0, 0, 1]]
CELL = ("nor_conv_3x3", "none", "skip_connect", "avg_pool_3x3", "nor_conv_1x1", "none")


def test_graphs_are_written_as_their_benchmarks_write_them():
    graphs = enas.graphs_of([SIX, SIX])
    graphs.types[1, 3:] = torch.tensor([END, *[START] * 4])  # ends after two layers
    assert spaces.ENAS.texts(graphs) == [f"enas:{SIX}", "enas:[[2], [4, 0]]"]
    assert spaces.NAS201.texts(nas201.graphs_of([CELL])) == [
        "nasbench201:|nor_conv_3x3~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|nor_conv_1x1~1|none~2|"
    ]


class Decodes(torch.nn.Module):
    """Decodes the same graphs whatever is drawn."""

    def __init__(self, graphs):
        super().__init__()
        self.graphs, self.mean = graphs, torch.nn.Linear(1, 4)

    def sample(self, latent, draw):
        assert latent.shape[1] == 4
        return self.graphs


def test_decoded_cells_are_distinct_networks_that_can_be_asked():
    one, other = [[1], *SIX[1:]], SIX
    graphs = enas.graphs_of([one, other, one, [[0], *SIX[1:]]])
    graphs.edges[1, 0, 1] = False  # no network: its first layer reads nothing
    found = decoded(Decodes(graphs), spaces.ENAS, 2, seed=0)
    assert found == [f"enas:{one}", f"enas:{[[0], *SIX[1:]]}"]
    design = nar_plugin.trace(found[0])
    assert sum(op.kind == "max_pool" for op in design.ops) == 1  # the last layer
