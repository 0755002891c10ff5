"""Search: the oracle tells what it knows from what it guesses, and improvement is preferred."""

from dataclasses import replace

import pytest
import torch

pytest.importorskip("tqdm")
pytest.importorskip("botorch")

from nar_plugin.errors import NarError
from nar_plugin.train.vae.measure import prediction
from nar_plugin.train.vae.models.by_name import build
from nar_plugin.train.vae.search import latent_search
from nar_plugin.train.vae.search.oracle import shared_weights
from nar_plugin.train.vae.spaces import enas
from nar_plugin.train.vae.spaces.graphs import Graphs
from nar_plugin.train.vae.spaces.networks import Networks
from nar_plugin.train.vae.spaces.space import ENAS


@pytest.fixture(scope="module", autouse=True)
def small():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prediction, "INDUCING", 20)
        patch.setattr(prediction, "_STEPS", 8)
        yield


@pytest.fixture(scope="module")
def data():
    """Wirings at random; the accuracy is the share of the free edges that are there."""
    torch.manual_seed(0)
    rows = (torch.rand(200, 15) < 0.4).long().tolist()
    networks = []
    for row in rows:
        bits = iter(row)
        networks.append([[0, *(next(bits) for _ in range(layer))] for layer in range(6)])
    graphs = enas.graphs_of(networks)
    return Networks(graphs, enas.wiring(graphs).double().mean(1))


@pytest.fixture(scope="module")
def ask(data):
    return shared_weights(data)


def test_the_oracle_knows_wirings_and_guesses_the_rest(data, ask):
    others = Graphs(torch.full_like(data.graphs.types, 7), data.graphs.edges, enas.KINDS)
    answers = ask(others)
    assert answers.known.all()
    assert torch.equal(answers.accuracy, data.accuracy)
    full = enas.graphs_of([[[0], *([0] + [1] * layer for layer in range(1, 6))]])
    guess = ask(full)
    assert guess.known.tolist() == [False]
    assert guess.accuracy.item() > data.accuracy.mean()


def test_a_search_asks_for_no_network_twice_and_its_best_never_falls(data, ask, monkeypatch):
    torch.manual_seed(0)
    network = build("S-VAE", enas.KINDS, enas.VERTICES, 8).eval()
    monkeypatch.setattr(latent_search, "ROUNDS", 2)
    monkeypatch.setattr(latent_search, "BATCH", 20)
    monkeypatch.setattr(latent_search, "_POOL", 100)
    any_graph = replace(ENAS, whole=lambda graphs: torch.ones(len(graphs), dtype=torch.bool))
    for exact, improve in ((1000, True), (0, True), (0, False)):  # few rows, many, no process
        monkeypatch.setattr(latent_search, "_EXACT", exact)
        asked = []

        def noted(graphs, asked=asked):
            asked.extend(graphs.keys())
            return ask(graphs)

        rounds = latent_search.search(network, data, any_graph, noted, 0, improve=improve)
        assert len(rounds) == 2
        assert rounds[0].best <= rounds[1].best
        assert all(0 <= one.known <= 1 for one in rounds)
        assert len(asked) == 40 and not {*asked} & {*data.graphs.keys()}
        assert len({*asked}) == 40
    none = replace(ENAS, whole=lambda graphs: torch.zeros(len(graphs), dtype=torch.bool))
    with pytest.raises(NarError, match="train longer"):
        latent_search.search(network, data, none, ask, 0, improve=False)


def test_improvement_is_looked_for_where_it_is():
    torch.manual_seed(0)
    rows = torch.randn(200, 2)
    pool = torch.tensor([[-1.5, 0.0], [1.5, 0.0]])
    for process in (
        prediction.fitted(rows, rows[:, 0], 0),
        latent_search._learned(rows, rows[:, 0], 0, None),
    ):
        low, high = latent_search._improvement(process, pool, torch.tensor(1.0))
        assert low < high
