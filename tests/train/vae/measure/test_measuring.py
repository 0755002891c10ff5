"""Table 1 as it counts, the Gaussian process of Table 2, and the tables of the page."""

import pytest
import torch

pytest.importorskip("tqdm")
pytest.importorskip("gpytorch")

from nar_plugin.train.vae.measure import prediction, tables
from nar_plugin.train.vae.measure.abilities import abilities
from nar_plugin.train.vae.measure.cells import Cells
from nar_plugin.train.vae.measure.prediction import predict, predict_by_trees, standardised
from nar_plugin.train.vae.models.autoencoder import Autoencoder
from nar_plugin.train.vae.models.by_name import MODELS
from nar_plugin.train.vae.spaces import enas
from nar_plugin.train.vae.spaces.graphs import Graphs

CHAIN = enas.graphs_of([[[0], *([0, *[0] * layer] for layer in range(1, 6))]])


class Coin(torch.nn.Module):
    """Decodes the chain half of the time, and else a graph whose output reads two vertices."""

    def log_likelihood(self, latent, graphs):
        found = torch.zeros(len(latent), graphs.vertices)
        found[:, 3] = torch.log(torch.tensor(0.5))
        found[:, -1] = -5  # what it thinks of the output counts for nothing
        return found

    def sample(self, latent, draw):
        edges = CHAIN.edges.repeat(len(latent), 1, 1)
        edges[:, 2, -1] = draw.bits(torch.zeros(len(latent)))
        return Graphs(CHAIN.types.repeat(len(latent), 1), edges, CHAIN.kinds)


class Nothing(torch.nn.Module):
    def forward(self, graphs):
        return torch.zeros(len(graphs), 2)


def test_a_decoder_that_is_right_half_of_the_time():
    found = abilities(Autoencoder(Nothing(), Coin(), 2, 3), CHAIN, CHAIN, enas.valid)
    assert found.accuracy == pytest.approx(50)
    assert found.validity == pytest.approx(50, abs=2)  # four standard errors of 10,000 draws
    assert found.prior_validity == pytest.approx(50, abs=2)
    assert found.uniqueness == pytest.approx(100 / (found.validity * 100))


def test_the_process_learns_what_can_be_learned(monkeypatch):
    monkeypatch.setattr(prediction, "INDUCING", 40)
    monkeypatch.setattr(prediction, "_STEPS", 40)
    torch.manual_seed(0)
    rows = torch.randn(600, 3)
    targets = (rows[:, 0].sin() + 5).double()  # the other numbers say nothing
    found = predict(standardised(rows[:500], targets[:500], rows[500:], targets[500:]), 0)
    trees = predict_by_trees(standardised(rows[:500], targets[:500], rows[500:], targets[500:]))
    assert found.rmse < trees.rmse < 0.2  # a sine is smooth
    assert found.pearson > trees.pearson > 0.98
    noise = torch.randn(600).double()
    guess = predict(standardised(rows[:500], noise[:500], rows[500:], noise[500:]), 0)
    assert guess.rmse > 0.8


GUESSED = {
    "rmse": [0.3, 0.4],
    "pearson": [0.9, 0.9],
    "trees": {"rmse": 0.25, "pearson": 0.95},
}


def test_the_page_has_the_paper_s_figures_beside_ours(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "before\n<!-- tables: nar dev vae measure -->\nold\n<!-- end of tables -->\nafter\n"
    )
    cells = Cells(tmp_path / "page.json")
    one = {"accuracy": 99.5, "validity": 100.0, "uniqueness": 40.0, "epochs": 12, "seconds": 240}
    one["prior_validity"] = 98.5
    cells.put("enas/DVAE-EMB/reduced/0", one | GUESSED)
    rounds = [{"best": 90.0, "mean": 50.0, "known": 1.0}, {"best": 94.0, "mean": 92, "known": 1.0}]
    cells.put("search nas201/D-VAE/reduced/1", {"random": {"0": rounds}})
    tables.write(page, Cells(tmp_path / "page.json").all)
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert (
        "| DVAE-EMB | REDUCED, seed 0 | 99.99 / 99.50 | 100.00 / 100.00 | 39.15 / 40.00 | 98.50 |"
        in text
    )
    assert "| 0.371 / 0.350 ± 0.050 | 0.925 / 0.900 ± 0.000 | 2 | 0.250, 0.950 |" in text
    assert (
        "| D-VAE | REDUCED, seed 1 | random | 94.0000 ± 0.0000 | 92.0000 ± 0.0000 | 100% | 1 |"
    ) in text
    tables.write(page, cells.all)
    assert page.read_text() == text


def test_every_model_has_its_figures_in_print():
    assert set(tables.PRINTED) == set(MODELS)


def test_two_processes_that_measure_at_once_keep_each_other_s_cells(tmp_path):
    one, other = Cells(tmp_path / "cells.json"), Cells(tmp_path / "cells.json")
    one.put("one", {"rmse": [1.0]})
    other.put("other", {"rmse": [2.0]})
    assert set(Cells(tmp_path / "cells.json").all) == {"one", "other"} == set(other.all)
