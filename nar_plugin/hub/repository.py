"""Which repository an index is in, and where the Hub's cache keeps a commit of it."""

from __future__ import annotations

import re
from pathlib import Path

DEFAULT_REPOSITORY = "nar-plugin/architectures"
KIND = "dataset"
MAIN = "main"

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")

_CACHED = re.compile(KIND + r"s--(?P<owner>.+?)--(?P<name>.+)/snapshots/(?P<commit>[0-9a-f]{40})")


def is_repository(text: str) -> bool:
    """Whether a text has the form `owner/name`; says nothing about whether there is such a one."""
    return _NAME.fullmatch(text) is not None


def hf_home() -> Path:
    """The folder of everything that the Hub's libraries keep: `HF_HOME`."""
    from huggingface_hub import constants

    return Path(constants.HF_HOME)


def snapshot_folder(repository: str, commit: str) -> Path:
    """Where the cache keeps the files of a commit; the layout that huggingface_hub documents.

    It is computed here because `huggingface_hub.try_to_load_from_cache` takes 0.3 s to import, and
    every query asks.
    """
    from huggingface_hub import constants

    name = f"{KIND}s--{repository.replace('/', '--')}"
    return Path(constants.HF_HUB_CACHE) / name / "snapshots" / commit


def name_in_cache(folder: Path) -> str | None:
    """Such as `owner/name@1a2b3c4d` of a folder that `snapshot_folder` gave, else None."""
    match = _CACHED.fullmatch("/".join(folder.parts[-3:]))
    return short(f"{match['owner']}/{match['name']}", match["commit"]) if match else None


def short(repository: str, commit: str) -> str:
    """Such as `nar-plugin/architectures@1a2b3c4d`."""
    return f"{repository}@{commit[:8]}"
