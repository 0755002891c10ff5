import json

from nar_plugin.report.distinct import Asked, distinct_designs

SEARCHED = [
    Asked(0, "cell-a", "d1", "b1", 10),
    Asked(1, "cell-b", "d2", "b2", 20),
    Asked(2, "cell-a-wider-head", "d3", "b1", 12),
    Asked(4, "cell-b-again", "d2", "b2", 20, note="10% of its parameters were not reached"),
]


def test_designs_of_one_backbone_stand_together():
    found = distinct_designs(SEARCHED)
    assert [design.names for design in found.designs] == [
        ("cell-a",), ("cell-a-wider-head",), ("cell-b", "cell-b-again"),
    ]  # fmt: skip
    assert [len(group) for group in found.backbones] == [2, 1]
    assert found.first == (0, 1, 2)  # one of each design, as they were given


def test_what_was_refused_is_told():
    text = str(distinct_designs(SEARCHED, [("no:such\x1b[2J", "it cannot be built")]))
    assert "4 models, 3 designs, 2 backbones" in text
    assert "no:such: it cannot be built" in text
    assert "cell-b-again: 10% of its parameters" in text
    assert "cell-b = cell-b-again" in text


def test_json():
    printed = json.loads(json.dumps(distinct_designs(SEARCHED, [("x", "y")]).to_dict()))
    assert printed["first"] == [0, 1, 2]
    assert printed["designs"][2]["places"] == [1, 4]
    assert printed["refused"] == [{"name": "x", "reason": "y"}]


def test_nothing():
    assert str(distinct_designs([])).startswith("0 models")
