"""Stacks of blocks as models declare them."""

import pytest
from torch import nn

from nar_plugin.bench.stacks import outline, stacks
from nar_plugin.references import resolve
from nar_plugin.tracing import trace


def declared(reference):
    model = resolve(reference).eval()
    return stacks(trace(model), outline(model))


@pytest.mark.parametrize(
    ("library", "reference", "depths"),
    [
        ("timm", "timm:resnet50", [3, 4, 6, 3]),  # He et al. 2016, table 1
        ("timm", "timm:swin_tiny_patch4_window7_224", [2, 2, 6, 2]),  # Liu et al. 2021
        ("timm", "timm:vit_tiny_patch16_224", [12]),
        ("torchvision", "torchvision:convnext_tiny", [3, 3, 9, 3]),
        ("transformers", "transformers:t5", [6, 6]),
        ("transformers", "transformers:albert", [12]),  # one module, called twelve times
        ("transformers", "transformers:resnet", [3, 4, 6, 3]),
    ],
)
def test_known_depths(library, reference, depths):
    pytest.importorskip(library)
    assert [len(stack.starts) for stack in declared(reference)] == depths


def test_a_configuration_states_depths():
    pytest.importorskip("transformers")
    form = outline(resolve("transformers:bert"))
    assert form.states(12)
    assert "BertLayer" in {form.classes[path] for path in form.classes}


def test_a_chain_of_layers_has_no_blocks():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU())
    assert stacks(trace(model), outline(model)) == []
