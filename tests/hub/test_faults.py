"""What goes wrong on the way: nothing half-new is read, and the message says what helps."""

import json

import pytest

from nar_plugin import hub
from nar_plugin.errors import IndexIncompatible, IndexUnavailable
from nar_plugin.hub.answering import first_readable
from nar_plugin.hub.pointer import read_pointers
from nar_plugin.index import ArchitectureIndex

REPO = "owner/architectures"
ROWS, VECTORS = "shards/00001.rows.parquet", "shards/00001.vectors.safetensors"
ENCODER, DERIVED = "encoder.safetensors", "derived/ivf-pq.faiss"
FILES = ("manifest.json", "tombstones.json", ROWS, VECTORS, "encoder.json", ENCODER, DERIVED)
PLACES = {"head": 0.0, "middle": 0.5, "tail": 1.0}
TENTHS = [
    pytest.param(tenth, marks=() if tenth in (0, 5) else pytest.mark.slow) for tenth in range(10)
]


def size_of(server, path):
    return server.storage.repository("datasets", REPO).entry("main", path).size


def refused(kind=IndexUnavailable):
    """The message of an update that fails and changes nothing; the old index answers."""
    before = read_pointers()
    with pytest.raises(kind) as caught:
        hub.update()
    assert read_pointers() == before
    assert len(first_readable(ArchitectureIndex.load)) == 200
    message = str(caught.value)
    assert f"The index {REPO}@{before[0].commit[:8]} answers: revision 2026.11.20" in message
    return message


def mended(server):
    """The update that follows when nothing is wrong any more."""
    server.faults.clear()
    hub.update()
    assert len(first_readable(ArchitectureIndex.load)) == 225


@pytest.mark.parametrize("tenth", TENTHS)
@pytest.mark.parametrize("path", [ROWS, VECTORS, ENCODER, DERIVED])
def test_a_connection_that_is_cut_goes_on_where_it_was(holding, path, tenth):
    size = size_of(holding, path)
    holding.fail(path=f"/cdn/.*/{path}", methods=("GET",), cut=size * tenth // 10, times=1)
    hub.update()
    assert holding.sent(f"/{path}") == size
    assert len(first_readable(ArchitectureIndex.load)) == 225


@pytest.mark.parametrize("tenth", TENTHS)
@pytest.mark.parametrize("path", ["manifest.json", "tombstones.json", "encoder.json"])
def test_a_small_file_that_is_cut_is_asked_for_again(holding, path, tenth):
    cut = size_of(holding, path) * tenth // 10
    holding.fail(path=f"/resolve/.*/{path}", methods=("GET",), cut=cut, times=1)
    hub.update()
    assert holding.sent(f"/{path}") <= cut + size_of(holding, path)
    assert len(first_readable(ArchitectureIndex.load)) == 225


@pytest.mark.parametrize("tenth", TENTHS)
def test_a_server_that_is_gone_after_a_tenth(behind, tenth):
    """The update ends; the next one fetches what is missing of that file, and of the others."""
    size = size_of(behind, VECTORS)
    behind.fail(path=f"/cdn/.*/{VECTORS}", methods=("GET",), cut=size * tenth // 10, times=1)
    behind.fail(path=VECTORS, methods=("GET",), cut=0)
    message = refused()
    assert VECTORS in message and "What came is kept: run the command again" in message
    mended(behind)
    assert behind.sent(f"/{VECTORS}") == size
    assert behind.sent(f"/{ROWS}") == size_of(behind, ROWS)


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("path", FILES)
def test_a_flipped_bit_is_seen_and_the_file_fetched_again(holding, path, where):
    place = int(PLACES[where] * (size_of(holding, path) - 1))
    fault = holding.fail(path=path, methods=("GET",), flip=place)
    message = refused()
    assert path in message and "update" in message
    assert fault.times is None
    mended(holding)


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("path", FILES)
def test_a_bit_flipped_once_costs_one_more_download(holding, path, where):
    place = int(PLACES[where] * (size_of(holding, path) - 1))
    large = "/cdn/.*/" if not path.endswith(".json") else ""
    holding.fail(path=large + path, methods=("GET",), flip=place, times=1)
    hub.update()
    assert len(first_readable(ArchitectureIndex.load)) == 225


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("path", FILES)
def test_a_truncated_file_is_seen(holding, path, share):
    holding.fail(path=path, truncate=int(share * (size_of(holding, path) - 2)))
    message = refused()
    assert path in message and ("again" in message or "`nar index update`" in message)
    mended(holding)


def commit(server, added, deleted=()):
    server.storage.repository("datasets", REPO).commit("main", added, deleted)


@pytest.mark.parametrize("path", FILES[1:])
def test_a_file_with_another_sha256_than_the_manifest_says(holding, path):
    repository = holding.storage.repository("datasets", REPO)
    content = bytearray(repository.read("main", path))
    content[-2] ^= 1
    entry = bytes(content)
    if not path.endswith(".json"):
        entry = repository.large(holding.storage.put(entry))
    commit(holding, {path: entry})
    message = refused()
    assert path in message and "its manifest lists" in message and "older --revision" in message
    hub.update(revision="v1")  # what it said


@pytest.mark.parametrize("path", FILES[1:])
def test_a_file_that_the_repository_lacks(holding, path):
    commit(holding, {}, (path,))
    message = refused()
    assert f"{path} of {REPO}@" in message and "it is missing" in message
    assert not holding.asked("GET", "/cdn/")  # nothing was fetched in vain


def test_a_repository_without_an_index(behind):
    commit(behind, {}, ("manifest.json",))
    assert f"{REPO} has no manifest.json" in refused()


@pytest.mark.parametrize(("field", "value"), [("schema", 3), ("minimum_client", "99.1")])
def test_a_manifest_from_the_future(behind, field, value):
    from nar_plugin.index.store.manifest import own_hash

    fields = json.loads(behind.storage.repository("datasets", REPO).read("main", "manifest.json"))
    fields.pop("sha256")
    fields |= {field: value}
    fields["sha256"] = own_hash(fields)
    commit(behind, {"manifest.json": json.dumps(fields).encode()})
    message = refused(IndexIncompatible)
    assert "manifest.json" in message and "`pip install --upgrade nar-plugin`" in message


STAGES = {
    "manifest.json": "/resolve/main/manifest.json",
    "tombstones.json": "/resolve/.*/tombstones.json",
    VECTORS: f"/resolve/.*/{VECTORS}",
}
REMEDIES = {
    401: "`hf auth login`, or HF_TOKEN",
    403: "`hf auth login`, or HF_TOKEN",
    404: "status 404|has no|no dataset repository",
    429: "wait some minutes",
    500: "try again later",
}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("status", REMEDIES)
def test_a_refusal_is_told_with_its_remedy(behind, status, stage):
    import re

    behind.fail(path=STAGES[stage], status=status)
    message = refused()
    assert REPO in message and stage in message
    assert re.search(REMEDIES[status], message)
    mended(behind)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_refusal_of_a_file_is_sat_out(behind, status):
    behind.fail(path=f"/resolve/.*/{ROWS}", status=status, times=2, retry_after=1)
    hub.update()
    assert len(first_readable(ArchitectureIndex.load)) == 225


def test_a_gated_and_a_missing_repository(behind):
    from nar_plugin.hub.download import find_release
    from nar_plugin.remote.cache import Place

    behind.storage.repository("datasets", REPO).describe(gated=True)
    with pytest.raises(IndexUnavailable, match=f"ask for access at {behind.url}/datasets/{REPO}"):
        find_release(Place(REPO, token="reader"))
    with pytest.raises(IndexUnavailable, match="no dataset repository owner/nothing"):
        hub.open_index("owner/nothing", None, ArchitectureIndex.load)
    with pytest.raises(IndexUnavailable, match=r"no revision v9: a branch, a tag or a commit"):
        hub.open_index(REPO, "v9", ArchitectureIndex.load)


def test_a_server_that_is_gone(behind, monkeypatch):
    from huggingface_hub import constants

    gone = "http://127.0.0.1:9"  # discard: nobody listens
    template = gone + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "ENDPOINT", gone)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    message = refused()
    assert "http://127.0.0.1:9" in message and "when the network is there" in message
