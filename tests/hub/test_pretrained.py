"""`from_pretrained`, `save_pretrained` and `push_to_hub`, with the arguments that people expect."""

from shutil import copy

import numpy as np
import pytest
from huggingface_hub import HfApi

from nar_plugin import hub
from nar_plugin.errors import IndexUnavailable
from nar_plugin.hub.pointer import read_pointers
from nar_plugin.index import EMBEDDED

REPO = "owner/architectures"
Index = hub.ArchitectureIndex


def test_a_revision_of_the_hub_is_read_and_does_not_become_the_active_one(published, small):
    hub.publish(small[1], REPO, tag="v2")
    assert len(Index.from_pretrained(REPO)) == 225
    assert len(Index.from_pretrained(REPO, revision="v1")) == 200
    assert read_pointers() == ()


def test_the_newest_is_asked_for_unless_told_not_to(published, small):
    assert len(Index.from_pretrained(REPO)) == 200
    hub.publish(small[1], REPO)
    published.forget()
    assert len(Index.from_pretrained(REPO, local_files_only=True)) == 200
    assert not published.log
    assert len(Index.from_pretrained(REPO)) == 225


def test_a_cache_of_its_own(published, tmp_path, home):
    with pytest.raises(IndexUnavailable, match="leave local_files_only out"):
        Index.from_pretrained(REPO, cache_dir=tmp_path / "mine", local_files_only=True)
    Index.from_pretrained(REPO, cache_dir=tmp_path / "mine")
    assert not (home / "hub" / "datasets--owner--architectures").exists()
    again = Index.from_pretrained(REPO, cache_dir=tmp_path / "mine", local_files_only=True)
    assert len(again) == 200 and again.source.startswith(f"{REPO}@")


def test_a_private_repository_wants_a_token(client, small, monkeypatch):
    Index.from_pretrained(small[0]).push_to_hub("owner/secret", private=True)
    assert HfApi().repo_info("owner/secret", repo_type="dataset").private
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(IndexUnavailable, match=r"or it is private.*`hf auth login`"):
        Index.from_pretrained("owner/secret", token=False)
    assert len(Index.from_pretrained("owner/secret", token="reader")) == 200


def test_a_saved_index_takes_its_encoder_along(client, small, tmp_path):
    for name in ("encoder.json", "encoder.safetensors"):
        copy(EMBEDDED / name, tmp_path / name)
    Index.from_pretrained(small[0]).save(tmp_path / "with", encoder=tmp_path)
    Index.from_pretrained(tmp_path / "with").push_to_hub(REPO)
    fetched = Index.from_pretrained(REPO)
    fetched.save_pretrained(tmp_path / "again")
    again = Index.from_pretrained(tmp_path / "again")
    assert (tmp_path / "again" / "encoder.safetensors").read_bytes() == (
        EMBEDDED / "encoder.safetensors"
    ).read_bytes()
    assert np.array_equal(again.vectors, fetched.vectors)
    assert again.rows() == fetched.rows()
