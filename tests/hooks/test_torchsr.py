"""What torchsr's plugin lists and builds."""

import pytest
from nar_plugin.hooks import torchsr as plugin

pytest.importorskip("torchsr")


def test_lists_the_scales_that_a_network_has():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 59
    assert "torchsr:carn_x4" in listed
    assert "torchsr:carn_x8" not in listed
    assert listed["torchsr:edsr_x2"].family == "edsr"
