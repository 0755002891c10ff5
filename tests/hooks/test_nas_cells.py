"""Cells of three search spaces: their texts, their networks, and what can be asked of them."""

import json
from pathlib import Path

import pytest
import torch
from huggingface_hub import constants
from nar_plugin.hooks.nas_cells import darts, enas, nasbench201
from typer.testing import CliRunner

import nar_plugin
from nar_plugin.cli import app
from nar_plugin.errors import NarError
from nar_plugin.references import resolve
from nar_plugin.references.construction import built

STRUCTURES = Path(__file__).parents[3] / "shared" / "data" / "enas_final_structures6.txt"
ALL_CONV3 = (
    "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+"
    "|nor_conv_3x3~0|nor_conv_3x3~1|nor_conv_3x3~2|"
)
# The same branch by way of node 1 and of node 2.
BY_ONE = "|nor_conv_3x3~0|+|none~0|none~1|+|none~0|skip_connect~1|none~2|"
BY_TWO = "|none~0|+|nor_conv_3x3~0|none~1|+|none~0|none~1|skip_connect~2|"
# As DARTS published its second-order result.
DARTS_V2 = (
    "Genotype(normal=[('sep_conv_3x3', 0), ('sep_conv_3x3', 1), ('sep_conv_3x3', 0), "
    "('sep_conv_3x3', 1), ('sep_conv_3x3', 1), ('skip_connect', 0), ('skip_connect', 0), "
    "('dil_conv_3x3', 2)], normal_concat=[2, 3, 4, 5], reduce=[('max_pool_3x3', 0), "
    "('max_pool_3x3', 1), ('skip_connect', 2), ('max_pool_3x3', 1), ('max_pool_3x3', 0), "
    "('skip_connect', 2), ('skip_connect', 2), ('max_pool_3x3', 1)], reduce_concat=[2, 3, 4, 5])"
)


@pytest.mark.parametrize(
    ("reference", "millions", "digits"),
    [
        (f"nasbench201:{ALL_CONV3}", 1.53, 2),  # the largest of NAS-Bench-201
        ("nasbench201:|none~0|+|none~0|none~1|+|none~0|none~1|none~2|", 0.07, 2),  # the smallest
        (f"darts:{DARTS_V2}", 3.3, 1),  # Table 1 of Li, Gong & Zhu (AAAI 2020)
    ],
)
def test_a_network_has_as_many_parameters_as_is_published(reference, millions, digits):
    model = resolve(reference)
    assert all(parameter.is_meta for parameter in model.parameters())
    count = sum(parameter.numel() for parameter in model.parameters())
    assert round(count / 1e6, digits) == millions


def test_an_enas_network_counted_by_hand():
    model = built(lambda: enas.network("[[0], [4, 1]]"))
    stem = 3 * 36 * 9 + 2 * 36
    point = 36 * 36 + 2 * 36  # a 1x1 convolution and its batch norm
    conv3 = 36 * 36 * 9 + 2 * 36
    merged = 2 * 36 * 36 + 2 * 36  # the skip and the layer's own result
    total = stem + (point + conv3) + (point + merged) + 36 * 10 + 10
    assert sum(parameter.numel() for parameter in model.parameters()) == total


@pytest.mark.skipif(not STRUCTURES.is_file(), reason="needs ../shared/data")
def test_rows_of_the_published_list_build_and_run():
    rows = STRUCTURES.read_text().splitlines()[:3]
    for row in rows:
        text = row.rpartition(",")[0]
        model = enas.network(text).eval()
        assert model(torch.zeros(1, 3, 8, 8)).shape == (1, 10)
    # The sixth layer of the first row is [3, 0, 0, 0, 0, 1]: sep5, the fifth vertex skips to it.
    assert enas.parsed(rows[0].rpartition(",")[0])[5] == ("sep5", (4,))


def test_a_cell_of_nasbench201_computes_what_its_string_says():
    torch.manual_seed(0)
    cell = nasbench201.Cell(
        nasbench201.parsed(
            "|nor_conv_3x3~0|+|skip_connect~0|avg_pool_3x3~1|+|none~0|nor_conv_1x1~1|skip_connect~2|"
        ),
        4,
    ).eval()
    image = torch.randn(1, 4, 6, 6)
    one = cell.edges["01"](image)
    two = image + torch.nn.functional.avg_pool2d(one, 3, 1, 1, count_include_pad=False)
    torch.testing.assert_close(cell(image), cell.edges["13"](one) + two)


def test_dead_edges_are_left_out():
    cell = nasbench201.Cell(nasbench201.parsed(BY_ONE), 4)
    assert list(cell.edges) == ["01", "13"]
    # Node 1 sees zero alone, so its convolutions give zero; node 2 is read by nobody.
    nothing = "|none~0|+|skip_connect~0|nor_conv_3x3~1|+|avg_pool_3x3~0|nor_conv_3x3~1|none~2|"
    assert list(nasbench201.Cell(nasbench201.parsed(nothing), 4).edges) == ["03"]


def test_a_cell_of_darts_adds_and_concatenates():
    torch.manual_seed(0)
    choices = [("skip_connect", 0), ("max_pool_3x3", 1), ("skip_connect", 2), ("dil_conv_3x3", 0)]
    cell = darts.Cell(choices, (2, 3), darts.Place((4, 4), 4)).eval()
    older, newer = torch.randn(2, 1, 4, 6, 6)
    zero, one = cell.older(older), cell.newer(newer)
    two = zero + torch.nn.functional.max_pool2d(one, 3, 1, 1)
    three = two + cell.operations[3](zero)
    torch.testing.assert_close(cell(older, newer), torch.cat([two, three], dim=1))


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        ("nasbench201:|nor_conv_7x7~0|+|none~0|none~1|+|none~0|none~1|none~2|", "'nor_conv_7x7~0'"),
        ("nasbench201:|none~0|", "has not the nodes"),
        ("darts:DARTS_V2", "expected a printed Genotype"),
        (
            "darts:Genotype(normal=[('none', 0)], normal_concat=[2], reduce=[], reduce_concat=[])",
            "1",
        ),
        ("enas:[[1], [4]]", "2 numbers"),
        ("enas:[[6]]", "from 0 to 5"),
    ],
)
def test_a_text_that_is_no_cell_is_refused_with_what_is_wrong(reference, problem):
    with pytest.raises(NarError) as refused:
        resolve(reference)
    assert problem in str(refused.value)


def test_a_found_cell_is_asked_and_deduplicated():
    # One cell between two convolutions: a whole network takes ten times as long.
    def small(text):
        cell = nasbench201.Cell(nasbench201.parsed(text), 4)
        return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 1), cell, torch.nn.Conv2d(4, 3, 1))

    found = nar_plugin.dedupe(small(text) for text in (BY_ONE, ALL_CONV3, BY_TWO))
    assert found.first == (0, 1)
    model = nasbench201.Nasbench201Network(ALL_CONV3, cells=1)
    assert model.find_similar(k=1)[0].score > 0.5
    assert 0 < float(nar_plugin.novelty(model)) < 1


def test_found_cells_join_the_own_models(tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HOME", str(tmp_path / "hf"))
    nar_plugin.clear_cache()
    cells = [f"nasbench201:{BY_ONE}", f"nasbench201:{BY_TWO}", "enas:[[0], [4, 1]]"]
    result = CliRunner().invoke(app, ["index", "add", *cells, "--json"])
    assert json.loads(result.stdout)["graphs"] == 2  # the first two are one design
    assert json.loads(result.stdout)["names"] == 3
    model = enas.EnasNetwork("[[0], [4, 1]]", classes=7)
    hit = model.find_similar(k=1)[0]
    assert (hit.name, hit.score) == ("enas:[[0], [4, 1]]", 1)
    nar_plugin.clear_cache()
