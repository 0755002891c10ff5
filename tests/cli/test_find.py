import json

import pytest


def test_a_table(nar, api):
    result = nar("find", "my:net")
    assert result.exit_code == 0
    assert "timm:net" in result.stdout
    assert "Block \N{MULTIPLICATION SIGN}2/4" in result.stdout
    assert api.asked == {"model": "my:net", "k": 10, "index": None, "where": None}
    assert api.asked_index is None


def test_json_is_all_that_stands_on_stdout(nar, api):
    result = nar("find", "my:net", "-k", "3", "--json")
    assert json.loads(result.stdout)["hits"][0]["name"] == "timm:net"
    assert "chatter" in result.stderr
    assert api.asked["k"] == 3


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["--index", "folder"], ("folder", None)),
        (["--revision", "v1"], (None, "v1")),
        (["--index", "folder", "--revision", "v1"], ("folder", "v1")),
    ],
)
def test_another_index(nar, api, words, asked):
    assert nar("find", "my:net", *words).exit_code == 0
    assert api.asked_index == asked
    assert api.asked["index"] is api.the_index


def test_conditions(nar, api):
    words = ["--where", "library=timm", "--where", "library=torchvision", "--where", "params=>=1M"]
    assert nar("find", "my:net", *words).exit_code == 0
    assert api.asked["where"] == {"library": ["timm", "torchvision"], "params": ">=1M"}
    nar("find", "my:net", "--where", "library!=timm", "--where", "family=!vgg")
    assert api.asked["where"] == {"library": "!timm", "family": "!vgg"}


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["my:net", "-k", "0"],
        ["my:net", "-k", "many"],
        ["my:net", "--where", "family"],
        ["my:net", "--where", "=resnet"],
        ["my:net", "--no-such-option"],
        ["my:net", "--at", "layer1", "--names"],
        ["my:net", "--at", "layer1", "--trace"],
        ["my:net", "--at", "layer1", "--distinct", "graph"],
    ],
)
def test_wrong_usage(nar, api, words):
    result = nar("find", *words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage: nar find" in result.stderr
