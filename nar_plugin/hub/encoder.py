"""An encoder on the Hub: its two files and a card, in a model repository.

The mixin takes 0.3 s to import, which a query does not wait for: `nar_plugin.hub` looks these names
up when they are first used.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from huggingface_hub import PyTorchModelHubMixin

from nar_plugin import encoder
from nar_plugin.encoder.checkpoint import read_encoder
from nar_plugin.encoder.config import CONFIG, WEIGHTS, encoder_config
from nar_plugin.errors import IndexUnavailable, NarError
from nar_plugin.hub.card import encoder_card
from nar_plugin.hub.failures import explained
from nar_plugin.hub.publish import CARD, Published, unless_moved
from nar_plugin.hub.repository import MAIN, is_repository

KIND = "model"
SETTINGS = "config.json"  # the mixin's own file, which the Hub counts downloads by
GIVEN = ("encoder", "sketch", "fingerprint_version", "sha256")  # what save_encoder says by itself


class ArchitectureEncoder(encoder.ArchitectureEncoder, PyTorchModelHubMixin):
    """The encoder, and the way to the Hub and back.

    Example:
        ```python
        encoder = ArchitectureEncoder.from_pretrained("owner/encoder", revision="2026.11.21")
        encoder.save_pretrained("my-encoder")
        encoder.push_to_hub("owner/other", tag="2026.11.22")
        ```

    Attributes:
        facts: What `encoder.json` says of its training.
    """

    facts: dict[str, Any]

    @classmethod
    def from_pretrained(  # type: ignore[override]  # no settings but those of the file
        cls,
        pretrained_model_name_or_path: str | Path,
        *,
        force_download: bool = False,
        token: str | bool | None = None,
        cache_dir: str | Path | None = None,
        local_files_only: bool = False,
        revision: str | None = None,
    ) -> Self:
        """Read an encoder of the Hub, or of a folder.

        Args:
            pretrained_model_name_or_path: `owner/name`, or a folder that `save_pretrained` or
                `nar dev train` wrote.
            force_download: Fetch it again, also when the cache has it.
            token: For a private repository; None for the one of `hf auth login` or HF_TOKEN.
            cache_dir: Folder of the cache; None for that of HF_HOME.
            local_files_only: Take what the cache has and ask no network.
            revision: A branch, a tag or a commit of the repository.

        Raises:
            IndexUnavailable: It could not be had, or is damaged.
            IndexIncompatible: It was made for other sketches.
        """
        place = Path(pretrained_model_name_or_path)
        if place.is_dir():
            return cls._read(place)
        with explained(str(pretrained_model_name_or_path), "the encoder", KIND):
            return super().from_pretrained(
                pretrained_model_name_or_path,
                force_download=force_download,
                token=token,
                cache_dir=cache_dir,
                local_files_only=local_files_only,
                revision=revision,
            )

    @classmethod
    def _from_pretrained(cls, *, model_id: str, force_download: bool, **options: Any) -> Self:
        """See the mixin; a damaged file of the cache is fetched once more."""
        from huggingface_hub import snapshot_download

        def fetched(again: bool) -> Path:
            names = {"revision", "cache_dir", "local_files_only", "token"}
            asked = {name: value for name, value in options.items() if name in names}
            files = [CONFIG, WEIGHTS]
            folder = snapshot_download(
                model_id, allow_patterns=files, force_download=again, **asked
            )
            return Path(folder)

        try:
            return cls._read(fetched(force_download))
        except IndexUnavailable:
            if options["local_files_only"]:
                raise
            return cls._read(fetched(True))

    @classmethod
    def _read(cls, folder: Path) -> Self:
        found = read_encoder(folder, cls)
        config = encoder_config(folder)
        found.facts = {name: value for name, value in config.items() if name not in GIVEN}
        return found

    def _save_pretrained(self, save_directory: Path) -> None:
        """See the mixin."""
        encoder.save_encoder(self, save_directory, **getattr(self, "facts", {}))
        card = encoder_card(encoder_config(save_directory), save_directory.name)
        (save_directory / CARD).write_text(card)

    def push_to_hub(  # type: ignore[override]  # one commit on top of a known one
        self,
        repo_id: str,
        *,
        tag: str | None = None,
        private: bool | None = None,
        token: str | bool | None = None,
        **made_anew: Any,
    ) -> Published:
        """Publish the encoder as one commit: see `publish_encoder`.

        The config and the card that the mixin's `save_pretrained(..., push_to_hub=True)` hands over
        (`made_anew`) are made from the encoder itself.
        """
        if strange := made_anew.keys() - {"config", "model_card_kwargs"}:
            raise NarError(f"push_to_hub knows no {sorted(strange)[0]}: tag, private and token.")
        with TemporaryDirectory() as folder:
            self.save_pretrained(folder)
            return publish_encoder(folder, repo_id, tag=tag, private=private, token=token)


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
        folder: Holds `encoder.json` and `encoder.safetensors`, as `nar dev train` writes them; an
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
    read_encoder(folder, encoder.ArchitectureEncoder)
    config = encoder_config(folder)
    api = HfApi(token=token)
    with explained(repository, "a new repository", KIND):
        api.create_repo(repository, repo_type=KIND, private=private, exist_ok=True)
    with explained(repository, f"revision {MAIN}", KIND):
        head = str(api.repo_info(repository, repo_type=KIND, revision=MAIN).sha)
        tags = {one.name: one.target_commit for one in api.list_repo_refs(repository).tags}
    adds = [CommitOperationAdd(name, folder / name) for name in (CONFIG, WEIGHTS)]
    settings = json.dumps(config["encoder"], sort_keys=True, indent=2)
    adds.append(CommitOperationAdd(SETTINGS, settings.encode()))
    adds.append(CommitOperationAdd(CARD, encoder_card(config, repository).encode()))
    if tag in tags and tags[tag] != head:
        raise NarError(f"{repository} has the tag {tag} already: take another tag.")
    with explained(repository, "the commit", KIND), unless_moved(repository, folder):
        commit = api.create_commit(
            repository,
            adds,
            repo_type=KIND,
            parent_commit=head,
            commit_message=f"Encoder {str(config['sha256'])[:12]}",
        ).oid
    if tag is not None and tags.get(tag) != commit:
        with explained(repository, f"tag {tag}", KIND):
            api.create_tag(repository, tag=tag, revision=commit)
    sent = () if commit == head else (CONFIG, WEIGHTS)
    size = sum((folder / name).stat().st_size for name in sent)
    return Published(repository, commit, tag, sent, size)
