"""From a folder to the Hub: one commit, nothing lost, and what a second publisher is told."""

import threading
from dataclasses import replace
from shutil import copytree

import pytest
from huggingface_hub import DatasetCard, HfApi

from nar_plugin import hub
from nar_plugin.errors import IndexUnavailable, NarError
from nar_plugin.index import ArchitectureIndex

REPO = "owner/architectures"


def head():
    return HfApi().repo_info(REPO, repo_type="dataset").sha


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_publication_is_one_commit_and_a_tag(client, small):
    done = hub.publish(small[0], REPO, tag="v1")
    api = HfApi()
    commits = api.list_repo_commits(REPO, repo_type="dataset")
    assert [commit.title for commit in commits] == ["Index 2026.11.20: 200 graphs", "initial"]
    assert commits[0].commit_id == done.commit == head()
    refs = api.list_repo_refs(REPO, repo_type="dataset")
    assert [(tag.name, tag.target_commit) for tag in refs.tags] == [("v1", done.commit)]
    held = client.storage.repository("datasets", REPO).files("main")
    assert set(held) == {
        ".gitattributes",
        "README.md",
        "manifest.json",
        "shards/00000.rows.parquet",
        "shards/00000.vectors.safetensors",
    }


def test_only_new_shards_are_sent(published, small):
    done = hub.publish(small[1], REPO)
    new = {"shards/00001.rows.parquet", "shards/00001.vectors.safetensors", "tombstones.json"}
    assert set(done.sent) == new
    assert len(published.asked("PUT", "/lfs/")) == 2
    assert len(published.asked("POST", "/commit/")) == 1


def test_publishing_again_changes_nothing(published, small):
    before = head()
    done = hub.publish(small[0], REPO, tag="v1")
    assert (done.commit, done.sent) == (before, ())
    assert not published.asked("POST", "/commit/")


def test_a_publication_that_ended_before_its_tag_is_repeated(client, small):
    client.fail(path="/tag/", status=500)
    with pytest.raises(IndexUnavailable, match=r"tag v1 of owner/architectures .* status 500"):
        hub.publish(small[0], REPO, tag="v1")
    client.faults.clear()
    commit = head()
    assert hub.publish(small[0], REPO, tag="v1").commit == commit
    refs = HfApi().list_repo_refs(REPO, repo_type="dataset")
    assert [tag.target_commit for tag in refs.tags] == [commit]


def test_a_tag_never_moves(published, small):
    before = head()
    with pytest.raises(NarError, match=r"has the tag v1 already.*another --tag"):
        hub.publish(small[1], REPO, tag="v1")
    assert head() == before


def test_the_card_says_what_is_inside_and_whose_it_is(published):
    card = DatasetCard.load(REPO)
    assert card.data.license == "apache-2.0"
    assert "nar-plugin" in card.data.tags
    assert "# 200 known neural architectures" in card.text
    assert '`nar_plugin.load_index("owner/architectures")`'.strip("`") in card.text
    assert "| Apache-2.0 | 200 |" in card.text and "| timm | 200 |" in card.text
    assert "| family0 | 29 |" in card.text  # 200 names over 7 families


def test_the_card_shows_markup_of_an_index_as_text(client, small, tmp_path):
    evil = "<script>alert(1)</script>|"
    index = ArchitectureIndex.load(small[0])
    rows = [replace(row, family=evil, licence=evil) for row in index.rows()]
    index = index.remove([row.fingerprint for row in rows]).add(rows, index.vectors)
    ArchitectureIndex(index.contents.stating(encoder=evil)).save(tmp_path / "evil", revision=evil)
    hub.publish(tmp_path / "evil", REPO)
    text = DatasetCard.load(REPO).text
    assert "<" not in text.partition("## Limits")[0]
    assert "| revision | ?script?alert(1)??script?? |" in text
    assert "| ?script?alert(1)??script?? | 200 |" in text


def other_revision(folder, tmp_path):
    """What somebody else made of the same first revision."""
    theirs = tmp_path / "theirs"
    copytree(folder, theirs)
    index = ArchitectureIndex.load(theirs)
    index.remove(["nar2:00000063"]).save(theirs, revision="theirs")
    return theirs


def test_a_later_publisher_of_the_same_base_does_not_lose_the_earlier_ones_rows(
    published, small, tmp_path
):
    theirs = other_revision(small[0], tmp_path)
    mine = contents(small[1])
    hub.publish(theirs, REPO)
    before = head()
    with pytest.raises(NarError) as caught:
        hub.publish(small[1], REPO)
    message = str(caught.value)
    assert "the tombstone of nar2:00000063" in message and "`nar index update`" in message
    assert head() == before and contents(small[1]) == mine

    hub.publish(small[1], REPO, replace=True)  # when it is meant
    assert HfApi().repo_info(REPO, repo_type="dataset", revision=before).sha == before


def test_a_lost_shard_is_refused_and_named(published, small, tmp_path):
    hub.publish(small[1], REPO)
    with pytest.raises(NarError, match=r"lacks: shards/00001\.rows\.parquet, .*--replace"):
        hub.publish(small[0], REPO)


def test_two_publishers_at_once(published, small, tmp_path):
    """Both see the same head; the pause lets neither commit before the other has looked."""
    folders = [small[1], other_revision(small[0], tmp_path)]
    kept = [contents(folder) for folder in folders]
    looked = threading.Barrier(2, timeout=30)
    outcomes = [None, None]

    def publish(place):
        try:
            outcomes[place] = hub.publish(folders[place], REPO, replace=True).commit
        except NarError as error:
            outcomes[place] = str(error)

    held = published.answer

    def answer(request):
        if "/preupload/" in request.path:
            looked.wait()
        return held(request)

    published.answer = answer
    threads = [threading.Thread(target=publish, args=(place,)) for place in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (loser,) = [text for text in outcomes if " " in text]
    assert head() in outcomes
    assert "Somebody published to owner/architectures" in loser and "nothing of it is lost" in loser
    assert [contents(folder) for folder in folders] == kept
    assert len(hub.open_index(REPO, None, ArchitectureIndex.load)) in (225, 199)


def test_a_damaged_folder_is_not_published(client, small, tmp_path):
    folder = tmp_path / "damaged"
    copytree(small[0], folder)
    file = folder / "shards" / "00000.rows.parquet"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(IndexUnavailable, match=r"00000\.rows\.parquet"):
        hub.publish(folder, REPO)
    assert not client.log


@pytest.mark.parametrize(
    ("token", "remedy"),
    [("reader", "your token may not do this.*`hf auth login`"), ("stolen", "`hf auth login`")],
)
def test_who_may_not_write_is_told(published, small, token, remedy):
    with pytest.raises(IndexUnavailable, match=remedy):
        hub.publish(small[1], REPO, token=token)


def test_a_name_that_is_no_repository(client, small):
    with pytest.raises(NarError, match="expected owner/name"):
        hub.publish(small[0], "just-a-name")
