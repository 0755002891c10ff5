"""The indexes that this process holds: each is read once, and `clear_cache` lets all go."""

from __future__ import annotations

import threading
from pathlib import Path

from nar_plugin import encoder, hub
from nar_plugin.errors import IndexUnavailable, in_words
from nar_plugin.index import ArchitectureIndex, overlay
from nar_plugin.regular_files import resolved

Index = ArchitectureIndex | str | Path | None

_lock = threading.Lock()
_indexes: dict[Path, ArchitectureIndex] = {}
_overlaid: overlay.Overlaid | None = None


def load_index(path: Index = None, revision: str | None = None) -> ArchitectureIndex:
    """Open an index of known architectures. A process reads each one once.

    Example:
        ```python
        len(nar_plugin.load_index())
        nar_plugin.load_index("nar-plugin/architectures", revision="2026.11.21")
        ```

    Args:
        path: A folder that `ArchitectureIndex.save` wrote, or a repository of the Hub such as
            `owner/name`. None opens the one that `nar index update` brought, else the embedded one.
        revision: A branch, tag or commit of a repository. A folder must have this revision. None
            takes what the folder, or the cache of `main`, holds.

    Raises:
        IndexUnavailable: There is no such index, it could not be fetched, or a file is damaged.
        IndexIncompatible: It has another format.
        NarError: The folder holds another revision than asked for.
    """
    if isinstance(path, ArchitectureIndex):
        return path
    try:
        index = hub.open_index(path, revision, _opened)
    except (OSError, ValueError) as error:  # a path that the system does not take
        raise IndexUnavailable(f"There is no index {in_words(path)}: {error}") from error
    return _with_own_models(index) if path is None and revision is None else index


def _with_own_models(index: ArchitectureIndex) -> ArchitectureIndex:
    global _overlaid
    with _lock:
        _overlaid = overlay.overlaid(index, _overlaid)
        return _overlaid.result


def _opened(folder: Path) -> ArchitectureIndex:
    folder = resolved(folder)
    with _lock:
        if folder not in _indexes:
            _indexes[folder] = hub.ArchitectureIndex.load(folder)
        return _indexes[folder]


def clear_cache() -> None:
    """Release the encoders and indexes that this process holds.

    Example:
        ```python
        nar_plugin.clear_cache()
        ```
    """
    global _overlaid
    encoder.clear_encoders()
    with _lock:
        _indexes.clear()
        _overlaid = None
