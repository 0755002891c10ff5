"""The page of a map holds every design, and no name of one becomes markup."""

import gzip
import json
import re
from base64 import b64decode

import numpy as np
import pytest

from nar_plugin.errors import NarError
from nar_plugin.index import ArchitectureIndex, ArchitectureRow
from nar_plugin.index.ranking import Subject
from nar_plugin.map import map_of
from nar_plugin.map.colours import legends, task_groups
from nar_plugin.map.family_labels import family_labels

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\x1b[2J"


HALFWAY = np.array([1, 1, 0], np.float32) / np.sqrt(np.float32(2))


def row(name, family, place, **more):
    fields = {"task": "image-classification", "params": 25_557_032, "flops": 1, "design": name}
    fields |= {
        "library": "timm",
        "fingerprint": name,
        "licence": "MIT",
        "names": (name, f"{name}b"),
    }
    x, y = place
    return ArchitectureRow(name=name, family=family, x=x, y=y, **fields | more)


def index_of(*rows):
    vectors = np.eye(len(rows), dtype=np.float32)
    return ArchitectureIndex.from_rows(
        list(rows), vectors, "nar-base", "c0" * 32, tracer="1", fingerprint="1"
    )


@pytest.fixture
def index():
    return index_of(
        row("timm:a", "vit", (0.0, 0.0), year=2020, paper="arXiv:2010.11929", title="An Image"),
        row("timm:b", "vit", (2.0, 1.0)),
        row(f"timm:{HOSTILE}", HOSTILE, (4.0, 2.0), title=HOSTILE, task=HOSTILE),
    )


def asked(index):
    """Its first row, and a model halfway between the first two."""
    known = ("timm:a", 25_557_032, Subject(index.vectors[0], None, "timm:a"))
    return [known, (HOSTILE, 5, Subject(HALFWAY, None, "new"))]


def packed(page):
    (data,) = re.findall(r'<script id="packed" type="text/plain">([\w+/=]+)</script>', page)
    return json.loads(gzip.decompress(b64decode(data)))


def test_every_design_is_on_the_page(index):
    data = packed(map_of(index, asked(index), lambda: {0: "<svg/>"}).html(link="?model="))
    assert data["names"][:2] == ["timm:a", "timm:b"]
    assert data["also"][0] == "timm:ab"
    assert (data["x"], data["y"]) == ([0, 5000, 10000, 2500], [0, 2500, 5000, 1250])
    assert data["year"] == [2020, 0, 0, 0]
    assert data["paper"]["texts"][data["paper"]["of"][0]] == "An Image arXiv:2010.11929"
    assert [each["point"] for each in data["asked"]] == [0, 3]
    assert data["pictures"] == {"0": "<svg/>"}
    assert data["link"] == "?model="


def test_names_are_no_markup_and_hide_nothing(index):
    page = map_of(index, asked(index), dict).html()
    assert "onerror" not in page
    assert page.count("<script") == 2  # the data and the one that draws it
    data = packed(page)
    shown = [data["names"][2], data["asked"][1]["text"], data["family"]["texts"][1]]
    assert all("</script>" in text for text in shown)  # visible, as text
    assert not any("\u202e" in text or "\x1b" in text for text in shown)


def test_the_page_asks_nobody(index):
    page = map_of(index, [], dict).html()
    assert "default-src 'none'" in page.replace("&#x27;", "'")
    assert not re.search(r"https?://|//[a-z]+\.[a-z]", page.replace("\n", " "))


def test_own_models_are_placed_and_marked(index):
    own = index_of(row("./mine", "mine", (None, None)))
    own = ArchitectureIndex.from_rows(
        own.rows(), np.array([[1, 1, 0]]), "nar-base", "c0" * 32, tracer="1", fingerprint="1"
    )
    found = map_of(
        index.with_overlay(own), [("./mine", 5, Subject(own.vectors[0], None, "./mine"))], dict
    )
    data = packed(found.html())
    assert (data["own"], data["names"][3], data["x"][3]) == (1, "./mine", 2500)
    assert data["asked"] == [{"text": "./mine", "point": 3}]


def test_a_map_is_saved_as_html(index, tmp_path):
    found = map_of(index, asked(index), dict)
    assert found.save(tmp_path / "map.html").read_text().startswith("<!doctype html>")
    assert "timm:a: 0.00, 0.00, its own row" in repr(found)
    assert "1.00, 0.50, placed by its nearest" in repr(found)
    with pytest.raises(NarError, match=r"\.html"):
        found.save(tmp_path / "map.png")
    with pytest.raises(NarError, match="cannot be written"):
        found.save(tmp_path / "none" / "map.html")


def test_a_family_is_named_at_its_thick_and_again_far_away():
    thick, far = [(0.0, 0.0)] * 20, [(100.0, 0.0)] * 10
    places = np.array([*thick, *far, (50.0, 0.0), (50.0, 50.0)], np.float32)
    labels = family_labels(["vit"] * 31 + ["bert"], places)
    assert [(each.text, each.x, each.y, each.count) for each in labels] == [
        ("vit", 0.0, 0.0, 20),
        ("vit", 100.0, 0.0, 10),  # the one in between names nothing
        ("bert", 50.0, 50.0, 1),
    ]


def test_points_are_in_the_class_that_the_legend_says():
    task, size, year = legends(["fill-mask", "no-such"], [999_999, 10**10], [2016, None])
    assert [task.entries[code][0] for code in task.codes] == ["language", "other"]
    assert [size.entries[code][0] for code in size.codes] == ["below 1M", "from 10B"]
    assert [year.entries[code][0] for code in year.codes] == ["2015, 2016", "unknown"]


def test_nearly_all_designs_have_a_task_with_a_colour():
    from nar_plugin.index import EMBEDDED

    tasks = ArchitectureIndex.load(EMBEDDED).contents.table["task"].to_pylist()
    assert np.mean([task in task_groups() for task in tasks]) > 0.9
