"""A training learns, goes on where it was interrupted, and refuses other settings."""

import json
from dataclasses import replace

import pytest
import torch

pytest.importorskip("tqdm")

from nar_plugin.errors import NarError
from nar_plugin.train.vae.fit import training
from nar_plugin.train.vae.fit.protocol import Protocol, protocol
from nar_plugin.train.vae.fit.runs import Run
from nar_plugin.train.vae.models.by_name import build
from nar_plugin.train.vae.models.operations import write_operations
from nar_plugin.train.vae.spaces.graphs import END, START, Graphs

CPU = torch.device("cpu")
SMALL = Protocol("tiny", 16, 8, {"": 3}, {"DVAE-EMB": 2}, 5e-3, "cosine", 1.0)


def run(work, settings):
    return Run(work, "enas", "DVAE-EMB", settings, 0)


@pytest.fixture
def graphs():
    torch.manual_seed(0)
    types = torch.randint(2, 4, (16, 4))
    types[:, 0], types[:, -1] = START, END
    edges = (torch.rand(16, 4, 4) < 0.5).triu(1)
    return Graphs(types, edges, 4)


@pytest.mark.parametrize("falls", ["cosine", "plateau"])
def test_an_interrupted_training_ends_with_the_same_numbers(graphs, tmp_path, monkeypatch, falls):
    settings = replace(SMALL, falls=falls)
    whole = training.train(run(tmp_path / "whole", settings), graphs, CPU)
    part = run(tmp_path / "parts", settings)
    kept, number = training.write_whole, 0

    def interrupted(content, path):
        nonlocal number
        kept(content, path)
        number += 1
        if number in (1, 3, 4):  # in a repeat, after one, and in the next
            raise KeyboardInterrupt

    monkeypatch.setattr(training, "write_whole", interrupted)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            training.train(part, graphs, CPU)
    with pytest.raises(NarError, match=r"4 of 6 epochs: .* --space enas --model DVAE-EMB"):
        training.trained(part, graphs)
    parts = training.train(part, graphs, CPU)
    for name, value in whole.state_dict().items():
        torch.testing.assert_close(parts.state_dict()[name], value, atol=0, rtol=0)
    _, history = training.trained(part, graphs)
    assert len(history) == 6
    assert history[2]["reconstruction"] < history[0]["reconstruction"]


def test_a_repeat_starts_anew_but_for_the_operations(graphs, tmp_path, monkeypatch):
    # With a rate of nothing, what the second repeat starts from is what it ends with.
    still = replace(SMALL, rate=0.0, epochs={"": 1})
    twice = training.train(run(tmp_path / "two", still), graphs, CPU)
    once = training.train(run(tmp_path / "one", replace(still, repeats={})), graphs, CPU)
    table = "decoder.operations.table"
    assert torch.equal(twice.state_dict()[table], once.state_dict()[table])
    assert not torch.equal(twice.mean.weight, once.mean.weight)


def test_learned_vectors_of_operations_are_kept_by_name(graphs, tmp_path):
    network = training.train(run(tmp_path, replace(SMALL, rate=0.0)), graphs, CPU)
    write_operations(network, ["conv", "pool"], tmp_path)
    kept = json.loads((tmp_path / "operations.json").read_text())
    assert list(kept) == ["input", "output", "conv", "pool"]
    assert kept["pool"] == network.decoder.operations.table[3].tolist()
    assert len(kept["pool"]) == 3
    write_operations(build("D-VAE", 4, 4, 8), ["conv", "pool"], tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_other_settings_are_refused(graphs, tmp_path):
    training.train(run(tmp_path, replace(SMALL, epochs={"": 1}, repeats={})), graphs, CPU)
    with pytest.raises(NarError, match="other settings"):
        training.train(run(tmp_path, replace(SMALL, rate=1.0)), graphs, CPU)


def test_an_unknown_protocol_is_answered_with_the_known():
    with pytest.raises(NarError, match="paper or reduced"):
        protocol("nope")
