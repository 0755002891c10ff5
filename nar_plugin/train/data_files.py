"""Files of other people's data, which a user has in a folder."""

from __future__ import annotations

from pathlib import Path

from nar_plugin.errors import NarError


def data_file(folder: Path, name: str, page: str) -> Path:
    """A file of a folder.

    Args:
        folder: What `--data` names.
        name: Of the file.
        page: The page of the docs that says where it is from.

    Raises:
        NarError: It is not there.
    """
    path = folder / name
    if not path.is_file():
        raise NarError(
            f"{path} is missing: --data names the folder that holds {name} "
            f"({page} says where it is from)."
        )
    return path
