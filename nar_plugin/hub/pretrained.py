"""The index with the methods that people of the Hub expect."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from nar_plugin import index
from nar_plugin.errors import IndexUnavailable
from nar_plugin.hub.opening import cached, fetched
from nar_plugin.hub.publish import Published, publish
from nar_plugin.hub.repository import name_in_cache
from nar_plugin.regular_files import is_regular, is_there
from nar_plugin.remote.cache import Place

ENCODER = "encoder.safetensors"


class ArchitectureIndex(index.ArchitectureIndex):
    """An index of known architectures, which the Hub can store. Each distinct graph is one row.

    Example:
        ```python
        index = ArchitectureIndex.from_pretrained("nar-plugin/architectures", revision="2026.11.21")
        index.save_pretrained("my-index")
        index.push_to_hub("owner/architectures")
        ```
    """

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read the index in a folder and verify every byte of it.

        Of a folder in the Hub's cache, `source` is its repository and commit.

        Raises:
            IndexUnavailable: A file is missing or damaged.
            IndexIncompatible: This version does not read its format.
        """
        contents = super().load(path).contents
        return cls(replace(contents, source=name_in_cache(Path(path)) or contents.source))

    @classmethod
    def from_pretrained(
        cls,
        repository_or_folder: str | Path,
        *,
        revision: str | None = None,
        cache_dir: str | Path | None = None,
        token: str | bool | None = None,
        local_files_only: bool = False,
    ) -> Self:
        """Read an index of the Hub, or of a folder.

        Args:
            repository_or_folder: `owner/name`, or a folder that `save_pretrained` wrote.
            revision: A branch, a tag or a commit of the repository; None for `main` as it is now.
            cache_dir: Folder of the cache; None for that of HF_HOME.
            token: For a private repository; None for the one of `hf auth login` or HF_TOKEN.
            local_files_only: Take what the cache has and ask no network.

        Raises:
            IndexUnavailable: It could not be fetched, or is damaged.
            IndexIncompatible: It has another format.
        """
        folder = Path(repository_or_folder)
        if not is_there(folder):
            place = Place(str(repository_or_folder), cache_dir, token)
            folder = _local(place, revision) if local_files_only else fetched(place, revision)
        return cls.load(folder)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the index into a folder, with its encoder if it came with one."""
        source = self.contents.folder
        encoder = source if source is not None and is_regular(source / ENCODER) else None
        self.save(folder, encoder=encoder)

    def push_to_hub(
        self,
        repository: str,
        *,
        tag: str | None = None,
        private: bool | None = None,
        token: str | bool | None = None,
    ) -> Published:
        """Publish the index as one commit: see `nar_plugin.hub.publish.publish`."""
        with TemporaryDirectory() as folder:
            self.save_pretrained(folder)
            return publish(folder, repository, tag=tag, private=private, token=token)


def _local(place: Place, revision: str | None) -> Path:
    folder = cached(place, revision)
    if folder is None:
        raise IndexUnavailable(
            f"The cache has no whole index of {place.repository} at {revision or 'main'}: leave "
            "local_files_only out, or run `nar index update` while there is a network."
        )
    return folder
