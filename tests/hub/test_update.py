"""From the Hub to a query: what is fetched, what answers, and what the cache still gives later."""

import io
import json
import logging
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nar_plugin import hub
from nar_plugin.cli import app
from nar_plugin.encoder import ArchitectureEncoder, encoder_sha256, save_encoder
from nar_plugin.errors import IndexIncompatible, IndexUnavailable
from nar_plugin.hub.answering import answering, first_readable
from nar_plugin.hub.pointer import pointer_path, read_pointers
from nar_plugin.index import EMBEDDED, ArchitectureIndex
from nar_plugin.index.store.manifest import own_hash

REPO = "owner/architectures"


def active():
    return first_readable(ArchitectureIndex.load)


def names(index):
    return [row.name for row in index.rows()]


def test_before_the_first_update_the_embedded_index_answers(client, caplog):
    assert active().source == "embedded"
    assert answering().startswith("The index embedded answers: revision ")
    assert not caplog.records and not client.log


def test_an_update_makes_the_published_index_answer(published, small):
    update = hub.update(REPO)
    assert update.done and update.size == sum(entry.size for entry in update.fetched)
    assert active().manifest == ArchitectureIndex.load(small[0]).manifest
    assert answering().startswith(f"The index {REPO}@{update.release.commit[:8]} answers: ")
    assert answering().endswith("revision 2026.11.20, 200 graphs, 0.0 MB, made today.")


def test_each_file_has_a_bar_that_counts_its_bytes(published, small, monkeypatch):
    from huggingface_hub import utils

    bars, begin = {}, utils.tqdm.__init__

    def shown(bar, *args, **options):
        begin(bar, *args, **options | {"disable": False, "file": io.StringIO()})
        bars[options["desc"]] = bar, options["delay"]

    monkeypatch.setattr(utils.tqdm, "__init__", shown)
    update = hub.update(REPO)
    sizes = {entry.path.rpartition("/")[2]: entry.size for entry in update.fetched}
    assert sizes
    for name, size in sizes.items():
        bar, delay = bars[name]
        assert (bar.total, bar.n, bar.unit, delay) == (
            size,
            size,
            "B",
            1,
        )  # seconds: small has none


def test_the_next_update_fetches_only_what_is_new(published, small):
    hub.update(REPO)
    hub.publish(small[1], REPO)
    published.forget()
    update = hub.update()  # of the repository of the active index
    new = {"shards/00001.rows.parquet", "shards/00001.vectors.safetensors", "tombstones.json"}
    assert {entry.path for entry in update.fetched} == new
    assert not published.asked("GET", "shards/00000")
    files = ("shards/", "tombstones.json", "manifest.json")
    manifest = (small[1] / "manifest.json").stat().st_size
    assert sum(map(published.sent, files)) == update.size + manifest
    assert names(active()) == [f"timm:net{number}" for number in range(5, 230)]


def test_an_update_without_news_fetches_nothing(published):
    hub.update(REPO)
    published.forget()
    assert hub.update(REPO).fetched == ()
    assert published.sent("resolve") == published.sent("cdn") == 0


def test_a_dry_run_changes_nothing(published, home):
    update = hub.update(REPO, dry_run=True)
    assert not update.done and len(update.fetched) == 2
    assert not published.asked("GET", "/cdn/")
    assert read_pointers() == ()
    assert active().source == "embedded"


def test_back_to_an_older_revision_and_forth(published, small):
    hub.update(REPO)
    hub.publish(small[1], REPO, tag="v2")
    hub.update()
    assert len(active()) == 225
    published.forget()
    hub.update(revision="v1")
    assert len(active()) == 200
    assert published.sent("/cdn/") == 0  # the cache has it
    hub.update(revision="v2")
    assert len(active()) == 225


def test_the_pointer_is_one_file_and_names_the_one_before(published, small, home):
    first = hub.update(REPO).release.commit
    hub.publish(small[1], REPO)
    second = hub.update().release.commit
    assert pointer_path() == home / "nar" / "active.json"
    said = json.loads(pointer_path().read_text())
    assert (said["active"]["commit"], said["previous"]["commit"]) == (second, first)
    assert said["active"]["repository"] == REPO
    assert [path.name for path in pointer_path().parent.iterdir()] == ["active.json"]


def test_the_embedded_index_answers_again_and_the_downloaded_one_after_that(published, home):
    def said(*words):
        return CliRunner().invoke(app, ["index", "use", *words])

    hub.update(REPO)
    assert len(active()) == 200
    published.log.clear()
    assert "The index embedded answers" in said("embedded").stdout
    assert active().source == "embedded"
    assert said("embedded").exit_code == 0  # twice is once
    assert f"The index {REPO}@" in said(REPO).stdout
    assert len(active()) == 200
    assert not published.log  # nobody was asked
    assert f"`nar index update {REPO}2` fetches it" in str(said(f"{REPO}2").exception)
    assert len(active()) == 200


def test_without_a_network_the_cache_answers(published, small, monkeypatch, caplog):
    from huggingface_hub import constants

    hub.update(REPO)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    published.forget()
    assert len(active()) == 200
    assert len(hub.open_index(REPO, None, ArchitectureIndex.load)) == 200
    assert len(hub.open_index(REPO, "main", ArchitectureIndex.load)) == 200
    with pytest.raises(IndexUnavailable) as caught:
        hub.update()
    assert "HF_HUB_OFFLINE=1" in str(caught.value)
    assert f"The index {REPO}@" in str(caught.value) and "200 graphs" in str(caught.value)
    assert not published.log and not caplog.records


def test_a_damaged_cache_falls_back_and_says_so(published, small, caplog):
    hub.update(REPO)
    hub.publish(small[1], REPO)
    update = hub.update()
    damaged = (update.release.folder / "shards/00001.rows.parquet").resolve()
    damaged.write_bytes(damaged.read_bytes()[:-1])
    assert len(active()) == 200  # the one before
    assert len(active()) == 200  # and nothing is said twice
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "00001.rows.parquet" in record.message and "`nar index update`" in record.message
    assert "answers: revision 2026.11.20" in record.message

    hub.update()  # what the message said
    assert len(active()) == 225


def test_verify_looks_at_the_index_that_should_answer(published):
    """And not at the one that answers in its stead."""
    folder = hub.update(REPO).release.folder
    (folder / "shards/00000.rows.parquet").resolve().write_bytes(b"")
    assert active().source == "embedded"
    result = CliRunner().invoke(app, ["index", "verify"])
    assert isinstance(result.exception, IndexUnavailable)
    assert "shards/00000.rows.parquet is damaged" in str(result.exception)


def test_a_removed_cache_leaves_the_embedded_index(published, home, caplog):
    from shutil import rmtree

    hub.update(REPO)
    rmtree(home / "hub")
    assert active().source == "embedded"
    assert "The index embedded answers" in caplog.text
    hub.update()
    assert len(active()) == 200


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b'{"active": 1}',
        b'{"active": {"repository": "../..", "commit": "x"}, "previous": null}',
        b'{"active": {"repository": "a/b", "commit": "../../../etc", "revision": "main", '
        b'"updated": "2026-11-21T00:00:00+00:00"}, "previous": null}',
    ],
)
def test_an_unreadable_pointer_is_said_and_mended(published, content, caplog):
    pointer_path().parent.mkdir(parents=True)
    pointer_path().write_bytes(content)
    assert active().source == "embedded"
    assert str(pointer_path()) in caplog.text and "`nar index update` writes it" in caplog.text
    hub.update(REPO)
    assert len(active()) == 200


def test_a_repository_is_opened_without_becoming_the_active_one(published, small):
    index = hub.open_index(REPO, None, ArchitectureIndex.load)
    assert len(index) == 200 and read_pointers() == ()
    hub.publish(small[1], REPO)
    published.forget()
    assert len(hub.open_index(REPO, None, ArchitectureIndex.load)) == 200  # as it was cached
    assert not published.log
    assert len(hub.open_index(REPO, "v1", ArchitectureIndex.load)) == 200


def test_a_damaged_repository_of_the_cache_is_fetched_again(published, monkeypatch):
    from huggingface_hub import constants

    folder = hub.open_index(REPO, None, ArchitectureIndex.load).contents.folder
    damaged = (folder / "shards/00000.vectors.safetensors").resolve()
    content = damaged.read_bytes()
    damaged.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with monkeypatch.context() as patch:
        patch.setattr(constants, "HF_HUB_OFFLINE", True)
        with pytest.raises(
            IndexUnavailable, match=r"00000\.vectors.* is damaged.*HF_HUB_OFFLINE=1"
        ):
            hub.open_index(REPO, None, ArchitectureIndex.load)
    assert len(hub.open_index(REPO, None, ArchitectureIndex.load)) == 200
    assert damaged.read_bytes() == content
    assert read_pointers() == ()


def test_a_revision_without_a_place(published, small):
    hub.update(REPO)
    hub.publish(small[1], REPO, tag="v2")
    read = ArchitectureIndex.load
    embedded = ArchitectureIndex.load(EMBEDDED).manifest.revision
    assert hub.open_index(None, embedded, read).source == "embedded"
    assert len(hub.open_index(None, "2026.11.20", read)) == 200  # the active one's own name
    assert len(hub.open_index(None, "v2", read)) == 225


def test_the_cache_folder_is_the_one_that_the_library_documents(published):
    from huggingface_hub import try_to_load_from_cache

    hub.update(REPO)
    (pointer,) = read_pointers()
    found = try_to_load_from_cache(REPO, "manifest.json", repo_type="dataset")
    assert Path(found).parent == pointer.folder


def test_an_index_for_another_encoder_or_fingerprint_does_not_become_active(
    client, small, tmp_path
):
    def variant(**fields):
        return ArchitectureIndex(ArchitectureIndex.load(small[0]).contents.stating(**fields))

    variant(encoder="other", encoder_sha256="0" * 64).save(tmp_path / "encoder")
    variant(fingerprint="nar0").save(tmp_path / "fingerprint")
    for name, reason in (
        ("encoder", "wants the encoder other"),
        ("fingerprint", "has fingerprints of version nar0"),
    ):
        hub.publish(tmp_path / name, f"owner/{name}")
        with pytest.raises(IndexIncompatible, match=reason):
            hub.update(f"owner/{name}")
        assert read_pointers() == ()


@pytest.fixture
def encoder(tmp_path):
    """The folder of an encoder of 32 dimensions."""
    folder = tmp_path / "own-encoder"
    folder.mkdir()
    small = ArchitectureEncoder(5, 8, hidden=8, dimensions=32)
    save_encoder(small, folder, recipe="own")
    return folder


def with_encoder(index, encoder, folder):
    """The index as its own encoder's, saved."""
    own = index.contents.stating(encoder="own", encoder_sha256=encoder_sha256(encoder))
    ArchitectureIndex(own).save(folder, encoder=encoder)
    return folder


def test_an_index_that_brings_its_encoder_along_answers(client, small, encoder, tmp_path):
    own = with_encoder(ArchitectureIndex.load(small[0]), encoder, tmp_path / "own")
    hub.publish(own, REPO)
    hub.update(REPO)
    assert active().manifest.encoder == "own"


def test_a_damaged_encoder_in_the_cache_is_not_asked(published, small, encoder, tmp_path, caplog):
    hub.update(REPO)
    own = with_encoder(ArchitectureIndex.load(small[0]), encoder, tmp_path / "own")
    hub.publish(own, REPO)
    weights = hub.update().release.folder / "encoder.safetensors"
    weights.resolve().write_bytes(weights.read_bytes()[:-1])
    assert active().manifest.encoder != "own"
    assert "encoder.safetensors is damaged" in caplog.text and "`nar index update`" in caplog.text
    hub.update()
    assert active().manifest.encoder == "own"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"labels_version": "another"}, "made for labels of version another"),
        ({"sha256": "0" * 64}, "does not have the sha256"),
        ({"encoder": {"labels": 10**12}}, "is not the encoder that"),
        ({"encoder": {"command": "rm"}}, "is not the encoder that"),
        (None, "does not describe an encoder"),
    ],
)
def test_an_encoder_that_nobody_can_use_does_not_land(
    published, small, encoder, tmp_path, changes, reason
):
    """The manifest vouches for it, as that of a hostile or careless publisher would."""
    hub.update(REPO)
    before = read_pointers()
    index = ArchitectureIndex.load(small[0])
    config = json.loads((encoder / "encoder.json").read_text())
    content = [] if changes is None else config | changes
    own = index.contents.stating(encoder="own", encoder_sha256=config["sha256"])
    (encoder / "encoder.json").write_text(json.dumps(content))
    ArchitectureIndex(own).save(tmp_path / "own", encoder=encoder)
    hub.publish(tmp_path / "own", REPO)
    with pytest.raises((IndexUnavailable, IndexIncompatible), match=reason):
        hub.update()
    assert read_pointers() == before
    assert len(active()) == 200


def test_an_encoder_of_other_dimensions_does_not_land(published, small, encoder, tmp_path):
    save_encoder(ArchitectureEncoder(5, 8, hidden=8, dimensions=5), encoder, recipe="own")
    hub.publish(with_encoder(ArchitectureIndex.load(small[0]), encoder, tmp_path / "own"), REPO)
    with pytest.raises(IndexIncompatible, match=r"5 dimensions.* is not the one that made"):
        hub.update(REPO)
    assert active().source == "embedded"


def test_an_active_index_that_an_upgrade_left_behind_does_not_stop_queries(
    published, small, caplog
):
    """The pointer leads to an index of another encoder, as when the embedded one was replaced."""
    hub.update(REPO)
    manifest = small[0] / "manifest.json"
    fields = json.loads(manifest.read_text())
    del fields["sha256"]
    fields["encoder"] = {"id": "of-before", "sha256": "0" * 64}
    fields["sha256"] = own_hash(fields)
    cached = (read_pointers()[0].folder / "manifest.json").resolve()
    cached.write_text(json.dumps(fields))
    assert active().source == "embedded"
    assert "wants the encoder of-before" in caplog.text and "`nar index update`" in caplog.text


def test_the_source_of_a_downloaded_index_is_its_repository_and_commit(published):
    commit = hub.update(REPO).release.commit
    index = first_readable(hub.ArchitectureIndex.load)
    assert index.source == f"{REPO}@{commit[:8]}"
    assert hub.ArchitectureIndex.load(EMBEDDED).source == "embedded"


def test_readers_during_an_update_see_the_old_index_or_the_new_one(behind):
    behind.fail(path="/cdn/", pause=0.2)
    seen, problems, landed = set(), [], threading.Event()

    def read():
        try:
            while not landed.is_set():
                seen.add((len(index := active()), index.manifest.revision))
        except Exception as error:
            problems.append(error)

    readers = [threading.Thread(target=read) for _ in range(8)]
    for reader in readers:
        reader.start()
    hub.update()
    seen.add((len(index := active()), index.manifest.revision))
    landed.set()
    for reader in readers:
        reader.join()
    assert not problems
    assert seen == {(200, "2026.11.20"), (225, "2026.11.21")}
