"""What a decoder draws, and what it says of how likely that was."""

import pytest
import torch

pytest.importorskip("tqdm")

from nar_plugin.train.vae.models.by_name import MODELS, build
from nar_plugin.train.vae.models.sampling import Draw, finish
from nar_plugin.train.vae.spaces.graphs import END, START, Graphs

KINDS, VERTICES = 4, 4  # two operations; input, two layers, output


@pytest.mark.parametrize("model", MODELS)
def test_draws_are_as_frequent_as_the_likelihood_says(model):
    # The commonest drawn graphs: their shares in 20,000 draws against the probability by which
    # accuracy is computed in one pass. Five standard errors of a share of 1/4 are .034.
    torch.manual_seed(0)
    network = build(model, KINDS, VERTICES, 8).eval()
    with torch.no_grad():
        latent = torch.randn(1, 56).expand(4_000, -1)
        drawn = network.sample(latent, Draw(0))
        whole = drawn[(drawn.types == END).long().argmax(1) == VERTICES - 1]
        whole = whole[(whole.types[:, 1:-1] != START).all(1)]
        keys = whole.keys()
        common = sorted(set(keys), key=keys.count)[-5:]
        for key in common:
            graph = whole[[keys.index(key)]]
            chance = network.exact(latent[:1], graph).item()
            assert chance > 0.002
            assert abs(keys.count(key) / 4_000 - chance) < 5 * (chance / 4_000) ** 0.5


def test_an_output_reads_what_nothing_else_reads():
    types = torch.tensor([[0, 2, 3, 2]])
    edges = torch.zeros(1, 4, 4, dtype=torch.bool)
    edges[0, 0, 1] = True  # 1 reads the input; nothing reads 1 or 2
    done = finish(Graphs(types, edges, KINDS))
    assert done.types.tolist() == [[0, 2, 3, 1]]
    assert done.edges[0].nonzero().tolist() == [[0, 1], [1, 3], [2, 3]]


def test_nothing_stands_after_the_first_output():
    types = torch.tensor([[0, 2, 1, 3]])
    edges = torch.ones(1, 4, 4, dtype=torch.bool).triu(1)
    done = finish(Graphs(types, edges, KINDS))
    assert done.types.tolist() == [[START, 2, END, START]]
    assert done.edges[0].nonzero().tolist() == [[0, 1], [1, 2]]
