"""An encoder on the Hub: its two files and a card, in a model repository.

The mixin takes 0.3 s to import, which a query does not wait for: `nar_plugin.hub` looks these names
up when they are first used.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, Self

from huggingface_hub import PyTorchModelHubMixin

from nar_plugin import encoder
from nar_plugin.encoder.checkpoint import read_as, read_encoder
from nar_plugin.encoder.config import CONFIG, WEIGHTS, encoder_config, versions
from nar_plugin.errors import IndexUnavailable, NarError
from nar_plugin.hub.publish import CARD, Published, unless_moved
from nar_plugin.hub.repository_cards import encoder_card
from nar_plugin.regular_files import is_there
from nar_plugin.remote.cache import LARGEST, MAIN, SMALL, Place
from nar_plugin.remote.failures import Absent, explained
from nar_plugin.remote.proven_names import is_repository, proven_commit
from nar_plugin.remote.waiting import within

KIND: Literal["model"] = "model"
SETTINGS = "config.json"  # the mixin's own file, which the Hub counts downloads by
GIVEN = ("kind", "encoder", "sha256")  # what save_encoder says by itself


class _OnTheHub(encoder.GraphEncoder, PyTorchModelHubMixin):
    """The way to the Hub and back, for an encoder of each kind.

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
            IndexIncompatible: It was made for other labels or motifs, or is of another kind.
        """
        if is_there(Path(pretrained_model_name_or_path)):
            return cls._read(Path(pretrained_model_name_or_path))
        place = Place(str(pretrained_model_name_or_path), cache_dir, token, KIND)
        name = revision or MAIN
        if not local_files_only:
            return cls._read(_fetched(place, name, force_download))
        found = place.cached(CONFIG, name)
        if found is None:
            raise IndexUnavailable(
                f"The cache lacks the encoder of {place.repository} at {name}: leave "
                "local_files_only out while there is a network."
            )
        return cls._read(found.parent)

    @classmethod
    def _read(cls, folder: Path) -> Self:
        found = read_as(folder, cls)
        given = {*GIVEN, *(f"{what}_version" for what in versions(cls.kind))}
        config = encoder_config(folder)
        found.facts = {name: value for name, value in config.items() if name not in given}
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


class ArchitectureEncoder(encoder.ArchitectureEncoder, _OnTheHub):
    """The encoder that ships, and the way to the Hub and back.

    Example:
        ```python
        encoder = ArchitectureEncoder.from_pretrained("owner/encoder", revision="2026.11.21")
        encoder.save_pretrained("my-encoder")
        encoder.push_to_hub("owner/other", tag="2026.11.22")
        ```
    """


class PaperEncoder(encoder.PaperEncoder, _OnTheHub):
    """The encoder of the paper, with the same ways."""


def _fetched(place: Place, revision: str, again: bool) -> Path:
    """The folder of an encoder as the Hub has it now, or, while that cannot be asked, the cache.

    Args:
        place: Where the encoder is.
        revision: A branch, a tag or a commit.
        again: Fetch also what the cache has.
    """
    try:
        commit = place.describe(CONFIG, revision, SMALL).commit
    except Absent:
        raise
    except IndexUnavailable:
        kept = place.cached(CONFIG, revision)
        if kept is None or again:
            raise
        return kept.parent
    for name in (SETTINGS, CONFIG, WEIGHTS):
        try:
            held = place.describe(name, commit, LARGEST if name == WEIGHTS else SMALL)
        except Absent:
            if name == SETTINGS:  # nothing reads it: the Hub counts the downloads by it
                continue
            raise
        if again:
            place.blob(held).unlink(missing_ok=True)
        folder = place.fetch(held).parent
    with explained(place.repository, f"revision {revision}", KIND):
        place.note(revision, commit)
    return folder


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
    read_encoder(folder)
    config = encoder_config(folder)
    api = HfApi(token=token)
    with explained(repository, "a new repository", KIND):
        api.create_repo(repository, repo_type=KIND, private=private, exist_ok=True)
    with explained(repository, f"revision {MAIN}", KIND):
        info = within(lambda: api.repo_info(repository, repo_type=KIND, revision=MAIN))
        refs = within(lambda: api.list_repo_refs(repository))
        tags = {one.name: one.target_commit for one in refs.tags}
    head = proven_commit(info.sha, f"{api.endpoint} for {repository}")
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
