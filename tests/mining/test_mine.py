"""Motifs are the blocks that a person would name, found from operators and edges alone."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from models import ConvNet, NanoGPT, UNet

import nar_plugin
from nar_plugin.mining import mine
from nar_plugin.mining.step_labels import encode_neighbours
from nar_plugin.tracing import trace
from nar_plugin.tracing.graph import ArchitectureGraph, Op

IDS = torch.arange(16)[None]


def labels(*values):
    return np.array(values, dtype=np.int32)


def edges(*pairs):
    return np.array(pairs, dtype=np.int32).reshape(-1, 2)


def test_equation_2_by_hand():
    # 0 -> 1 -> 2 -> 3 with a shortcut 0 -> 2, all of one kind. After one step: 0 has no parent
    # and two children, 1 one of each, 2 two parents and one child, 3 one parent and no child.
    chain = edges((0, 1), (1, 2), (2, 3), (0, 2))
    first = encode_neighbours(labels(0, 0, 0, 0), chain, 1)
    assert len(set(first.tolist())) == 4
    assert encode_neighbours(labels(0, 0, 0, 0), chain, 0).tolist() == [0, 0, 0, 0]


def test_two_steps_see_twice_as_far():
    # A chain of 7 equal nodes: one step tells the two ends, two steps also their neighbours.
    chain = edges(*((i, i + 1) for i in range(6)))
    same = labels(*[0] * 7)
    assert [len(set(encode_neighbours(same, chain, s).tolist())) for s in (1, 2)] == [3, 5]


@pytest.mark.parametrize(("layers", "fused"), [(2, True), (6, True), (12, False)])
def test_a_gpt_has_one_block_for_each_layer(layers, fused):
    macro = mine(trace(NanoGPT(layers=layers, fused=fused), IDS))
    block = macro.table()[0]
    assert (block.label, block.count, block.ops) == ("GPTBlock", layers, 10)
    begins = [start for start, stop in macro.spans.tolist() if stop - start == 10]
    assert begins == [3 + 10 * number for number in range(layers)]


def test_a_post_norm_block_begins_where_its_input_is_read():
    macro = mine(trace(NanoGPT(layers=4, pre_norm=False), IDS))
    assert (macro.table()[0].label, macro.table()[0].count) == ("GPTBlock", 4)


@pytest.mark.parametrize(
    ("name", "label", "count"),
    [
        # resnet50: 16 bottlenecks, of which 4 have a projection (1 without, 3 with a stride)
        ("resnet50", "Bottleneck", 12),
        ("vit_tiny_patch16_224", "Block", 12),
        ("deit_small_distilled_patch16_224", "Block", 12),
    ],
)
def test_timms_blocks(name, label, count):
    timm = pytest.importorskip("timm")
    with torch.device("meta"):
        model = timm.create_model(name)
    row = mine(trace(model)).table()[0]
    assert (row.label, row.count) == (label, count)


def test_few_blocks_in_turn_begin_where_many_do():
    # every other block of a Swin rolls its windows: (2, 2, 6, 2) and (2, 2, 18, 2) blocks
    timm = pytest.importorskip("timm")
    with torch.device("meta"):
        models = [
            timm.create_model(f"swin_{name}_patch4_window7_224") for name in ("tiny", "small")
        ]
    tiny, small = (mine(trace(model)) for model in models)
    shared = {motif.key for motif in tiny.motifs} & {motif.key for motif in small.motifs}
    longest = max(len(motif.ops) for motif in tiny.motifs)
    assert longest in {len(motif.ops) for motif in tiny.motifs if motif.key in shared}


def test_every_operation_has_one_place():
    for model, inputs in ((UNet(), torch.empty(1, 3, 64, 64)), (NanoGPT(layers=3), IDS)):
        graph = trace(model, inputs)
        spans = mine(graph).spans.tolist()
        assert [begin for begin, _ in spans] == [0, *(end for _, end in spans[:-1])]
        assert spans[-1][1] == len(graph)


def test_macro_edges_are_the_edges_between_motifs():
    graph = trace(UNet(), torch.empty(1, 3, 64, 64))
    macro = mine(graph)
    owner = np.repeat(np.arange(len(macro)), [b - a for a, b in macro.spans.tolist()])
    expected = {
        (int(owner[a]), int(owner[b])) for a, b in graph.edges.tolist() if owner[a] != owner[b]
    }
    assert {tuple(edge) for edge in macro.edges.tolist()} == expected
    assert (macro.edges[:, 0] < macro.edges[:, 1]).all()


def test_module_names_only_label():
    graphs = [trace(NanoGPT(layers=4), IDS), trace(UNet(), torch.empty(1, 3, 64, 64))]
    timm = pytest.importorskip("timm")
    with torch.device("meta"):
        graphs += [
            trace(timm.create_model(name)) for name in ("resnet50", "swin_tiny_patch4_window7_224")
        ]
    for graph in graphs:
        renamed = replace(graph, paths=("x",) * len(graph), classes={})
        one, other = mine(graph), mine(renamed)
        assert [motif.key for motif in one.motifs] == [motif.key for motif in other.motifs]
        assert one.nodes.tolist() == other.nodes.tolist()
        assert one.spans.tolist() == other.spans.tolist()


def test_shapes_are_shared_across_widths_and_keys_are_not():
    narrow, wide = (
        mine(trace(NanoGPT(layers=2, width=width), IDS)).motifs[1] for width in (192, 384)
    )
    assert narrow.shape == wide.shape
    assert narrow.key != wide.key


def test_a_graph_of_one_operation_and_one_without_edges():
    lonely = ArchitectureGraph((Op("relu"),), edges(), ("",))
    assert len(mine(lonely)) == 1
    assert len(mine(trace(ConvNet(), torch.empty(1, 3, 8, 8)))) >= 1


def test_a_macro_graph_prints_its_blocks():
    pytest.importorskip("timm")
    lines = repr(nar_plugin.motifs("timm:resnet50")).splitlines()
    assert lines[0] == "MacroGraph(18 blocks of 5 shapes, 174 ops)"
    assert lines[1] == "  Bottleneck x12, 10 ops each"
    assert len(lines) == 6
