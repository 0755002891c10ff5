"""The encoder: unit vectors that do not depend on the company they are computed in."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from models import ConvNet, NanoGPT, UNet
from torch.nn import functional

import nar_plugin
from nar_plugin.encoder import ArchitectureEncoder, load_encoder, save_encoder
from nar_plugin.encoder.model import fill
from nar_plugin.encoder.sketch import frequencies
from nar_plugin.errors import IndexUnavailable
from nar_plugin.mining import mine
from nar_plugin.tracing import trace


@pytest.fixture(scope="module")
def graphs():
    return [
        mine(trace(ConvNet(), torch.empty(1, 3, 16, 16))),
        mine(trace(NanoGPT(layers=3), torch.arange(8)[None])),
        mine(trace(UNet(), torch.empty(1, 3, 32, 32))),
    ]


@pytest.fixture
def encoder(graphs):
    torch.manual_seed(0)
    known = frequencies([macro.graph for macro in 3 * graphs])
    encoder = ArchitectureEncoder(len(known.labels))
    encoder.know(known, shares=(0.1, 0.2, 0.3, 0.4))
    return encoder


def test_unit_vectors_of_512_dimensions(encoder, graphs):
    vectors = encoder.encode(graphs)
    assert vectors.shape == (3, 512)
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(3))


def test_every_part_has_its_share_of_the_cosine(encoder, graphs):
    parts = encoder.encode(graphs).split([160, 96, 208, 48], dim=1)
    squares = torch.stack([(part**2).sum(dim=1) for part in parts], dim=1)
    torch.testing.assert_close(squares, torch.tensor([[0.1, 0.2, 0.3, 0.4]]).expand(3, 4))


def test_a_batch_changes_nothing(encoder, graphs):
    together = encoder.encode(graphs)
    apart = torch.cat([encoder.encode([graph]) for graph in graphs])
    torch.testing.assert_close(together, apart, atol=1e-5, rtol=0)


def test_a_filled_layer_takes_the_mean_off():
    layer, rows, mean = torch.nn.Linear(6, 4), torch.randn(5, 6), torch.randn(6)
    projection = torch.randn(6, 4) * 1e6  # beyond what halves hold
    fill(layer, projection, mean)
    expected = functional.normalize((rows - mean) @ projection, dim=1)
    torch.testing.assert_close(functional.normalize(layer(rows), dim=1), expected)
    assert layer.weight.abs().max() == 1


def test_no_graph_no_vector(encoder):
    assert encoder.encode([]).shape == (0, 512)


def test_saved_and_loaded(encoder, graphs, tmp_path):
    save_encoder(encoder, tmp_path, recipe="test")
    loaded = load_encoder(tmp_path)
    torch.testing.assert_close(
        loaded.encode(graphs), encoder.encode(graphs), atol=2e-3, rtol=0
    )  # half precision on disk
    assert np.array_equal(loaded.labels, encoder.labels)
    assert load_encoder(tmp_path) is loaded


def test_one_for_all_threads_of_a_device_until_the_cache_is_cleared(encoder, tmp_path):
    save_encoder(encoder, tmp_path)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(load_encoder, 8 * [tmp_path]))
    assert len(set(map(id, found))) == 1
    elsewhere = load_encoder(tmp_path, "meta")  # a second device that every machine has
    assert elsewhere.shares.device.type == "meta" and found[0].shares.device.type == "cpu"
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
