"""The encoder: what it reads by hand, unit vectors, and that company changes none of them."""

import gc
import math
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from models import ConvNet, NanoGPT, UNet

import nar_plugin
from nar_plugin.encoder import ArchitectureEncoder, load_encoder, save_encoder
from nar_plugin.encoder.labels import Counts, counts_of
from nar_plugin.encoder.model import weighed
from nar_plugin.errors import IndexUnavailable
from nar_plugin.mining import mine
from nar_plugin.tracing import trace
from nar_plugin.tracing.graph import ArchitectureGraph, Op


@pytest.fixture(scope="module")
def graphs():
    return [
        mine(trace(ConvNet(), torch.empty(1, 3, 16, 16))),
        mine(trace(NanoGPT(layers=3), torch.arange(8)[None])),
        mine(trace(UNet(), torch.empty(1, 3, 32, 32))),
    ]


@pytest.fixture
def encoder(graphs):
    """Knows every second label of the graphs."""
    torch.manual_seed(0)
    labels = np.unique(counts_of([macro.graph for macro in graphs]).labels)[::2]
    encoder = ArchitectureEncoder(len(labels), width=16, hidden=32)
    encoder.know(labels, np.linspace(0.5, 2, len(labels), dtype=np.float32))
    return encoder.eval()


def counts(*rows):
    """Rows of graph, view, label, count."""
    columns = zip(*rows, strict=True)
    kinds = (np.int64, np.uint8, np.uint64, np.int64)
    return Counts(*(np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)))


KNOWN, RARITY = np.array([10, 20], np.uint64), np.array([1, 2], np.float32)


def test_weights_by_hand():
    found = counts((0, 0, 10, 1), (0, 0, 20, 3), (0, 1, 20, 5), (2, 0, 10, 7))
    places, starts, weights = weighed(found, 3, KNOWN, RARITY)
    assert places.tolist() == [0, 1, 1, 0]
    assert starts.tolist() == [0, 3, 3]  # the second graph has no label
    # ln 2 times 1, and ln 4 = 2 ln 2 times 2; a label that is alone in its view weighs 1.
    assert weights == pytest.approx([1 / math.sqrt(17), 4 / math.sqrt(17), 1, 1])


def test_unknown_labels_are_left_out_and_count_in_the_length():
    found = counts((0, 0, 5, 1), (0, 0, 10, 1), (0, 0, 99, 1), (1, 0, 99, 4))
    places, starts, weights = weighed(found, 2, KNOWN, RARITY)
    assert places.tolist() == [0]
    assert starts.tolist() == [0, 1]
    assert weights == pytest.approx([1 / 3])  # the unknown ones are as rare as the rarest: 2, 1, 2


def test_an_encoder_that_knows_nothing_reads_nothing():
    none = np.zeros(0, np.uint64), np.zeros(0, np.float32)
    places, starts, weights = weighed(counts((0, 0, 5, 1)), 1, *none)
    assert (places.tolist(), starts.tolist(), weights.tolist()) == ([], [0], [])


def test_unit_vectors_of_512_dimensions(encoder, graphs):
    vectors = encoder.encode(graphs)
    assert vectors.shape == (3, 512)
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(3))


def test_counted_labels_give_the_same_vectors(encoder, graphs):
    read = [macro.graph for macro in graphs]
    vectors = encoder.encode_counts(counts_of(read), len(read))
    torch.testing.assert_close(vectors, encoder.encode(graphs))
    torch.testing.assert_close(vectors, encoder.encode_graphs(read))


def test_a_batch_changes_nothing(encoder, graphs):
    together = encoder.encode(graphs)
    apart = torch.cat([encoder.encode([graph]) for graph in graphs])
    torch.testing.assert_close(together, apart, atol=1e-5, rtol=0)


def test_a_graph_of_unknown_labels_has_a_vector_all_the_same(encoder):
    strange = ArchitectureGraph((Op("strange"),), np.zeros((0, 2), np.int32), ("",))
    vectors = encoder.encode_graphs([strange])
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(1))


def test_no_graph_no_vector(encoder):
    assert encoder.encode([]).shape == (0, 512)


def test_saved_and_loaded(encoder, graphs, tmp_path):
    save_encoder(encoder, tmp_path, recipe="test")
    loaded = load_encoder(tmp_path)
    torch.testing.assert_close(
        loaded.encode(graphs), encoder.encode(graphs), atol=2e-3, rtol=0
    )  # half precision on disk
    assert torch.equal(loaded.labels, encoder.labels)
    assert torch.equal(loaded.rarity, encoder.rarity)
    assert load_encoder(tmp_path) is loaded


def test_one_for_all_threads_of_a_device_until_the_cache_is_cleared(encoder, tmp_path):
    save_encoder(encoder, tmp_path)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(load_encoder, 8 * [tmp_path]))
    assert len(set(map(id, found))) == 1
    elsewhere = load_encoder(tmp_path, "meta")  # a second device that every machine has
    assert elsewhere.rarity.device.type == "meta" and found[0].rarity.device.type == "cpu"
    kept = [weakref.ref(found.pop()), weakref.ref(elsewhere)]
    found.clear()
    del elsewhere
    nar_plugin.clear_cache()
    gc.collect()
    assert [one() for one in kept] == [None, None]


def test_a_damaged_checkpoint_is_refused(encoder, tmp_path):
    save_encoder(encoder, tmp_path, recipe="test")
    weights = tmp_path / "encoder.safetensors"
    content = bytearray(weights.read_bytes())
    content[len(content) // 2] ^= 1
    weights.write_bytes(content)
    with pytest.raises(IndexUnavailable, match="sha256"):
        load_encoder(tmp_path)
