"""The encoder on the Hub: two files and a card, which is the one that the index names."""

from pathlib import Path
from shutil import copy

import pytest
from huggingface_hub import HfApi, ModelCard, snapshot_download

from nar_plugin import hub
from nar_plugin.encoder import encoder_sha256, load_encoder
from nar_plugin.errors import IndexUnavailable, NarError
from nar_plugin.index import EMBEDDED

REPO = "owner/encoder"


@pytest.fixture
def folder(tmp_path):
    for name in ("encoder.json", "encoder.safetensors"):
        copy(EMBEDDED / name, tmp_path / name)
    return tmp_path


def test_a_published_encoder_is_the_one_that_was_trained(client):
    done = hub.publish_encoder(EMBEDDED, REPO, tag="2026.11.21")
    fetched = snapshot_download(REPO, revision="2026.11.21")

    assert encoder_sha256(Path(fetched)) == encoder_sha256(EMBEDDED)
    theirs, ours = (load_encoder(place).state_dict() for place in (Path(fetched), EMBEDDED))
    assert all((theirs[name] == ours[name]).all() for name in ours)
    assert set(done.sent) == {"encoder.json", "encoder.safetensors"}


def test_the_card_names_library_licence_and_weights(client):
    hub.publish_encoder(EMBEDDED, REPO)
    card = ModelCard.load(REPO)
    assert (card.data.library_name, card.data.license) == ("nar-plugin", "apache-2.0")
    assert f"`{encoder_sha256(EMBEDDED)}`" in card.text
    assert "Neural Architecture Retrieval" in card.text


def test_publishing_again_makes_no_commit(client):
    first = hub.publish_encoder(EMBEDDED, REPO, tag="v1")
    again = hub.publish_encoder(EMBEDDED, REPO, tag="v1")
    assert (again.commit, again.sent) == (first.commit, ())
    assert len(HfApi().list_repo_commits(REPO)) == 2  # that of the new repository, and ours


def test_weights_that_are_not_those_of_the_config(client, folder):
    weights = folder / "encoder.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"!")
    with pytest.raises(IndexUnavailable, match=r"encoder\.safetensors does not have the sha256"):
        hub.publish_encoder(folder, REPO)
    weights.unlink()
    with pytest.raises(IndexUnavailable, match="`nar train` makes one"):
        hub.publish_encoder(folder, REPO)
    assert not client.log


def test_a_tag_never_moves(client, folder):
    hub.publish_encoder(folder, REPO, tag="v1")
    HfApi().upload_file(path_or_fileobj=b"x", path_in_repo="notes.txt", repo_id=REPO)
    with pytest.raises(NarError, match="has the tag v1 already"):
        hub.publish_encoder(folder, REPO, tag="v1")
