"""A server that must not be trusted: nothing lands outside the cache, no wait is endless."""

import time
from types import SimpleNamespace

import pytest

from nar_plugin import hub
from nar_plugin.encoder import save_encoder
from nar_plugin.errors import IndexUnavailable
from nar_plugin.hub.answering import first_readable
from nar_plugin.index import EMBEDDED, ArchitectureIndex
from nar_plugin.remote import waiting
from nar_plugin.remote.cache import Place
from nar_plugin.remote.proven_names import inside

REPO = "owner/architectures"
ROWS, VECTORS = "shards/00001.rows.parquet", "shards/00001.vectors.safetensors"


def refused(match=""):
    """The message of an update that fails; the old index answers."""
    with pytest.raises(IndexUnavailable, match=match) as caught:
        hub.update()
    assert len(first_readable(ArchitectureIndex.load)) == 200
    return str(caught.value)


def all_files(folder):
    return {path for path in folder.rglob("*") if not path.is_dir()}


NAMES = {
    "absolute": "{}/evil.pth",
    "upwards": "../../../../../../../../../../{}/evil.pth",
    "one up": "../evil",
    "a folder": "..",
    "empty": "",
    "short": "abc",
    "upper case": "A" * 40,
    "other digits": "\u0663" * 40,
    "long": "a" * 500,
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("path", "header"), [("manifest.json", "ETag"), (VECTORS, "X-Linked-Etag")]
)
def test_a_blob_is_never_placed_by_what_the_server_calls_it(behind, tmp_path, path, header, name):
    outside = tmp_path / "outside"
    outside.mkdir()
    text = NAMES[name].format(outside).encode().decode("latin-1")
    behind.fail(path=path, headers={header: f'"{text}"'})
    before = all_files(tmp_path / "hf-home")
    assert "40 or 64 hexadecimal digits" in refused()
    assert not all_files(outside) and not (tmp_path / "evil").exists()
    new = {one for one in all_files(tmp_path / "hf-home") - before if one.suffix != ".lock"}
    assert all(one.parent.name == "blobs" or "snapshots" in one.parts for one in new)
    behind.faults.clear()
    hub.update()
    assert len(first_readable(ArchitectureIndex.load)) == 225


@pytest.mark.parametrize("commit", ["../../../evil", "/evil", "main", "f" * 40])
def test_a_commit_is_one_and_the_one_that_was_asked_for(behind, commit):
    behind.fail(path=ROWS, headers={"X-Repo-Commit": commit})
    assert "commit" in refused()


def test_an_encoder_stays_in_the_cache_too(client, tmp_path, monkeypatch):
    hub.publish_encoder(EMBEDDED, "owner/encoder")
    evil = tmp_path / "evil.pth"
    client.fail(path="encoder.json", headers={"ETag": f'"{evil}"'})
    with pytest.raises(IndexUnavailable, match="40 or 64"):
        hub.ArchitectureEncoder.from_pretrained("owner/encoder")
    assert not evil.exists()


@pytest.mark.parametrize("path", ["config.json", "small"])
def test_a_small_file_stays_in_the_cache_too(client, tmp_path, path):
    from huggingface_hub import HfApi

    HfApi().create_repo("owner/model")
    repository = client.storage.repository("models", "owner/model")
    commit = repository.commit("main", {path: b"{}"})
    place = Place("owner/model", kind="model")
    assert place.small(path).read_bytes() == b"{}"
    assert place.cached(path, "main") == place.snapshot(commit, path)
    evil = tmp_path / "evil.pth"
    client.fail(path=path, headers={"ETag": f'"{evil}"'})
    with pytest.raises(IndexUnavailable):
        place.small(path)
    assert not evil.exists()


@pytest.mark.parametrize("revision", ["../../../evil", "/tmp/evil", "a\0b", "a\\..\\b", "a/../b"])
def test_a_revision_names_no_place_outside(published, home, revision):
    with pytest.raises(IndexUnavailable):
        hub.open_index(REPO, revision, ArchitectureIndex.load)
    with pytest.raises(IndexUnavailable):
        hub.update(REPO, revision)


def test_a_link_in_the_cache_leads_nothing_out_of_it(behind, home, tmp_path):
    (outside := tmp_path / "outside").mkdir()
    blobs = next(home.glob("hub/*/blobs"))
    blobs.rename(outside / "blobs")
    blobs.symlink_to(outside / "blobs")
    before = all_files(outside)
    with pytest.raises(IndexUnavailable, match="A link leads"):
        hub.update()
    assert all_files(outside) == before


def test_a_cache_that_is_itself_behind_a_link_is_one(behind, home, tmp_path):
    home.rename(tmp_path / "other-disk")
    home.symlink_to(tmp_path / "other-disk")
    hub.update()
    assert len(first_readable(ArchitectureIndex.load)) == 225


@pytest.mark.parametrize("name", ["gpt2", "a/b", "a_b/_c.d-e"])
def test_models_with_and_without_an_owner(name, home):
    assert Place(name, home, kind="model").folder == home / f"models--{name.replace('/', '--')}"


@pytest.mark.parametrize("name", ["", "..", "a/..", "/etc", "a/b/c", "a--b", "a\nb", "-a", "a/b\n"])
def test_what_names_no_model(name, home):
    with pytest.raises(IndexUnavailable, match="no repository"):
        Place(name, home, kind="model").small("config.json")


@pytest.mark.parametrize("name", ["a/b", "refs/pr/1", "shards/00000.rows.parquet"])
def test_a_plain_name_is_inside(tmp_path, name):
    assert inside(tmp_path, name) == tmp_path / name


@pytest.mark.parametrize("path", ["manifest.json", ROWS])
@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_wants_a_day_is_not_waited_for(behind, monkeypatch, status, path):
    slept = []
    clock = SimpleNamespace(**vars(time) | {"sleep": slept.append})
    monkeypatch.setattr(waiting, "time", clock)
    behind.fail(path=path, status=status, retry_after=100_000)
    assert "left alone for 100,000 seconds" in refused()
    assert sum(slept) <= 60


def test_a_busy_server_has_five_minutes_at_most(behind, monkeypatch):
    slept = []
    clock = SimpleNamespace(**vars(time) | {"sleep": slept.append})
    monkeypatch.setattr(waiting, "time", clock)
    behind.fail(path="manifest.json", status=429, retry_after=60)
    refused("status 429")
    assert slept == [60.0] * 5


def test_a_server_that_drips(behind, monkeypatch):
    """A clock that is ahead by 100 seconds whenever it is asked."""
    ticks = iter(range(0, 10**9, 100))
    clock = SimpleNamespace(**vars(time) | {"sleep": lambda _: None})
    clock.monotonic = lambda: next(ticks)
    monkeypatch.setattr(waiting, "time", clock)
    assert "at least 1,000 a second" in refused()


def test_a_server_that_never_answers(behind, monkeypatch):
    monkeypatch.setattr(waiting.within, "__defaults__", (0.2,))
    behind.fail(path="manifest.json", methods=("HEAD",), delay=3)
    assert "no whole answer came within 0.2 seconds" in refused()


@pytest.mark.parametrize("methods", [("HEAD",), ("GET",)])
def test_redirects_without_end(behind, methods):
    for path in ("manifest.json", "again"):
        behind.fail(path=path, methods=methods, status=302, headers={"Location": "/again"})
    assert "manifest.json" in refused()
    assert len(behind.asked(path="again")) < 200


@pytest.mark.parametrize(
    "body", [b"<html><body>Log in</body></html>", b"", b"[]", b"[" * 100_000, b"null", b'{"a": 1}']
)
def test_a_login_page_answers_in_the_place_of_the_hub(behind, body):
    behind.fail(body=body)
    message = refused()
    assert "login page" in message and "HF_ENDPOINT" in message
    with pytest.raises(IndexUnavailable, match=r"login page|status"):
        hub.publish(EMBEDDED, REPO)


def test_a_token_stays_with_the_hub(behind):
    """The other host of the test's server refuses every request that comes with a token."""
    repository = behind.storage.repository("datasets", REPO)
    sha256 = repository.entry("main", "tombstones.json").sha256
    place = {"Location": f"{behind.cdn}/cdn/{sha256}/x"}
    behind.fail(path="tombstones.json", methods=("GET",), status=302, headers=place)
    hub.update()
    assert [one.status for one in behind.asked("GET", f"/cdn/{sha256}")] == [200]


@pytest.mark.parametrize("size", ["-1", "1" + "0" * 30, "x", ""])
def test_sizes_that_cannot_be(behind, size):
    behind.fail(path=ROWS, headers={"X-Linked-Size": size})
    refused("shards/00001.rows.parquet")


def test_more_than_the_disk_holds(behind, monkeypatch):
    from nar_plugin.remote import resuming

    monkeypatch.setattr(resuming, "disk_usage", lambda folder: SimpleNamespace(free=1000))
    assert "has room for 1,000 bytes" in refused()


def test_no_listing_is_asked_for(behind):
    """What has pages can have pages without end."""
    hub.update()
    assert not behind.asked("GET", "/tree/") and not behind.asked("GET", "/api/datasets")


def test_a_pipe_in_the_place_of_what_came(behind, home, tmp_path):
    import os

    sha256 = behind.storage.repository("datasets", REPO).entry("main", VECTORS).sha256
    part = next(home.glob("hub/*/blobs")) / f"{sha256}.incomplete"
    precious = tmp_path / "precious"
    precious.write_bytes(b"mine")
    for make in (os.mkfifo, lambda path: path.symlink_to(precious)):
        make(part)
        hub.update()
        assert precious.read_bytes() == b"mine"
        hub.update(revision="v1")
        (part.with_suffix("")).unlink()


def test_weights_that_are_none(tmp_path):
    """The sha256 is right, the content is not safetensors: no encoder, and no bug either."""
    import hashlib
    import json

    from nar_plugin.encoder import ArchitectureEncoder

    encoder = ArchitectureEncoder(5, 8, hidden=8, dimensions=32)
    save_encoder(encoder, tmp_path)
    config = json.loads((tmp_path / "encoder.json").read_bytes())
    (tmp_path / "encoder.safetensors").write_bytes(b"\0" * 100)
    config["sha256"] = hashlib.sha256(b"\0" * 100).hexdigest()
    for settings in (config, config | {"encoder": 5}, config | {"sha256": 5}, {"a": 1}, [[]]):
        (tmp_path / "encoder.json").write_text(json.dumps(settings))
        with pytest.raises(hub.opening.NarError):
            hub.ArchitectureEncoder.from_pretrained(tmp_path)
    (tmp_path / "encoder.json").write_text("[" * 200_000)
    with pytest.raises(IndexUnavailable):
        hub.ArchitectureEncoder.from_pretrained(tmp_path)
