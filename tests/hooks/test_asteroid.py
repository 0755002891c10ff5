"""What Asteroid's plugin builds."""

from importlib.util import find_spec

import pytest
from nar_plugin.hooks import asteroid as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

# Importing it here would import torchaudio, which may refuse; the plugin sees to that.
pytestmark = pytest.mark.skipif(find_spec("asteroid") is None, reason="asteroid is not installed")


def test_the_sizes_of_a_class_are_names():
    listed = {item.name for item in plugin.nar_architectures()}
    assert len(listed) >= 15
    assert "asteroid:DCUNet/Large-DCUNet-20" in listed


@pytest.mark.parametrize(
    ("name", "millions"),
    [
        ("ConvTasNet", 5.1),  # table III of https://arxiv.org/abs/1809.07454
    ],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"asteroid:{name}"))
    assert graph.method == "meta"
    assert graph.params == pytest.approx(millions * 1e6, rel=0.05)
