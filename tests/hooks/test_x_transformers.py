"""What x-transformers' plugin reads from x-transformers' models, and how it builds them."""

import sys

import pytest
from nar_plugin.hooks import x_transformers as plugin
from torch import nn

from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

x = pytest.importorskip("x_transformers")


@pytest.fixture(scope="module")
def listed() -> dict[str, NamedArchitecture]:
    return {item.name: item for item in plugin.nar_architectures()}


@pytest.mark.parametrize(
    ("name", "family", "task"),
    [
        ("decoder", "x_transformer", "text-generation"),
        ("encoder/macaron", "x_transformer", "fill-mask"),
        ("ViTransformerWrapper", "vit", "image-classification"),
        ("XTransformer/cross-residual-attention", "x_transformer", "text2text-generation"),
    ],
)
def test_family_and_task(
    listed: dict[str, NamedArchitecture], name: str, family: str, task: str
) -> None:
    found = listed[f"x_transformers:{name}"]
    assert (found.family, found.task, found.licence) == (family, task, "MIT")


@pytest.mark.parametrize(
    "name",
    [
        "decoder",
        "decoder/gpt3",
        "decoder/cross-attention",
        "encoder/sandwich",
        "CrossAttender",
        "MultiInputTransformerWrapper",
        "NeoMLP",
        "XTransformer",
    ],
)
def test_a_model_is_built_without_weights_and_traced(name: str) -> None:
    model = built(lambda: plugin.nar_build(f"x_transformers:{name}"))
    assert model is not None
    assert all(parameter.is_meta for parameter in model.parameters())
    assert trace(model).method == "meta"


def _decoder(**options: object) -> nn.Module:
    layers = x.Decoder(dim=64, depth=2, heads=4, **options)
    return x.TransformerWrapper(num_tokens=77, max_seq_len=32, attn_layers=layers)  # type: ignore[no-any-return]


def _continuous(dim: int) -> nn.Module:
    layers = x.Decoder(dim=64, depth=2, heads=4)
    return x.ContinuousTransformerWrapper(  # type: ignore[no-any-return]
        dim_in=dim, dim_out=dim, max_seq_len=50, attn_layers=layers
    )


def test_ids_are_below_the_number_of_tokens() -> None:
    guesses = plugin.nar_example_inputs(_decoder())
    assert guesses is not None
    (tokens,) = guesses[0].args
    assert tokens.shape == (1, 32)
    assert int(tokens.max()) < 77


def test_vectors_are_as_wide_as_what_reads_them() -> None:
    guesses = plugin.nar_example_inputs(_continuous(9))
    assert guesses is not None
    assert guesses[0].args[0].shape == (1, 50, 9)


def test_an_image_is_as_large_as_the_positions_allow() -> None:
    model = x.ViTransformerWrapper(
        image_size=64, patch_size=16, channels=1, attn_layers=x.Encoder(dim=64, depth=1, heads=4)
    )
    guesses = plugin.nar_example_inputs(model)
    assert guesses is not None
    assert guesses[0].args[0].shape == (1, 1, 64, 64)


@pytest.mark.parametrize(
    "make",
    [
        lambda: _decoder(cross_attend=True),
        lambda: x.AutoregressiveWrapper(_decoder()),
        lambda: x.ContinuousAutoregressiveWrapper(_continuous(9)),
        lambda: x.NonAutoregressiveWrapper(_decoder(), mask_id=76),
        lambda: x.DPO(_decoder()),
        lambda: x.Attention(dim=48),
        lambda: x.FeedForward(dim=40),
    ],
)
def test_wrappers_and_parts_are_traced(make: object) -> None:
    assert trace(make()).method == "meta"  # type: ignore[operator]


def test_other_models_are_left_to_other_plugins() -> None:
    plain = nn.Conv2d(3, 8, 3)
    assert plugin.nar_provenance(plain) is None
    assert plugin.nar_example_inputs(plain) is None
    assert plugin.nar_build("timm:resnet18") is None


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(PluginError, match="x_transformers:decoder/rotary"):
        plugin.nar_build("x_transformers:decoder/rotory")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "x_transformers", None)
    assert list(plugin.nar_architectures()) == []
    with pytest.raises(PluginError, match="pip install x_transformers"):
        plugin.nar_build("x_transformers:decoder")
