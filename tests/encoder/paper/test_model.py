"""The paper's encoder as it answers: one vector a design, on disk and back, hostile files."""

import json

import numpy as np
import pytest
import torch
from models import ConvNet

from nar_plugin.encoder import PaperEncoder, clear_encoders, load_encoder, save_encoder
from nar_plugin.encoder.paper.reading import Reading
from nar_plugin.errors import IndexIncompatible
from nar_plugin.tracing import trace
from nar_plugin.tracing.graph import ArchitectureGraph

SPLITTINGS = ("motifs", "sequence", "nodes", "count", "random")
WORDS = ["conv", "batch_norm", "relu", "add", "mean", "linear"]


@pytest.fixture(scope="module")
def graph():
    return trace(ConvNet(residual=True), torch.empty(1, 3, 16, 16))


def made(splitting="sequence", **fields):
    torch.manual_seed(0)
    return PaperEncoder(WORDS, Reading(width=8, splitting=splitting, piece=3, **fields)).eval()


def reordered(graph):
    """The same graph with its operations in another topological order: late ones first."""
    inputs = graph.sources()
    order = []
    while len(order) < len(graph):
        ready = [n for n in range(len(graph)) if n not in order and set(inputs[n]) <= set(order)]
        order.append(ready[-1])
    place = {old: new for new, old in enumerate(order)}
    edges = [(place[source], place[old]) for old in order for source in inputs[old]]
    ops = tuple(graph.ops[old] for old in order)
    return ArchitectureGraph(ops, np.array(edges, dtype=np.int32), ("",) * len(ops))


@pytest.mark.parametrize("splitting", SPLITTINGS)
def test_a_design_has_one_vector_whatever_the_order_of_its_calls(graph, splitting):
    residual = ArchitectureGraph(  # a branch of two before a sum: two orders
        graph.ops[:5],
        np.array([[0, 1], [0, 2], [2, 3], [1, 4], [3, 4]], dtype=np.int32),
        ("",) * 5,
    )
    encoder = made(splitting)
    for one in (graph, residual):
        vectors = encoder.encode_graphs([one, reordered(one)])
        torch.testing.assert_close(vectors.norm(dim=1), torch.ones(2))
        torch.testing.assert_close(vectors[0], vectors[1])


@pytest.mark.parametrize("splitting", SPLITTINGS)
def test_on_disk_and_back(graph, splitting, tmp_path):
    encoder = made(splitting, both_ways=False)
    save_encoder(encoder, tmp_path, recipe="paper")
    loaded = load_encoder(tmp_path)
    assert (loaded.config, loaded.dimensions) == (encoder.config, 8)
    found, expected = loaded.encode_graphs([graph]), encoder.encode_graphs([graph])
    torch.testing.assert_close(found, expected, atol=2e-3, rtol=0)  # halves on disk
    clear_encoders()


def test_no_graphs_and_unknown_operations(graph):
    assert made().encode_graphs([]).shape == (0, 8)
    strange = PaperEncoder(["nothing"], Reading(width=8)).encode_graphs([graph])
    assert torch.isfinite(strange).all()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("width", 10**13),
        ("layers", 10**9),
        ("layers", 0),
        ("piece", 0),
        ("steps", 10**6),
        ("splitting", "elsewhere"),
        ("operations", 3),
        ("sizes", [5]),
        ("sizes", [9, 2]),
        ("strange", 1),
        ("width", 16),
    ],
)
def test_a_config_that_is_not_of_the_weights(tmp_path, field, value):
    """It cannot have memory or time taken, neither now nor by a question."""
    save_encoder(made(), tmp_path)
    config = json.loads((tmp_path / "encoder.json").read_text())
    config["encoder"]["reading"][field] = value
    (tmp_path / "encoder.json").write_text(json.dumps(config))
    with pytest.raises(IndexIncompatible, match=r"is not the encoder that encoder\.json describes"):
        load_encoder(tmp_path)


@pytest.mark.parametrize(
    ("field", "value", "match"),
    [
        ("kind", "newer", "of the kind 'newer'"),
        ("motifs_version", "1", "motifs of version 1"),
    ],
)
def test_an_encoder_of_another_version(tmp_path, field, value, match):
    save_encoder(made(), tmp_path)
    config = json.loads((tmp_path / "encoder.json").read_text())
    (tmp_path / "encoder.json").write_text(json.dumps(config | {field: value}))
    with pytest.raises(IndexIncompatible, match=match):
        load_encoder(tmp_path)
