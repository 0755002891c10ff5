"""What torchreid's plugin builds."""

import pytest
from nar_plugin.hooks import torchreid as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("torchreid")


def test_lists_what_the_library_publishes():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 45
    found = listed["torchreid:osnet_x1_0"]
    assert (found.family, found.task) == ("osnet", "image-feature-extraction")


@pytest.mark.parametrize(
    (
        "name",
        "millions",
    ),  # table 2 of https://arxiv.org/abs/1905.00953, which counts no classifier of 512 x 751
    [("osnet_x1_0", 2.585), ("osnet_x0_25", 0.585)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"torchreid:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, abs=0.05)
