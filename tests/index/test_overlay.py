"""A user's own models beside the index that answers, with the real tracer and encoder."""

import json
import logging
import re
import threading
from functools import partial

import numpy as np
import pytest
from huggingface_hub import constants
from typer.testing import CliRunner

import nar_plugin
from nar_plugin import manager
from nar_plugin.cli import app
from nar_plugin.errors import IndexIncompatible, NarError
from nar_plugin.index import ArchitectureIndex, embedding, overlay

OWN = """
from torch import nn
def small():
    return nn.Sequential(nn.Conv2d(3, 7, 3), nn.ReLU(), nn.Conv2d(7, 9, 3), nn.ReLU())
def twin():
    return small()
def tuned():
    import torchvision
    return torchvision.models.resnet18(num_classes=7)
def other():
    return nn.Sequential(nn.Conv2d(3, 11, 5), nn.GELU(), nn.Conv2d(11, 4, 3), nn.GELU())
"""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HOME", str(tmp_path / "hf"))
    (tmp_path / "own_models.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    nar_plugin.clear_cache()
    yield tmp_path / "hf"
    nar_plugin.clear_cache()


@pytest.fixture
def base():
    return nar_plugin.load_index()


def add(base, *references):
    return overlay.add_models(references, base, lambda macros: embedding.embed(base, macros))


def built(name):
    import own_models

    return getattr(own_models, name)()


def test_an_own_model_is_found_and_marked(base, home):
    before = nar_plugin.find_similar(built("small"), k=3)
    assert not any(hit.exact or hit.overlay for hit in before)
    assert "yours" not in str(before)
    add(base, "own_models:small")
    assert (home / "nar" / "overlay" / "manifest.json").is_file()
    after = nar_plugin.find_similar(built("small"), k=3)
    assert (after[0].name, after[0].exact, after[0].overlay) == ("own_models:small", True, True)
    assert after[0].to_dict()["overlay"] is True
    assert [hit.name for hit in after[1:]] == [hit.name for hit in before[:2]]
    assert "yours" in str(after)
    assert nar_plugin.load_index().info()["overlay"] == 1


@pytest.mark.parametrize("own", [False, True])
def test_a_hit_has_the_name_that_a_filter_asks_for(base, own):
    if own:
        add(base, "torchvision:resnet18")
    found = nar_plugin.find_similar("torchvision:resnet18", k=3, where={"library": "torchvision"})
    assert (found[0].name, found[0].exact, found[0].overlay) == ("torchvision:resnet18", True, own)
    assert found[0].to_dict()["name"] == "torchvision:resnet18"
    assert "timm:resnet18" in found[0].names
    assert all(hit.name.startswith("torchvision:") for hit in found)
    assert "timm:" not in str(found).partition("\n")[2]
    assert ">torchvision:resnet18 <" in found._repr_html_()


def test_an_identical_graph_is_one_hit_with_all_names(base):
    known = nar_plugin.find_similar("torchvision:resnet18", k=5)
    add(base, "torchvision:resnet18")
    found = nar_plugin.find_similar("torchvision:resnet18", k=5)
    assert [hit.fingerprint for hit in found] == [hit.fingerprint for hit in known]
    assert found[0].overlay
    assert set(found[0].names) == {*known[0].names, "torchvision:resnet18"}
    assert not any(hit.overlay for hit in found[1:])
    assert found[0].family == "resnet"


def test_an_own_head_hides_no_known_design(base):
    add(base, "own_models:tuned")
    found = nar_plugin.find_similar("torchvision:resnet18", k=3)
    assert (found[0].exact, found[0].overlay) == (True, False)
    assert (found[1].name, found[1].overlay) == ("own_models:tuned", True)
    tuned = nar_plugin.find_similar(built("tuned"), k=2)
    assert (tuned[0].name, tuned[0].exact) == ("own_models:tuned", True)
    assert "torchvision:resnet18" in tuned[1].names


def test_filters_reach_the_overlay(base):
    add(base, "own_models:small")
    found = nar_plugin.find_similar(built("other"), where={"library": "own_models"})
    assert [hit.name for hit in found] == ["own_models:small"]
    assert not any(
        hit.overlay for hit in nar_plugin.find_similar(built("other"), where={"params": ">1G"})
    )


def test_equal_models_are_one_row(base):
    add(base, "own_models:small", "own_models:other")
    overlaid = add(base, "own_models:twin", "own_models:small")
    assert len(overlaid) == 2
    (row,) = [row for row in overlaid.rows() if row.name == "own_models:small"]
    assert row.names == ("own_models:small", "own_models:twin")


def test_all_or_none(base, home):
    with pytest.raises(NarError):
        add(base, "own_models:small", "own_models:missing")
    assert not (home / "nar" / "overlay").exists()


def test_an_index_that_was_named_answers_alone(base, tmp_path):
    add(base, "own_models:small")
    assert nar_plugin.load_index(base.contents.folder).overlay is None
    assert len(nar_plugin.load_index().overlay) == 1


def of_another_encoder(home):
    """The overlay as it would be after an update brought a new encoder."""
    folder = home / "nar" / "overlay"
    old = ArchitectureIndex.load(folder)
    half = old.reencoded("older", "0" * 64, lambda graphs: np.eye(len(graphs), old.manifest.dim))
    half.save(folder)


def test_another_encoders_overlay_is_left_out_and_mended(base, home, caplog):
    add(base, "own_models:small", "own_models:other")
    of_another_encoder(home)
    with caplog.at_level(logging.WARNING, logger="nar_plugin"):
        found = nar_plugin.find_similar(built("small"), k=3)
        nar_plugin.find_similar(built("small"), k=3)
    assert not any(hit.overlay for hit in found)
    assert caplog.text.count("Your own models are left out") == 1
    assert "`nar dev index reencode`" in caplog.text
    with pytest.raises(IndexIncompatible, match="nar dev index reencode"):
        add(base, "own_models:twin")
    result = CliRunner().invoke(app, ["dev", "index", "reencode", "--json"])
    assert json.loads(result.stdout)["graphs"] == 2
    (hit,) = nar_plugin.find_similar(built("small"), k=1)
    assert hit.overlay
    query = nar_plugin.embed(built("small"))
    cosines = nar_plugin.load_index().overlay.vectors @ query
    assert cosines.max() == pytest.approx(1, abs=1e-5)  # the stored graph gives the traced one's


def test_a_damaged_overlay_is_left_out(base, home, caplog):
    add(base, "own_models:small")
    path = home / "nar" / "overlay" / "shards" / "00000.rows.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    with caplog.at_level(logging.WARNING, logger="nar_plugin"):
        assert len(nar_plugin.find_similar(built("small"), k=3)) == 3
    assert "00000.rows.parquet is damaged" in caplog.text
    assert "add them again, `nar index add REF`" in caplog.text


def test_what_mends_a_damaged_overlay_is_said(base, home, caplog):
    add(base, "own_models:small")
    folder = home / "nar" / "overlay"
    (folder / "manifest.json").write_text("junk")
    mended = f"These are your own models: remove {folder} and add them again, `nar index add REF`."
    with pytest.raises(NarError, match=re.escape(mended)):
        add(base, "own_models:small")
    with pytest.raises(NarError, match=re.escape(mended)):
        overlay.remove_models(["own_models:small"])
    with caplog.at_level(logging.WARNING, logger="nar_plugin"):
        nar_plugin.find_similar(built("small"), k=3)
    assert mended in caplog.text
    assert "it is not JSON" in caplog.text
    assert "nar index update" not in caplog.text


def test_an_overlay_of_another_tracer_cannot_be_reencoded(base, home):
    add(base, "own_models:small")
    folder = home / "nar" / "overlay"
    earlier = ArchitectureIndex.load(folder).contents.stating(fingerprint="nar0")
    ArchitectureIndex(earlier).save(folder)
    with pytest.raises(IndexIncompatible, match="Trace the models of the older one again"):
        overlay.reencode_overlay(base, partial(embedding.embed_graphs, base))


def test_nothing_to_reencode(base):
    result = CliRunner().invoke(app, ["dev", "index", "reencode"])
    assert "nar index add REF" in str(result.exception)


def test_two_at_once_lose_nothing(base):
    threads = [
        threading.Thread(target=add, args=(base, f"own_models:{name}"))
        for name in ("small", "other")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(nar_plugin.load_index().overlay) == 2


def test_what_a_plugin_declares_of_a_model_is_kept(base):
    torchvision = pytest.importorskip("torchvision")
    assert torchvision.models.resnet18
    (row,) = add(base, "torchvision:resnet18").rows()
    assert (row.library, row.family, row.task) == ("torchvision", "resnet", "image-classification")
    assert row.licence == "BSD-3-Clause"
    assert row.url.endswith("torchvision.models.resnet18.html")


def test_a_pattern_stands_for_all_that_a_plugin_lists(base, caplog):
    pytest.importorskip("torchvision")
    added = add(base, "torchvision:resnet1*")
    expected = ["torchvision:resnet101", "torchvision:resnet152", "torchvision:resnet18"]
    assert [row.name for row in added.rows()] == expected
    listed = json.loads(CliRunner().invoke(app, ["index", "list", "--json"]).stdout)
    assert listed["names"] == expected
    assert "3 own. The index embedded" in CliRunner().invoke(app, ["index", "list"]).stdout
    with pytest.raises(NarError, match="matches no architecture"):
        add(base, "torchvision:nosuch*")


def test_of_a_pattern_what_cannot_be_built_is_left_out_and_said(base, caplog, monkeypatch):
    pytest.importorskip("torchvision")
    import torchvision

    def refuses(**_):
        raise RuntimeError("not today")

    monkeypatch.setattr(torchvision.models, "resnet101", refuses)
    monkeypatch.setitem(
        torchvision.models._api.BUILTIN_MODELS, "resnet101", torchvision.models.resnet101
    )
    added = add(base, "torchvision:resnet1*")
    assert [row.name for row in added.rows()] == ["torchvision:resnet152", "torchvision:resnet18"]
    assert "torchvision:resnet101 is left out: " in caplog.text
    manager.reset()  # the plugin is marked failed


def test_add_on_the_command_line(home):
    result = CliRunner().invoke(app, ["index", "add", "own_models:small", "--json"])
    assert json.loads(result.stdout) == {
        "overlay": str(home / "nar" / "overlay"),
        "graphs": 1,
        "names": 1,
    }
    assert "tracing own_models:small" in result.stderr


def test_a_model_that_cannot_be_run_is_refused(base, tmp_path):
    (tmp_path / "own_broken.py").write_text(
        "from torch import nn\n"
        "class Broken(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.layer = nn.Linear(3, 3)\n"
        "    def forward(self, *x):\n"
        "        raise RuntimeError('no')\n"
    )
    with pytest.raises(NarError, match="only its layers are known"):
        add(base, "own_broken:Broken")
