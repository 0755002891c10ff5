"""What Whisper's plugin builds."""

import pytest
from nar_plugin.hooks import whisper as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("whisper")


def test_every_published_name_is_listed():
    assert len(list(plugin.nar_architectures())) >= 14


@pytest.mark.parametrize(
    ("name", "millions"),  # table 1 of https://arxiv.org/abs/2212.04356; turbo: its model card
    [("tiny.en", 39), ("small", 244), ("large-v3", 1550), ("turbo", 809)],
)
def test_published_parameter_counts(name: str, millions: int):
    model = resolve(f"whisper:{name}")
    assert sum(item.numel() for item in model.parameters()) == pytest.approx(
        millions * 1e6, rel=0.05
    )


def test_traces_on_meta():
    assert trace(resolve("whisper:tiny")).method == "meta"
