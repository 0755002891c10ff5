"""What x-transformers' plugin reads from x-transformers' models, and how it builds them."""

import pytest
from nar_plugin.hooks import x_transformers as plugin

from nar_plugin.tracing import trace


@pytest.fixture(autouse=True)
def x(installed):
    return installed("x_transformers")


def _decoder(x, **options):
    layers = x.Decoder(dim=64, depth=2, heads=4, **options)
    return x.TransformerWrapper(num_tokens=77, max_seq_len=32, attn_layers=layers)


def _continuous(x, dim):
    layers = x.Decoder(dim=64, depth=2, heads=4)
    return x.ContinuousTransformerWrapper(
        dim_in=dim, dim_out=dim, max_seq_len=50, attn_layers=layers
    )


def test_ids_are_below_the_number_of_tokens(x):
    (tokens,) = plugin.nar_example_inputs(_decoder(x))[0].args
    assert tokens.shape == (1, 32)
    assert int(tokens.max()) < 77


def test_vectors_are_as_wide_as_what_reads_them(x):
    assert plugin.nar_example_inputs(_continuous(x, 9))[0].args[0].shape == (1, 50, 9)


def test_an_image_is_as_large_as_the_positions_allow(x):
    model = x.ViTransformerWrapper(
        image_size=64, patch_size=16, channels=1, attn_layers=x.Encoder(dim=64, depth=1, heads=4)
    )
    assert plugin.nar_example_inputs(model)[0].args[0].shape == (1, 1, 64, 64)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: _decoder(x, cross_attend=True),
        lambda x: x.AutoregressiveWrapper(_decoder(x)),
        lambda x: x.ContinuousAutoregressiveWrapper(_continuous(x, 9)),
        lambda x: x.NonAutoregressiveWrapper(_decoder(x), mask_id=76),
        lambda x: x.DPO(_decoder(x)),
        lambda x: x.Attention(dim=48),
        lambda x: x.FeedForward(dim=40),
    ],
)
def test_wrappers_and_parts_are_traced(make, x):
    assert trace(make(x)).method == "meta"
