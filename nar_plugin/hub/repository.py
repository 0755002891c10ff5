"""Which repository an index is in, and where the Hub's cache keeps a commit of it."""

from __future__ import annotations

import re
from pathlib import Path

from nar_plugin.index.store.manifest import MANIFEST
from nar_plugin.remote.cache import Place

DEFAULT_REPOSITORY = "nar-plugin/architectures"
KIND = "dataset"

_CACHED = re.compile(KIND + r"s--(?P<owner>.+?)--(?P<name>.+)/snapshots/(?P<commit>[0-9a-f]{40})")


def hf_home() -> Path:
    """The folder of everything that the Hub's libraries keep: `HF_HOME`."""
    from huggingface_hub import constants

    return Path(constants.HF_HOME)


def snapshot_folder(repository: str, commit: str) -> Path:
    """Where the cache keeps the files of a commit."""
    return Place(repository).snapshot(commit, MANIFEST).parent


def name_in_cache(folder: Path) -> str | None:
    """Such as `owner/name@1a2b3c4d` of a folder that `snapshot_folder` gave, else None."""
    match = _CACHED.fullmatch("/".join(folder.parts[-3:]))
    return short(f"{match['owner']}/{match['name']}", match["commit"]) if match else None


def short(repository: str, commit: str) -> str:
    """Such as `nar-plugin/architectures@1a2b3c4d`."""
    return f"{repository}@{commit[:8]}"
