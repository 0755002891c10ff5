"""The loopback Hub, seen by the real huggingface_hub as its documentation says the Hub behaves."""

import hashlib
from pathlib import Path

import pytest
from huggingface_hub import (
    CommitOperationAdd,
    CommitOperationDelete,
    HfApi,
    constants,
    hf_hub_download,
)
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

REPO = "owner/things"
LARGE = bytes(range(256)) * 4096  # 1 MiB


@pytest.fixture
def api(client):
    api = HfApi()
    api.create_repo(REPO, repo_type="dataset")
    return api


def add(path, content):
    return CommitOperationAdd(path, content)


def commit(api, *operations, **fields):
    fields = {"repo_type": "dataset", "commit_message": "more"} | fields
    return api.create_commit(REPO, operations, **fields).oid


def download(path, **fields):
    return Path(hf_hub_download(REPO, path, repo_type="dataset", **fields)).read_bytes()


def test_what_is_committed_is_downloaded(api):
    commit(api, add("note.txt", b"small"), add("shards/0.bin", LARGE), add("README.md", b"# Hi\n"))
    assert download("note.txt") == b"small"
    assert download("shards/0.bin") == LARGE
    listed = {
        file.path: file for file in api.list_repo_tree(REPO, repo_type="dataset", recursive=True)
    }
    assert set(listed) == {".gitattributes", "README.md", "note.txt", "shards/0.bin"}
    # `git hash-object` of "small", and a large file's own sha256
    assert listed["note.txt"].blob_id == "64c3ecd7abb014643a372e0155b41cfca014c01f"
    assert listed["shards/0.bin"].lfs.sha256 == hashlib.sha256(LARGE).hexdigest()


def test_a_large_file_goes_in_parts_when_the_server_asks(api, client):
    client.part = 300_000
    commit(api, add("shards/0.bin", LARGE))
    assert len(client.asked("PUT", "/lfs/")) == 4
    assert download("shards/0.bin") == LARGE


def test_content_that_is_there_is_not_sent_again(api, client):
    commit(api, add("a.bin", LARGE))
    puts = len(client.asked("PUT"))
    commit(api, add("b.bin", LARGE))
    assert len(client.asked("PUT")) == puts == 1
    got = len(client.asked("GET", "/cdn/"))
    download("a.bin")
    download("b.bin")  # the same blob: the cache needs no second body
    assert len(client.asked("GET", "/cdn/")) == got + 1


def test_a_commit_on_an_old_parent_is_refused(api):
    first = commit(api, add("a.txt", b"1"))
    commit(api, add("a.txt", b"2"), parent_commit=first)
    with pytest.raises(HfHubHTTPError) as caught:
        commit(api, add("a.txt", b"3"), parent_commit=first)
    assert caught.value.response.status_code == 412
    assert download("a.txt") == b"2"


def test_old_commits_and_tags_stay(api):
    first = commit(api, add("a.txt", b"1"), add("b.txt", b"b"))
    api.create_tag(REPO, tag="v1", repo_type="dataset")
    commit(api, add("a.txt", b"2"), CommitOperationDelete("b.txt"))
    assert download("a.txt") == b"2"
    assert download("a.txt", revision="v1") == download("a.txt", revision=first) == b"1"
    assert download("b.txt", revision=first) == b"b"
    refs = api.list_repo_refs(REPO, repo_type="dataset")
    assert {tag.name: tag.target_commit for tag in refs.tags} == {"v1": first}
    with pytest.raises(HfHubHTTPError, match="409"):
        api.create_tag(REPO, tag="v1", repo_type="dataset")
    with pytest.raises(EntryNotFoundError):
        download("b.txt")
    with pytest.raises(RevisionNotFoundError):
        download("a.txt", revision="v9")


def test_who_may_do_what(api):
    assert api.whoami()["name"] == "owner"
    with pytest.raises(HfHubHTTPError, match="409"):
        api.create_repo(REPO, repo_type="dataset")
    with pytest.raises(RepositoryNotFoundError):
        api.repo_info("owner/nothing", repo_type="dataset")
    with pytest.raises(HfHubHTTPError, match="403"):
        HfApi(token="reader").create_tag(REPO, tag="mine", repo_type="dataset")
    with pytest.raises(HfHubHTTPError, match="401"):
        HfApi(token="stolen").repo_info(REPO, repo_type="dataset")


def test_private_and_gated_repositories(api, client):
    api.create_repo("owner/secret", repo_type="dataset", private=True)
    assert api.repo_info("owner/secret", repo_type="dataset").private
    with pytest.raises(RepositoryNotFoundError):
        HfApi(token=False).repo_info("owner/secret", repo_type="dataset")
    client.storage.repository("datasets", REPO).describe(gated=True)
    with pytest.raises(GatedRepoError):
        download(".gitattributes", token="reader")


def test_a_cut_download_goes_on_where_it_was_cut(api, client, monkeypatch):
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 100_000)  # the client keeps whole chunks
    commit(api, add("shards/0.bin", LARGE))
    client.fail(path="/cdn/", methods=("GET",), times=1, cut=400_000)
    assert download("shards/0.bin") == LARGE
    first, second = client.asked("GET", "/cdn/")
    assert (first.range, second.range) == ("", "bytes=400000-")
    assert first.sent + second.sent == len(LARGE)


def test_listings_come_in_pages(client):
    api = HfApi()
    for number in range(5):
        api.create_repo(f"owner/model-{number}")
        client.storage.repository("models", f"owner/model-{number}").describe(downloads=number)
    client.page = 2
    names = [model.id for model in api.list_models(sort="downloads")]
    assert names == [f"owner/model-{number}" for number in (4, 3, 2, 1, 0)]
    assert len(client.asked("GET", "/api/models")) == 3
    assert [model.id for model in api.list_models(sort="downloads", limit=1)] == ["owner/model-4"]
