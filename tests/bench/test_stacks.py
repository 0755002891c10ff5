"""Stacks of blocks as models declare them."""

import pytest
import torch
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


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.wide, self.thin = nn.LayerNorm(8), nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x):
        return x + self.thin(self.wide(self.norm(x)).relu())


class Twice(nn.Module):
    """Its layers see a series and the same one flipped, as TimesFM's do."""

    def __init__(self, *, between):
        super().__init__()
        self.layers = nn.ModuleList(Block() for _ in range(3))
        self.between = nn.Linear(8, 8) if between else nn.Identity()

    def forward(self, x):
        for turn in range(2):
            x = self.between(x) if turn else x
            for layer in self.layers:
                x = layer(x)
        return x


@pytest.mark.parametrize(("between", "depths"), [(True, [3, 3]), (False, [6])])
def test_a_stack_that_is_passed_through_again_after_something_else_is_another(between, depths):
    model = Twice(between=between)
    found = stacks(trace(model, torch.rand(1, 8)), outline(model))
    assert [len(stack.starts) for stack in found] == depths
