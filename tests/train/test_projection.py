"""The recipe `default`: what it learns, that it repeats itself, and what ships."""

import json
from dataclasses import asdict
from importlib.resources import files
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.nn import functional

pytest.importorskip("tqdm")

from nar_plugin.encoder import load_encoder
from nar_plugin.encoder.model import Families
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train import projection
from nar_plugin.train.metrics import retrieval_quality
from nar_plugin.train.nas import darts_corpus
from nar_plugin.train.projection import DefaultMethod, Settings
from nar_plugin.train.splits import split_corpus


def test_the_network_brings_families_together():
    torch.manual_seed(0)
    labels = torch.arange(8).repeat_interleave(16)
    rows = torch.randn(8, 32)[labels] + 2 * torch.randn(128, 32)
    settings = Settings(width=32, families=16, epochs=60, batch=64)
    network = Families(32, 16)
    projection._train(network, rows, labels, settings)
    with torch.no_grad():
        learned = network(rows)
    plain = functional.normalize(rows[:, :16], dim=1)  # what it starts from
    assert _apart(learned, labels) > 1.3 * _apart(plain, labels)


def _apart(vectors, labels):
    """Mean cosine inside a family minus that between families."""
    same = labels[:, None] == labels
    others = same & ~torch.eye(len(labels), dtype=torch.bool)
    cosines = vectors @ vectors.T
    return cosines[others].mean() - cosines[~same].mean()


@pytest.fixture(scope="module")
def corpus():
    return darts_corpus(120, seed=0)


@pytest.fixture
def small(monkeypatch):
    """Sketches of fewer numbers: the covariance of 8,192 takes a minute."""
    modules = ("nar_plugin.encoder.sketch", "nar_plugin.encoder.model", projection.__name__)
    for name, value in (
        ("WIDTH", 128),
        ("SKETCH", 640),
        ("LABELS", 512),
        ("WIDTHLESS", 256),
    ):
        for module in modules:
            monkeypatch.setattr(f"{module}.{name}", value, raising=False)


def test_it_learns_classes_and_repeats_itself(corpus, small):
    split = split_corpus(corpus, "unique", 0)
    vectors = []
    for _ in range(2):
        method = DefaultMethod(Settings(width=160, families=64, variants=16, designs=32, sizes=16))
        method.fit([corpus[graph] for graph in split.train], split.labels[split.train])
        vectors.append(method.embed(corpus))
    np.testing.assert_array_equal(*vectors)
    assert vectors[0].shape == (120, 128)
    assert method.parameters > 128 * 512
    quality = retrieval_quality(vectors[0], split.labels, split.queries, split.candidates)
    assert quality.mrr[20] > 0.8


def test_what_was_interrupted_goes_on_to_the_same_encoder(corpus, small, tmp_path, monkeypatch):
    monkeypatch.setattr(projection, "read_corpus", lambda folder: corpus)
    projection.train_encoder(tmp_path / "corpus", tmp_path / "whole")
    fitted = []
    network = projection._fit_network

    def interrupted(*args):
        fitted.append(args)
        if len(fitted) == 2:
            raise KeyboardInterrupt
        network(*args)

    monkeypatch.setattr(projection, "_fit_network", interrupted)
    with pytest.raises(KeyboardInterrupt):
        projection.train_encoder(tmp_path / "corpus", tmp_path / "resumed")
    assert not (tmp_path / "resumed/encoder.json").exists()
    projection.train_encoder(tmp_path / "corpus", tmp_path / "resumed")
    assert len(fitted) == 3  # the second network again, and not the first
    for path in sorted((tmp_path / "whole").iterdir()):
        assert path.read_bytes() == (tmp_path / "resumed" / path.name).read_bytes()
    assert len(list((tmp_path / "resumed").iterdir())) == 2


def test_trained_written_and_read(corpus, small, tmp_path, monkeypatch):
    monkeypatch.setattr(projection, "read_corpus", lambda folder: corpus)
    projection.train_encoder(tmp_path / "corpus", tmp_path / "encoder")
    loaded = load_encoder(tmp_path / "encoder")
    vectors = loaded.encode([item.macro() for item in corpus[:3]])
    assert vectors.shape == (3, 512)


def test_what_ships_was_trained_with_these_settings():
    said = json.loads((files("nar_plugin") / "data/encoder.json").read_text())
    assert said["training"]["settings"] == json.loads(json.dumps(asdict(Settings())))


def _network(family, width, activation):
    """A graph of six convolutions, each with a norm and an activation, of a family's kernels."""
    kernels = np.random.default_rng(family).choice(["1x1", "3x3", "5x5", "7x7"], 6)
    ops = []
    for kernel in kernels:
        conv = (("in", width), ("kernel", str(kernel)), ("out", width))
        ops += [Op("conv", conv), Op("batch_norm", (("width", width),)), activation]
    edges = np.array([(place, place + 1) for place in range(len(ops) - 1)], np.int32)
    return ArchitectureGraph(tuple(ops), edges, ("",) * len(ops))


def test_variations_bring_a_family_to_its_members_of_another_activation():
    items = [
        SimpleNamespace(graph=graph, fingerprint=graph.fingerprint)
        for family in range(12)
        for graph in (_network(family, width, Op("relu")) for width in (16, 24, 32, 48))
    ]
    labels = np.arange(12).repeat(4)
    asked = [_network(family, 40, Op("mish")) for family in range(12)]  # in no variation
    found = []
    for part in (0.0, 1.0):
        settings = Settings(width=16, families=16, epochs=10, batch=32, variations=part)
        encoder = projection.fit_encoder(items, labels, settings)
        known = encoder.encode_graphs([item.graph for item in items])[:, :16]
        vectors = functional.normalize(encoder.encode_graphs(asked)[:, :16], dim=1)
        cosines = vectors @ functional.normalize(known, dim=1).T
        found.append(float(cosines.view(12, 12, 4).mean(dim=2).diagonal().mean()))
    assert found[1] > found[0] + 0.05, found
