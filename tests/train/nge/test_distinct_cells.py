"""When two strings of NAS-Bench-201 are one design: pairs worked by hand."""

from functools import partial
from pathlib import Path

import pytest
from nar_plugin.hooks.nas_cells import nasbench201

from nar_plugin.train.nge.distinct_cells import fingerprints, graph, tree, without_zeros
from nar_plugin.train.nge.nas201_table import read_rows

DATA = Path(__file__).parents[4] / "shared" / "data"


def string(*operations):
    names = {"-": "none", "=": "skip_connect", "1": "nor_conv_1x1", "3": "nor_conv_3x3"}
    o = [names[sign] for sign in operations]
    return f"|{o[0]}~0|+|{o[1]}~0|{o[2]}~1|+|{o[3]}~0|{o[4]}~1|{o[5]}~2|"


# Edges 01, 02, 12, 03, 13, 23. Each pair is one cell from the named reading on, and no more from
# the reading that is named second on.
NEVER = "never"
PAIRS = {
    # conv(x), by way of node 1 and of node 2.
    "a way around": ("3---=-", "-3---=", "without zeros", NEVER),
    # x + conv(0), and x.
    "an operation on zero": ("-=3=3=", "-=-=-=", "without zeros", NEVER),
    # (conv3(x) + x) + conv1(x), and conv3(x) + x + conv1(x).
    "a sum of sums": ("=3=1-=", "3=-1==", "sums flat", NEVER),
    # One convolution added to itself, and two convolutions added.
    "a convolution twice": ("3-=-==", "33--==", "without zeros", "convolutions told apart"),
    # x + x, and x + x + x: as one, where a sum does not count.
    "an addend thrice": ("-=-=-=", "==-===", "addends once", NEVER),
    "other kernels": ("3---=-", "1---=-", NEVER, NEVER),
}
READINGS = {
    "without zeros": without_zeros,
    "sums flat": tree,
    "convolutions told apart": graph,
    "addends once": partial(graph, counted=False),
}


@pytest.mark.parametrize(("one", "other", "first", "last"), PAIRS.values(), ids=PAIRS)
def test_pairs(one, other, first, last, tmp_path):
    texts = [string(*one), string(*other)]
    alike = False
    for name, reading in READINGS.items():
        alike = (alike or name == first) and name != last
        assert (len({reading(nasbench201.parsed(text)) for text in texts}) == 1) == alike, name
    prints = fingerprints(texts, tmp_path / "prints.json")
    assert (len(set(prints.values())) == 1) == alike


def test_what_is_traced_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "prints.json"
    found = fingerprints([string(*"3---=-")], path)
    path.write_text(path.read_text().replace(*found.values(), "known"))
    assert set(fingerprints([string(*"3---=-")], path).values()) == {"known"}


@pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data")
def test_the_benchmark_counts_6466():
    rows = read_rows(DATA)
    assert len(rows) == 15_625 and len({row["UniqueString"] for row in rows}) == 6_466
