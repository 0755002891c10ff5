"""One order for one graph, whatever the order in which its operations were called."""

import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from models import NanoGPT, UNet
from torch import nn

from nar_plugin.mining import mine
from nar_plugin.mining.order import in_order, mining_order
from nar_plugin.references import resolve
from nar_plugin.tracing import trace
from nar_plugin.tracing.graph import ArchitectureGraph, Op

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))]


class Branches(nn.Module):
    """Blocks of three parallel branches and a shortcut, called in one of two orders."""

    def __init__(self, *, backwards: bool):
        super().__init__()
        self.backwards = backwards
        self.stem = nn.Conv2d(3, 16, 3)
        self.blocks = nn.ModuleList(
            nn.ModuleDict(
                {
                    "wide": nn.Sequential(nn.Conv2d(16, 16, 5, padding=2), nn.ReLU()),
                    "deep": nn.Sequential(
                        nn.Conv2d(16, 16, 3, padding=1), nn.GELU(), nn.Conv2d(16, 16, 1)
                    ),
                    "thin": nn.Conv2d(16, 16, 1),
                    "shortcut": nn.BatchNorm2d(16),
                }
            )
            for _ in range(4)
        )

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            if self.backwards:
                shortcut = block["shortcut"](x)
                thin, deep, wide = block["thin"](x), block["deep"](x), block["wide"](x)
            else:
                wide, deep, thin = block["wide"](x), block["deep"](x), block["thin"](x)
                shortcut = block["shortcut"](x)
            x = wide + deep + thin + shortcut
        return x


def shuffled(graph: ArchitectureGraph, seed: int) -> ArchitectureGraph:
    """The same graph as a forward that calls whatever is ready, at random, would record it."""
    draw = random.Random(seed)
    inputs = [[] for _ in graph.ops]
    readers = [[] for _ in graph.ops]
    for source, target in graph.edges.tolist():
        inputs[target].append(source)
        readers[source].append(target)
    waiting = [len(sources) for sources in inputs]
    ready = [index for index, count in enumerate(waiting) if not count]
    order = []
    while ready:
        index = ready.pop(draw.randrange(len(ready)))
        order.append(index)
        for reader in readers[index]:
            waiting[reader] -= 1
            if not waiting[reader]:
                ready.append(reader)
    place = {index: number for number, index in enumerate(order)}
    edges = [(place[source], place[index]) for index in order for source in inputs[index]]
    return replace(
        graph,
        ops=tuple(graph.ops[index] for index in order),
        edges=np.array(edges, dtype=np.int32).reshape(-1, 2),
        paths=tuple(graph.paths[index] for index in order),
    )


def cut(graph: ArchitectureGraph) -> tuple[list[str], list[int], list[list[int]]]:
    """All that tells two macro graphs apart."""
    macro = mine(graph)
    keys = [motif.key for motif in macro.motifs]
    return [keys[node] for node in macro.nodes.tolist()], macro.nodes.tolist(), macro.edges.tolist()


def test_branches_in_another_order_are_cut_alike():
    image = torch.empty(1, 3, 32, 32)
    one, other = (trace(Branches(backwards=backwards), image) for backwards in (False, True))
    assert [op.kind for op in one.ops] != [op.kind for op in other.ops]
    assert one.fingerprint == other.fingerprint
    assert cut(one) == cut(other)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "name", ["timm:legacy_seresnet50", "timm:swin_tiny_patch4_window7_224", "torchvision:googlenet"]
)
def test_any_order_of_calls_is_cut_alike(name, seed):
    pytest.importorskip(name.partition(":")[0])
    graph = trace(resolve(name))
    again = shuffled(graph, seed)
    assert again.fingerprint == graph.fingerprint
    assert cut(again) == cut(graph)


@pytest.mark.parametrize("seed", SEEDS)
def test_hand_written_models_in_any_order(seed):
    graphs = [
        trace(NanoGPT(layers=3), torch.arange(16)[None]),
        trace(UNet(), torch.empty(1, 3, 64, 64)),
    ]
    for graph in graphs:
        assert cut(shuffled(graph, seed)) == cut(graph)


def test_the_order_is_topological_and_stays():
    graph = shuffled(trace(UNet(), torch.empty(1, 3, 64, 64)), seed=0)
    assert sorted(mining_order(graph)) == list(range(len(graph)))
    ordered = in_order(graph)
    assert (ordered.edges[:, 0] < ordered.edges[:, 1]).all()
    assert ordered.fingerprint == graph.fingerprint
    assert mining_order(ordered) == list(range(len(graph)))


class Tower(nn.Module):
    """A picture's tower whose last but one states are read on, as LLaVA's."""

    def __init__(self):
        super().__init__()
        layers = [nn.TransformerEncoderLayer(16, 2, 32, batch_first=True) for _ in range(9)]
        self.picture, self.text = nn.ModuleList(layers[:4]), nn.ModuleList(layers[4:])

    def forward(self, x):
        for layer in self.picture:
            before, x = x, layer(x)
        for layer in self.text:
            before = layer(before)
        return before, x


def test_a_last_block_that_nothing_reads_stands_behind_the_one_before_it():
    graph = in_order(trace(Tower(), torch.rand(1, 5, 16)))
    layers = [path.rpartition(".self_attn")[0] for path in graph.paths if "self_attn" in path]
    assert list(dict.fromkeys(layers)) == [
        *(f"picture.{number}" for number in range(4)),
        *(f"text.{number}" for number in range(5)),
    ]


class Modulated(nn.Module):
    """Long blocks that each make a scale of one time, and read it at their beginning and end."""

    def __init__(self, depth):
        super().__init__()
        self.time = nn.Linear(4, 8)
        self.scales = nn.ModuleList(nn.Linear(8, 8) for _ in range(depth))
        long = [nn.Linear(8, 8) for _ in range(40)]
        self.blocks = nn.ModuleList(
            nn.ModuleList(nn.Sequential(layer, nn.ReLU()) for layer in long) for _ in range(depth)
        )

    def forward(self, x, time):
        time = self.time(time).sigmoid()
        for make, block in zip(self.scales, self.blocks, strict=True):
            scale = make(time)
            x = x * scale + scale
            for layer in block:
                x = layer(x)
            x = x * scale
        return x


def test_what_each_block_makes_for_itself_stays_in_it():
    graph = in_order(trace(Modulated(8), (torch.rand(1, 8), torch.rand(1, 4))))
    made = [place for place, path in enumerate(graph.paths) if path.startswith("scales")]
    # A scale, three sums and products, forty layers; the first block begins in its own way.
    assert np.diff(made[1:]).tolist() == [84] * 6
    assert graph.paths[0] == "time"  # what all blocks read comes before them


@pytest.mark.parametrize("depth", [3, 4, 6])
def test_a_shallow_decoder_is_cut_at_its_layers(depth):
    model = nn.Transformer(16, 2, depth, depth, 32, batch_first=True)
    graph = in_order(trace(model, (torch.rand(1, 5, 16), torch.rand(1, 4, 16))))
    decoder = [path.split(".")[2] for path in graph.paths if path.startswith("decoder.layers")]
    assert decoder == sorted(decoder, key=int)  # no layer's keys are made before it
    table = {row.label: row.count for row in mine(graph).table()}
    assert table["TransformerEncoderLayer"] == table["TransformerDecoderLayer"] == depth


@pytest.mark.parametrize("seed", range(20))
def test_every_operation_comes_behind_what_it_reads(seed):
    # Chains of one kind that branch off one another, so that each looks like a last block.
    draw = random.Random(seed)
    for _ in range(20):
        edges = [(number, number + 1) for number in range(39)]
        count = 40
        for _ in range(draw.randrange(2, 8)):
            length = draw.randrange(4, 9)
            edges += [(draw.randrange(count), count + draw.randrange(length)) for _ in range(2)]
            edges += [(draw.randrange(count), count)]
            edges += [(number, number + 1) for number in range(count, count + length - 1)]
            count += length
        edges = sorted(set(edges), key=lambda edge: (edge[1], edge[0]))
        array = np.array(edges, dtype=np.int32)
        ordered = in_order(ArchitectureGraph((Op("linear"),) * count, array, ("",) * count))
        assert (ordered.edges[:, 0] < ordered.edges[:, 1]).all()
        assert len(ordered) == count
