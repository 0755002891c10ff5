"""The recipe `default`: what it learns, that it repeats itself, and that it goes on."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("tqdm")

from nar_plugin.encoder import load_encoder
from nar_plugin.mining import mine
from nar_plugin.tracing.fingerprint import design, topology
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.corpus.splits import family_numbers
from nar_plugin.train.fit import recipe
from nar_plugin.train.fit.recipe import Settings, fit_encoder
from nar_plugin.train.fit.written_operations import GELU, batch_norm, layer_norm, linear, rms_norm

SMALL = Settings(width=32, hidden=32, seldom=2, epochs=12, batch=16)
FAMILIES = {
    "first": (layer_norm, GELU, 4),
    "second": (batch_norm, Op("relu"), 2),
    "third": (rms_norm, Op("silu"), 3),
    "fourth": (layer_norm, Op("tanh"), 1),
}


def perceptrons(width, blocks, norm, activation, wider):
    """Residual perceptrons behind an embedding, and a head."""
    ops, edges = [Op("embedding", (("vocabulary", 100), ("width", width)))], []
    for _ in range(blocks):
        start, inner = len(ops) - 1, wider * width
        edges += [(start + step, start + step + 1) for step in range(5)] + [(start, start + 5)]
        ops += [norm(width), linear(width, inner), activation, linear(inner, width), Op("add")]
    edges.append((len(ops) - 1, len(ops)))
    ops.append(linear(width, 10))
    return ArchitectureGraph(tuple(ops), np.array(edges, np.int32), ("",) * len(ops))


def item(graph, family, number):
    macro = mine(graph)
    name = {"name": f"lib:{family}{number}", "family": family, "composed": False, "params": 1}
    return CorpusGraph(
        *(macro.graph, graph.fingerprint, design(graph), topology(graph)),
        *(macro.spans[:, 0].astype(np.int32), macro.table(), (name | {"library": "lib"},)),
    )


@pytest.fixture(scope="module")
def items():
    """Four families of eight designs, of other widths and depths."""
    return [
        item(perceptrons(8 * (3 + number), 2 + number % 4, *blocks), family, number)
        for family, blocks in FAMILIES.items()
        for number in range(8)
    ]


def vectors_of(encoder, items):
    return encoder.encode_graphs([item.graph for item in items]).numpy()


@pytest.fixture(scope="module")
def vectors(items):
    return vectors_of(fit_encoder(items, family_numbers(items), SMALL, device="cpu"), items)


def test_one_seed_gives_the_same_vectors(items, vectors):
    again = fit_encoder(items, family_numbers(items), SMALL, device="cpu")
    np.testing.assert_allclose(vectors_of(again, items), vectors, atol=1e-4)


def test_first_weights_can_be_changed(items):
    def begin(encoder, graphs):
        assert len(graphs) == len(items)
        encoder.vectors.weight.data.fill_(0.5)

    fitted = fit_encoder(
        items, family_numbers(items), replace(SMALL, epochs=0), device="cpu", begin=begin
    )
    assert (fitted.vectors.weight == 0.5).all()


def test_members_of_a_family_are_nearer_than_strangers(items, vectors):
    labels = family_numbers(items)
    same = labels[:, None] == labels
    cosines = vectors @ vectors.T
    assert cosines[same].min() > cosines[~same].max()


def test_a_design_that_was_never_seen_is_near_its_family(items):
    unseen = [number for number in range(32) if number % 8 == 7]
    seen = [number for number in range(32) if number % 8 != 7]
    known = [items[number] for number in seen]
    labels = family_numbers(items)
    encoder = fit_encoder(known, labels[seen], SMALL, device="cpu")
    cosines = vectors_of(encoder, [items[i] for i in unseen]) @ vectors_of(encoder, known).T
    nearest = np.array(seen)[cosines.argmax(axis=1)]
    assert labels[nearest].tolist() == labels[unseen].tolist()


def test_what_was_interrupted_goes_on_to_the_same_encoder(items, vectors, tmp_path, monkeypatch):
    monkeypatch.setattr(recipe, "read_corpus", lambda folder: items)
    monkeypatch.setattr(recipe, "Settings", lambda: SMALL)
    run, epochs = recipe._Fit._epoch, []

    def interrupted(self):
        epochs.append(None)
        if len(epochs) == 6:
            raise KeyboardInterrupt
        run(self)

    monkeypatch.setattr(recipe._Fit, "_epoch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        recipe.train_encoder(tmp_path / "corpus", tmp_path, device="cpu")
    assert [path.name for path in tmp_path.iterdir()] == ["unfinished.pt"]
    recipe.train_encoder(tmp_path / "corpus", tmp_path, device="cpu")
    assert len(epochs) == 6 + 7  # five were kept
    found = vectors_of(load_encoder(tmp_path), items)
    np.testing.assert_allclose(found, vectors, atol=2e-3)  # halves on disk
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["encoder.json", "encoder.safetensors"]


def test_what_is_kept_of_another_training_is_not_gone_on_with(items, tmp_path):
    short = Settings(**{**vars(SMALL), "epochs": 1})
    labels, kept = family_numbers(items), tmp_path / "unfinished.pt"
    fit_encoder(items, labels, Settings(**{**vars(short), "seed": 5}), device="cpu", kept=kept)
    alone = fit_encoder(items, labels, short, device="cpu")
    beside = fit_encoder(items, labels, short, device="cpu", kept=kept)
    np.testing.assert_allclose(vectors_of(beside, items), vectors_of(alone, items), atol=1e-4)
