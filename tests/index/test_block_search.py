"""Blocks of a small index, stored, read and asked."""

import numpy as np
import pyarrow as pa
import pytest
import torch
from torch import nn

import nar_plugin
from nar_plugin.encoder import encoder_id, encoder_sha256, load_encoder
from nar_plugin.errors import IndexIncompatible, IndexUnavailable
from nar_plugin.index import ArchitectureIndex, ArchitectureRow
from nar_plugin.index.block_search import most_alike_blocks
from nar_plugin.index.store.blocks import StoredBlock, StoredPlace, to_table
from nar_plugin.index.store.folder import EMBEDDED
from nar_plugin.likeness import LabelTable
from nar_plugin.likeness.parts import cut, parts_of, shape
from nar_plugin.tracing.fingerprint import FINGERPRINT_VERSION


class Gate(nn.Module):
    """Squeeze and excitation."""

    def __init__(self, width):
        super().__init__()
        self.down, self.up = nn.Conv2d(width, width // 4, 1), nn.Conv2d(width // 4, width, 1)

    def forward(self, x):
        gate = self.up(torch.relu(self.down(x.mean((2, 3), keepdim=True))))
        return x * torch.sigmoid(gate)


class Block(nn.Module):
    def __init__(self, width, gated, act=nn.ReLU):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width)
        self.conv2, self.norm2 = nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width)
        self.gate = Gate(width) if gated else nn.Identity()
        self.act = act()

    def forward(self, x):
        inside = self.act(self.norm1(self.conv1(x)))
        return self.act(x + self.gate(self.norm2(self.conv2(inside))))


class Net(nn.Module):
    def __init__(self, depth, gated=False, width=16, act=nn.ReLU):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3)
        self.body = nn.Sequential(*(Block(width, gated, act) for _ in range(depth)))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.body(self.stem(x)).mean((2, 3)))


def traced(model):
    return nar_plugin.trace(model, example_inputs=torch.zeros(1, 3, 32, 32))


def table_of(graphs):
    """The blocks of graphs, as they are written."""
    known = {}
    for name, graph in graphs.items():
        for part in parts_of(graph):
            _, designs = known.setdefault(shape(part.graph), (part, {}))
            designs[graph.fingerprint] = StoredPlace(part.count, part.path, name)
    blocks = [
        StoredBlock(of, part.label, len(part.graph), designs)
        for of, (part, designs) in known.items()
    ]
    return to_table(blocks, LabelTable.of([part.graph for part, _ in known.values()]))


def built(models, *, blocks=True):
    graphs = {name: traced(model) for name, model in models.items()}
    rows = [
        ArchitectureRow(
            name=name,
            names=(name,),
            library=name.partition(":")[0],
            family=name.partition(":")[2],
            task="image-classification",
            params=1,
            flops=1,
            fingerprint=graph.fingerprint,
            design=graph.design,
            licence="MIT",
        )
        for name, graph in graphs.items()
    ]
    encoder = load_encoder(EMBEDDED)
    return ArchitectureIndex.from_rows(
        rows,
        encoder.encode_graphs(list(graphs.values())).numpy(),
        encoder_id(EMBEDDED),
        encoder_sha256(EMBEDDED),
        tracer="1",
        fingerprint=FINGERPRINT_VERSION,
        blocks=table_of(graphs) if blocks else None,
    )


MODELS = {"a:plain": Net(4), "b:gated": Net(6, gated=True), "b:wide": Net(3, width=32)}


@pytest.fixture(scope="module")
def known():
    return built(MODELS)


def places(block):
    return {each.name: (each.times, each.path) for each in block.occurrences}


def test_a_block_is_found_in_every_design_that_has_it_at_any_width(known):
    first = most_alike_blocks(known, cut(traced(Net(2, width=64)), "body.1"), 2)[0]
    assert (first.label, first.score, first.designs) == ("Block", 1.0, 2)
    assert places(first) == {"a:plain": (4, "body.0"), "b:wide": (3, "body.0")}


def test_a_part_of_a_block_is_a_block(known):
    first, *_ = most_alike_blocks(known, cut(traced(Net(1, gated=True)), "body.0.gate"), 1)
    assert (first.label, places(first)) == ("Gate", {"b:gated": (6, "body.0.gate")})


def test_the_nearest_block_to_a_new_one_is_its_relative(known):
    gelu = cut(traced(Net(2, act=nn.GELU)), "body.0")
    first, second = most_alike_blocks(known, gelu, 2)
    assert (first.label, first.designs) == ("Block", 2)
    assert 0.5 < first.score < 1
    assert first.score > second.score


def test_conditions_are_on_the_designs(known):
    block = cut(traced(Net(2)), "body.0")
    first = most_alike_blocks(known, block, 1, {"library": "b"})[0]
    assert places(first) == {"b:wide": (3, "body.0")}


def test_what_is_saved_is_read(known, tmp_path):
    known.save(tmp_path)
    block = cut(traced(Net(2)), "body.0")
    read = ArchitectureIndex.verify(tmp_path)
    assert most_alike_blocks(read, block, 3) == most_alike_blocks(known, block, 3)


def test_blocks_of_removed_rows_are_gone_and_those_of_added_ones_are_found(known, tmp_path):
    less = known.remove([known.by_name("a:plain")[0].fingerprint])
    more = less.merge(built({"c:new": Net(5)}))
    more.save(tmp_path)
    block = cut(traced(Net(2)), "body.0")
    for index in (more, ArchitectureIndex.load(tmp_path)):
        first = most_alike_blocks(index, block, 1)[0]
        assert places(first) == {"b:wide": (3, "body.0"), "c:new": (5, "body.0")}


def test_an_index_without_blocks_says_what_is_missing():
    older = built({"a:plain": Net(4)}, blocks=False)
    assert len(older.search(np.ones(512)))
    with pytest.raises(IndexUnavailable, match=r"without a table of blocks.*nar index update"):
        nar_plugin.find_similar(
            Net(2), at="body.0", index=older, example_inputs=torch.zeros(1, 3, 32, 32)
        )


def test_a_table_whose_lists_do_not_agree_is_refused(known):
    table = table_of({"a:plain": traced(Net(4))})
    times = table["times"].to_pylist()
    times[0] = times[0] * 2
    place, field = table.schema.get_field_index("times"), table.schema.field("times")
    broken = table.set_column(place, field, pa.array(times, field.type))
    index = known.empty(revision="x").add(known.rows(), known.vectors, blocks=broken)
    with pytest.raises(IndexIncompatible, match="blocks"):
        most_alike_blocks(index, cut(traced(Net(2)), "body.0"), 1)


def test_the_api_asks_for_a_module(known):
    found = nar_plugin.find_similar(
        Net(2), 2, at="body.0", index=known, example_inputs=torch.zeros(1, 3, 32, 32)
    )
    assert len(found) == 2
    assert str(found.query) == "body.0 of this Net (Block, 7 ops)"
    text = repr(found)
    assert "Block" in text
    assert "a:plain \N{MULTIPLICATION SIGN}4, from body.0" in text
    assert found.to_dict()["hits"][0]["occurrences"][0]["path"] == "body.0"
