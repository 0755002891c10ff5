"""The encoder on the Hub: two files and a card, which is the one that the index names."""

import json
from pathlib import Path
from shutil import copy

import pytest
import torch
from huggingface_hub import HfApi, ModelCard, PyTorchModelHubMixin, snapshot_download

from nar_plugin import hub
from nar_plugin.encoder import encoder_sha256, load_encoder
from nar_plugin.errors import IndexIncompatible, IndexUnavailable, NarError
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
    held = {"config.json", "encoder.json", "encoder.safetensors", "README.md", ".gitattributes"}
    assert set(HfApi().list_repo_files(REPO)) == held


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
    with pytest.raises(
        IndexUnavailable, match=r"encoder\.safetensors is missing or does not have the sha"
    ):
        hub.publish_encoder(folder, REPO)
    weights.unlink()
    with pytest.raises(IndexUnavailable, match=r"encoder\.safetensors is missing"):
        hub.publish_encoder(folder, REPO)
    assert not client.log


def test_a_tag_never_moves(client, folder):
    hub.publish_encoder(folder, REPO, tag="v1")
    HfApi().upload_file(path_or_fileobj=b"x", path_in_repo="notes.txt", repo_id=REPO)
    with pytest.raises(NarError, match="has the tag v1 already"):
        hub.publish_encoder(folder, REPO, tag="v1")


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_from_pretrained_and_back_is_the_same_encoder(client, tmp_path):
    hub.publish_encoder(EMBEDDED, REPO, tag="v1")
    encoder = hub.ArchitectureEncoder.from_pretrained(REPO, revision="v1")
    assert isinstance(encoder, PyTorchModelHubMixin) and not encoder.training
    read = torch.arange(6), torch.tensor([0, 2, 4]), torch.rand(6)
    torch.testing.assert_close(encoder(*read), load_encoder(EMBEDDED)(*read))

    encoder.save_pretrained(tmp_path / "saved")
    saved = files(tmp_path / "saved")
    for name in ("encoder.json", "encoder.safetensors"):  # the index names it by its sha256
        assert saved[name] == (EMBEDDED / name).read_bytes()
    assert set(saved) == {"encoder.json", "encoder.safetensors", "config.json", "README.md"}
    again = hub.ArchitectureEncoder.from_pretrained(tmp_path / "saved").push_to_hub(REPO)
    assert again.sent == ()  # what is there already makes no commit


def test_saved_and_pushed_in_one_call(client, tmp_path):
    encoder = hub.ArchitectureEncoder.from_pretrained(EMBEDDED)
    encoder.save_pretrained(tmp_path / "saved", repo_id=REPO, push_to_hub=True, tag="v1")
    fetched = Path(snapshot_download(REPO, revision="v1"))
    assert encoder_sha256(fetched) == encoder_sha256(EMBEDDED)
    with pytest.raises(NarError, match="knows no branch"):
        encoder.push_to_hub(REPO, branch="other")


def test_without_a_network_the_cache_answers(client, monkeypatch):
    from huggingface_hub import constants

    hub.publish_encoder(EMBEDDED, REPO)
    with pytest.raises(IndexUnavailable, match="the encoder of owner/encoder"):
        hub.ArchitectureEncoder.from_pretrained(REPO, local_files_only=True)
    hub.ArchitectureEncoder.from_pretrained(REPO)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert hub.ArchitectureEncoder.from_pretrained(REPO, local_files_only=True).dimensions == 512
    with pytest.raises(IndexUnavailable, match="no model repository owner/nothing"):
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        hub.ArchitectureEncoder.from_pretrained("owner/nothing")


def test_damaged_weights_in_the_cache_are_fetched_again(client):
    hub.publish_encoder(EMBEDDED, REPO)
    weights = Path(snapshot_download(REPO)) / "encoder.safetensors"
    weights.resolve().write_bytes(b"damaged")
    with pytest.raises(IndexUnavailable, match="does not have the sha256"):
        hub.ArchitectureEncoder.from_pretrained(REPO, local_files_only=True)
    assert hub.ArchitectureEncoder.from_pretrained(REPO).dimensions == 512


@pytest.mark.parametrize("labels", [10**13, 3, -1, "many"])
def test_a_config_that_is_not_of_the_weights(folder, labels):
    """It cannot have memory taken that the file does not fill."""
    config = json.loads((folder / "encoder.json").read_text())
    config["encoder"]["labels"] = labels
    (folder / "encoder.json").write_text(json.dumps(config))
    with pytest.raises(IndexIncompatible, match=r"is not the encoder that encoder\.json describes"):
        hub.ArchitectureEncoder.from_pretrained(folder)
