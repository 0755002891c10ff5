"""When two strings of NAS-Bench-201 are one design: pairs worked by hand."""

from pathlib import Path

import pytest
from nar_plugin.hooks.nas_cells import nasbench201

from nar_plugin.train.nge.distinct_cells import fingerprints, graph, tree
from nar_plugin.train.nge.nas201_table import read_rows

DATA = Path(__file__).parents[4] / "shared" / "data"


def string(*operations):
    names = {"-": "none", "=": "skip_connect", "1": "nor_conv_1x1", "3": "nor_conv_3x3"}
    o = [names[sign] for sign in operations]
    return f"|{o[0]}~0|+|{o[1]}~0|{o[2]}~1|+|{o[3]}~0|{o[4]}~1|{o[5]}~2|"


# Edges 01, 02, 12, 03, 13, 23; what the pair is a case of, and whether it is one design.
PAIRS = {
    "a branch by way of node 1 or 2": ("3---=-", "-3---=", True),
    "an operation on zero": ("-=3=3=", "-=-=-=", True),
    "a sum of sums in another order": ("=13-3=", "3=1==-", False),
    "one convolution twice, or two": ("3--=-=", "3-=-==", False),
    "kernels differ": ("3---=-", "1---=-", False),
}


@pytest.mark.parametrize(("one", "other", "same"), PAIRS.values(), ids=PAIRS)
def test_pairs(one, other, same, tmp_path):
    texts = [string(*one), string(*other)]
    prints = fingerprints(texts, tmp_path / "prints.json")
    assert (len(set(prints.values())) == 1) == same
    graphs = {graph(nasbench201.parsed(text)) for text in texts}
    assert (len(graphs) == 1) == same


def test_a_convolution_read_twice_has_the_tree_of_two_and_not_the_graph():
    # conv(x) twice, by way of node 1 to nodes 2 and 3; and two convolutions of the input.
    once, twice = (nasbench201.parsed(string(*signs)) for signs in ("3-=-==", "33--=="))
    assert tree(once) == tree(twice)
    assert graph(once) != graph(twice)


def test_what_is_traced_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "prints.json"
    found = fingerprints([string(*"3---=-")], path)
    path.write_text(path.read_text().replace(*found.values(), "known"))
    assert set(fingerprints([string(*"3---=-")], path).values()) == {"known"}


@pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data")
def test_the_benchmark_counts_6466():
    rows = read_rows(DATA)
    assert len(rows) == 15_625 and len({row["UniqueString"] for row in rows}) == 6_466
