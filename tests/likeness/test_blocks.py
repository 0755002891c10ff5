from dataclasses import replace

import numpy as np
import pytest
from models import NanoGPT
from torch import nn

from nar_plugin.likeness.blocks import blocks_of


def test_every_operation_is_in_one_block(design):
    macro = design(NanoGPT(layers=3))
    places = np.concatenate([block.places for block in blocks_of(macro)])
    assert sorted(places.tolist()) == list(range(len(macro.graph)))


def test_layers_of_a_stack_are_blocks(design):
    blocks = blocks_of(design(NanoGPT(layers=3)))
    assert [block.path for block in blocks if block.stacked] == ["h.0", "h.1", "h.2"]
    assert {block.label for block in blocks if block.stacked} == {"GPTBlock"}


def test_the_grain_does_not_depend_on_how_motifs_were_cut(design):
    pytest.importorskip("timm")  # in ResNet-18 a motif holds two blocks, in ResNet-34 one
    for name, count in (("timm:resnet18", 8), ("timm:resnet34", 16)):
        blocks = [block for block in blocks_of(design(name)) if block.stacked]
        assert len(blocks) == count
        assert {block.label for block in blocks} == {"BasicBlock"}


class Shared(nn.Module):
    """One layer called four times, as in ALBERT."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 16)
        self.layers = nn.ModuleList([nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)])

    def forward(self, x):
        x = self.first(x)
        for _ in range(4):
            x = self.layers[0](x)
        return x


def test_a_design_without_stacks_is_cut_where_its_motifs_are(design):
    macro = design(Shared())
    blocks = blocks_of(macro)
    assert sum(len(block.places) for block in blocks) == len(macro.graph)


def test_without_names_the_motifs_are_the_layers(design):
    macro = design(NanoGPT(layers=3))
    nameless = replace(macro.graph, paths=("",) * len(macro.graph), classes={})
    blocks = blocks_of(replace(macro, graph=nameless))
    assert [len(block.places) for block in blocks if block.stacked] == [10, 10, 10]
    assert len({block.stack for block in blocks if block.stacked}) == 1


class Stages(nn.Module):
    """Layers that are containers: of operations, and of modules of one class."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)
        self.plain = nn.ModuleList(nn.Sequential(*self.operations()) for _ in range(3))
        self.held = nn.ModuleList(nn.Sequential(Twice(), Twice()) for _ in range(3))

    @staticmethod
    def operations():
        conv, norm = nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8)
        return [conv, norm, nn.ReLU(), nn.Conv2d(8, 8, 1), nn.Sigmoid()]

    def forward(self, x):
        x = self.stem(x)
        for layer in (*self.plain, *self.held):
            x = layer(x)
        return x


class Twice(nn.Sequential):
    def __init__(self):
        super().__init__(*(each for _ in range(3) for each in (nn.Conv2d(8, 8, 1), nn.GELU())))


def test_a_container_lends_a_block_no_name(design):
    blocks = blocks_of(design(Stages()))
    labels = {block.path: (block.label, block.named) for block in blocks if block.stacked}
    assert labels["plain.1"] == ("conv, batch_norm, relu, conv, ...", False)
    assert labels["held.1.1"] == ("Twice", True)
