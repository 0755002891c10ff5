"""The two-level encoder: unit vectors that do not depend on the company they are computed in."""

import pytest
import torch
from models import ConvNet, NanoGPT, UNet

from nar_plugin.encoder import ArchitectureEncoder, load_encoder, save_encoder
from nar_plugin.encoder.features import FEATURES, attribute_vector
from nar_plugin.errors import IndexUnavailable
from nar_plugin.mining import mine
from nar_plugin.tracing import trace
from nar_plugin.tracing.graph import Op

KINDS = ("conv", "linear", "attention", "relu", "add")


@pytest.fixture(scope="module")
def graphs():
    return [
        mine(trace(ConvNet(), torch.empty(1, 3, 16, 16))),
        mine(trace(NanoGPT(layers=3), torch.arange(8)[None])),
        mine(trace(UNet(), torch.empty(1, 3, 32, 32))),
    ]


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    return ArchitectureEncoder(KINDS)


def test_unit_vectors_of_512_dimensions(encoder, graphs):
    vectors = encoder.encode(graphs)
    assert vectors.shape == (3, 512)
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(3))


def test_a_batch_changes_nothing(encoder, graphs):
    together = encoder.encode(graphs)
    apart = torch.cat([encoder.encode([graph]) for graph in graphs])
    torch.testing.assert_close(together, apart, atol=1e-5, rtol=0)


def test_kinds_that_training_never_saw_are_one_unknown_kind(encoder):
    def one(kind):
        import numpy as np

        from nar_plugin.tracing.graph import ArchitectureGraph

        return mine(ArchitectureGraph((Op(kind),), np.zeros((0, 2), np.int32), ("",)))

    new, other, known = encoder.encode([one("new"), one("other"), one("relu")])
    torch.testing.assert_close(new, other)
    assert not torch.allclose(new, known)


def test_saved_and_loaded(encoder, graphs, tmp_path):
    save_encoder(encoder, tmp_path, recipe="test")
    loaded = load_encoder(tmp_path)
    torch.testing.assert_close(
        loaded.encode(graphs), encoder.encode(graphs), atol=2e-3, rtol=0
    )  # half precision on disk
    assert load_encoder(tmp_path) is loaded


def test_a_damaged_checkpoint_is_refused(encoder, tmp_path):
    save_encoder(encoder, tmp_path, recipe="test")
    weights = tmp_path / "encoder.safetensors"
    content = bytearray(weights.read_bytes())
    content[len(content) // 2] ^= 1
    weights.write_bytes(content)
    with pytest.raises(IndexUnavailable, match="sha256"):
        load_encoder(tmp_path)


def test_attributes_as_numbers_by_hand():
    conv = Op(
        "conv",
        (
            ("bias", True),
            ("dilation", "1x1"),
            ("groups", 255),
            ("in", 255),
            ("kernel", "3x3"),
            ("out", 255),
            ("stride", "1x1"),
            ("transposed", False),
        ),
    )
    row = dict(zip(FEATURES, attribute_vector(conv), strict=True))
    assert row["in"] == row["out"] == row["groups"] == 1.0  # log2(256) / 8
    assert row["kernel"] == 0.5  # log2(1 + 3) / 4
    assert (row["stride"], row["depthwise"], row["expansion"], row["bias"]) == (0.5, 1, 0, 1)
