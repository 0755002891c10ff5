import gzip
import json
import re
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from safetensors.numpy import save_file

from nar_plugin import api
from nar_plugin.index import ArchitectureIndex
from nar_plugin.index.ranking import Subject
from nar_plugin.map import map_of
from nar_plugin.web.address import State
from nar_plugin.web.desk import Desk
from nar_plugin.web.uploads import Uploads

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def desk():
    uploads = Uploads(largest=4 << 20, room=8 << 20)
    yield Desk(uploads)
    uploads.close()


class Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes = set(), set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def is_harmless(html):
    read = Tags(html)
    handlers = {name for name in read.attributes if name.startswith("on")}
    return not (read.tags & {"script", "img", "object", "embed"}) and not handlers


def test_hits_link_to_the_next_question(desk):
    shown = desk.show(State(model="timm:resnet50", k=3))
    assert shown.hits.count("<li><div") == 3
    assert 'href="?model=timm:resnet50&amp;k=3&amp;against=' not in shown.hits  # model comes first
    assert 'href="?model=timm:resnet50&amp;against=' in shown.hits
    assert "<svg" in shown.picture and not shown.comparison
    assert is_harmless(shown.hits)


def test_filters_choose_among_the_hits(desk):
    found = desk.similar(State(model="timm:resnet50", library="torchvision", params="<30M"))
    assert len(found) and all(hit.params < 30e6 for hit in found)
    assert all(hit.name.startswith("torchvision:") for hit in found)
    assert "nw-error" in desk.show(State(model="timm:resnet50", params="many")).hits
    none = desk.show(State(model="timm:resnet50", year=">=2900"))
    assert "No known design" in none.hits


def test_two_models_stand_side_by_side(desk):
    shown = desk.show(State(model="timm:resnet50", against="timm:seresnet50"))
    assert "likeness" in shown.comparison and "<svg" in shown.comparison
    assert not shown.picture
    assert "sandbox" in desk.unfolded("timm:resnet50")


@pytest.fixture
def mapped(desk, monkeypatch):
    """The desk with an index of two designs that have a place on its map."""
    resnet, vector = desk.index.by_name("timm:resnet50")
    bert, other = desk.index.by_name("transformers:bert")
    places = [replace(resnet, x=0.0, y=0.0), replace(bert, x=1.0, y=1.0)]
    known = desk.index.manifest
    small = ArchitectureIndex.from_rows(
        places,
        np.stack([vector, other]),
        known.encoder,
        known.encoder_sha256,
        tracer=known.tracer,
        fingerprint=known.fingerprint,
        versions=known.versions,
    )
    monkeypatch.setattr(desk, "index", small)
    desk._map.cache_clear()
    return desk


def packed(html):
    """What the script of a map in a frame reads."""
    (data,) = re.findall(r"text/plain&quot;&gt;([\w+/=]+)&lt;/script", html)
    return json.loads(gzip.decompress(b64decode(data)))


def test_the_map_is_shown_alone_and_with_a_model_on_it(mapped):
    alone = mapped.show(State(map=True))
    assert not alone.hits and packed(alone.map)["names"] == ["timm:resnet50", "transformers:bert"]
    assert is_harmless(alone.map) and 'sandbox="allow-scripts allow-top' in alone.map
    data = packed(mapped.show(State(model="timm:resnet50", map=True)).map)
    assert data["asked"] == [{"text": "timm:resnet50", "point": 0}]
    assert data["link"] == "?model="
    assert not mapped.show(State(model="timm:resnet50")).map
    refused = mapped.show(State(model=HOSTILE, map=True))
    assert "nw-error" in refused.hits and not refused.map and not refused.picture


def test_an_upload_on_the_map_tells_no_folder(mapped, monkeypatch):
    vector = np.ones(mapped.index.manifest.dim, np.float32)
    subject = Subject(vector / np.linalg.norm(vector), None, "new")
    asked = [(f"{mapped.uploads.folder}/1/config.json", 5, subject)]
    monkeypatch.setattr(api, "design_map", lambda models, index: map_of(index, asked))
    (shown,) = packed(mapped.show(State(model="timm:resnet50", map=True)).map)["asked"]
    assert shown["point"] == 2 and shown["text"].endswith("config.json")
    assert str(mapped.uploads.folder) not in shown["text"]


@pytest.mark.parametrize("text", [HOSTILE, f"timm:{HOSTILE}", f"timm:resnet50&model={HOSTILE}"])
def test_hostile_references_stay_text(text, desk):
    shown = desk.show(State(model=text, against=text, family=text))
    assert "nw-error" in shown.hits and is_harmless(shown.hits + shown.comparison)
    assert is_harmless(desk.show(State(model="timm:resnet50", family=HOSTILE)).hits)


@pytest.mark.slow  # imports transformers, or reads the shapes of all rows
def test_hostile_configs_stay_text_and_paths_stay_here(desk):
    for config in ({"model_type": HOSTILE}, {"architecture": HOSTILE}, {HOSTILE: HOSTILE}):
        reference = desk.uploads.keep_config(json.dumps(config))
        shown = desk.show(State(model=reference)).hits
        assert "nw-error" in shown and is_harmless(shown)
        assert str(desk.uploads.folder) not in shown


@pytest.mark.slow  # imports transformers, or reads the shapes of all rows
def test_weights_are_asked_by_their_header(desk, tmp_path):
    shapes = {f"{HOSTILE}.{n}": np.zeros((64, 32 + n), dtype=np.float16) for n in range(4)}
    save_file(shapes, tmp_path / "w.safetensors")
    reference = desk.uploads.keep(tmp_path / "w.safetensors", "w.safetensors")
    shown = desk.show(State(model=reference))
    assert "w.safetensors" in shown.hits and is_harmless(shown.hits)
    assert not shown.picture
    assert str(desk.uploads.folder) not in shown.hits
    compared = desk.show(State(model=reference, against="timm:resnet50"))
    assert "no forward" in compared.comparison


@pytest.mark.parametrize(
    "state",
    [
        State(),
        State(model="timm:resnet50", against="timm:resnet18", k=3),
        State(model="a&b=c#d", params="<10M", year=">=2020", family="é"),
        State(map=True),
    ],
)
def test_a_state_is_its_address(state):
    from urllib.parse import parse_qs

    pairs = {key: values[0] for key, values in parse_qs(state.query()[1:]).items()}
    assert State.of(pairs) == state


@pytest.mark.parametrize("k", ["0", "-3", "1e9", "99999", "NaN", None, [], "9" * 5000])
def test_k_is_bounded(k):
    assert 1 <= State.of({"k": k}).k <= 50
