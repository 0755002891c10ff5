"""Publish an encoder: its two files and a card, as one commit of a model repository."""

from __future__ import annotations

import json
from pathlib import Path

from nar_plugin.errors import IndexUnavailable, NarError
from nar_plugin.hub.card import encoder_card
from nar_plugin.hub.download import described
from nar_plugin.hub.failures import explained
from nar_plugin.hub.publish import CARD, Published, unless_moved
from nar_plugin.hub.repository import MAIN, is_repository

KIND = "model"
CONFIG, WEIGHTS = "encoder.json", "encoder.safetensors"


def publish_encoder(
    folder: str | Path,
    repository: str,
    *,
    tag: str | None = None,
    private: bool | None = None,
    token: str | bool | None = None,
) -> Published:
    """Publish the encoder in a folder; the folder is only read.

    Example:
        ```python
        publish_encoder("runs/encoder", "owner/encoder", tag="2026.11.21")
        ```

    Args:
        folder: Holds `encoder.json` and `encoder.safetensors`, as `nar train` writes them; an
            index may lie beside them.
        repository: Created as a model repository when it does not exist.
        tag: Name of the release; of an index that it made the vectors of, for example.
        private: Whether a repository that is created is private; None for the account's default.
        token: A token with write access; None for the one of `hf auth login` or HF_TOKEN.

    Raises:
        NarError: Somebody published meanwhile, or the tag exists.
        IndexUnavailable: The folder holds no sound encoder, or the Hub did not answer.
    """
    from huggingface_hub import CommitOperationAdd, HfApi

    if not is_repository(repository):
        raise NarError(f"{repository!r} is no repository: expected owner/name.")
    folder = Path(folder)
    config = _sound_config(folder)
    api = HfApi(token=token)
    with explained(repository, "a new repository"):
        api.create_repo(repository, repo_type=KIND, private=private, exist_ok=True)
    with explained(repository, f"revision {MAIN}"):
        head = str(api.repo_info(repository, repo_type=KIND, revision=MAIN).sha)
        tags = {one.name: one.target_commit for one in api.list_repo_refs(repository).tags}
    adds = [CommitOperationAdd(name, folder / name) for name in (CONFIG, WEIGHTS)]
    adds.append(CommitOperationAdd(CARD, encoder_card(config, repository).encode()))
    if tag in tags and tags[tag] != head:
        raise NarError(f"{repository} has the tag {tag} already: take another tag.")
    with explained(repository, "the commit"), unless_moved(repository, folder):
        commit = api.create_commit(
            repository,
            adds,
            repo_type=KIND,
            parent_commit=head,
            commit_message=f"Encoder {str(config['sha256'])[:12]}",
        ).oid
    if tag is not None and tags.get(tag) != commit:
        with explained(repository, f"tag {tag}"):
            api.create_tag(repository, tag=tag, revision=commit)
    sent = () if commit == head else (CONFIG, WEIGHTS)
    size = sum((folder / name).stat().st_size for name in sent)
    return Published(repository, commit, tag, sent, size)


def _sound_config(folder: Path) -> dict[str, object]:
    """The content of `encoder.json`, whose sha256 is that of the weights beside it."""
    try:
        config = json.loads((folder / CONFIG).read_bytes())
        found = described(folder / WEIGHTS)[1]
    except (OSError, ValueError) as error:
        raise IndexUnavailable(
            f"No encoder could be read from {folder}: {error}. `nar train` makes one."
        ) from error
    if not isinstance(config, dict) or config.get("sha256") != found:
        raise IndexUnavailable(
            f"{folder / WEIGHTS} does not have the sha256 that {CONFIG} states: {found[:12]}. "
            "Train it again with `nar train`, or reinstall nar-plugin."
        )
    return config
