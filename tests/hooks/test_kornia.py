"""What kornia's plugin lists and builds."""

import pytest
from nar_plugin.hooks import kornia as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("kornia")


def test_lists_what_the_library_publishes():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 80
    found = listed["kornia:siglip2-base-patch16-256"]
    assert (found.family, found.hub_id) == ("siglip2", "google/siglip2-base-patch16-256")


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("vit_b/16", 85_798_656),  # timm's vit_base_patch16_224 without its head
        ("sam/vit_b", 93_735_472),  # segment_anything's own
        ("HardNet", 1_334_560),  # seven convolutions: 9x32x(1+32+64) + 9x64x(64+128) + ...
    ],
)
def test_parameter_counts(name: str, parameters: int):
    graph = trace(resolve(f"kornia:{name}"))
    assert graph.method == "meta"
    assert graph.params == parameters
