"""What espnet2's plugin lists and builds."""

import pytest
from nar_plugin.hooks import espnet2 as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("espnet2")


def test_lists_the_networks_and_not_the_losses():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 70
    assert listed["espnet2:enh/separator/dccrn"].task == "audio-to-audio"
    assert not any("loss" in name for name in listed)


def test_the_five_layers_of_an_x_vector():
    graph = trace(resolve("espnet2:lid/encoder/xvector"))
    assert graph.method == "meta"
    widths = [(80, 512, 5), (512, 512, 3), (512, 512, 3), (512, 512, 1), (512, 1500, 1)]
    convolutions = sum(kernel * ins * outs + outs for ins, outs, kernel in widths)
    norms = sum(2 * outs for _, outs, _ in widths)
    assert graph.params == convolutions + norms
