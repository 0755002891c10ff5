"""Search: the oracle tells what it knows from what it guesses, and improvement is preferred."""

import pytest
import torch

pytest.importorskip("tqdm")
pytest.importorskip("botorch")

from nar_plugin.train.vae import enas, prediction, search
from nar_plugin.train.vae.enas import Enas
from nar_plugin.train.vae.graphs import Graphs
from nar_plugin.train.vae.models import build
from nar_plugin.train.vae.oracle import Oracle, whole

EMPTY = [[0], *([0] + [0] * layer for layer in range(1, 6))]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(prediction, "INDUCING", 30)


@pytest.fixture
def data():
    """Wirings at random; the accuracy is the share of the free edges that are there."""
    torch.manual_seed(0)
    rows = (torch.rand(300, 15) < 0.4).long().tolist()
    networks = []
    for row in rows:
        bits = iter(row)
        networks.append([[0, *(next(bits) for _ in range(layer))] for layer in range(6)])
    graphs = enas.graphs_of(networks)
    return Enas(graphs, enas.wiring(graphs).double().mean(1))


def test_the_oracle_knows_wirings_and_guesses_the_rest(data):
    oracle = Oracle(data)
    others = Graphs(torch.full_like(data.graphs.types, 7), data.graphs.edges, enas.KINDS)
    answers = oracle.ask(others)
    assert answers.known.all()
    assert torch.equal(answers.accuracy, data.accuracy)
    full = enas.graphs_of([[[0], *([0] + [1] * layer for layer in range(1, 6))]])
    guess = oracle.ask(full)
    assert guess.known.tolist() == [False]
    assert guess.accuracy.item() > data.accuracy.mean()


def test_which_networks_have_six_layers():
    graphs = enas.graphs_of([EMPTY])
    assert whole(graphs).tolist() == [True]
    graphs.types[0, 3] = enas.END
    assert whole(graphs).tolist() == [False]


def test_a_search_has_ten_rounds_whose_best_never_falls(data, monkeypatch):
    torch.manual_seed(0)
    network = build("S-VAE", enas.KINDS, enas.VERTICES, 8).eval()
    monkeypatch.setattr(search, "ROUNDS", 2)
    monkeypatch.setattr(search, "_POOL", 100)
    monkeypatch.setattr(search, "valid", lambda graphs: torch.ones(len(graphs), dtype=torch.bool))
    for improve in (True, False):
        rounds = search.search(network, data, Oracle(data), 0, improve=improve)
        assert len(rounds) == 2
        assert rounds[0].best <= rounds[1].best
        assert all(0 <= one.known <= 1 for one in rounds)
