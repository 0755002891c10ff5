"""The files in an archive of torch.export: JSON and raw weights, of bounded size."""

from __future__ import annotations

import json
import re
from typing import Any
from zipfile import ZipFile

_MOST_JSON = 256 << 20  # bytes; stack traces make 30 MB of the largest designs
_MOST_RATIO = 200  # of JSON, compressed; torch stores its own


def payloads(archive: ZipFile, names: list[str]) -> dict[str, str]:
    """Where the raw bytes of each weight and constant are; what is pickled is left out."""
    places = {}
    for name in names:
        if re.search(r"data/(weights|constants)/\w+_config\.json$", name):
            folder = name.rpartition("/")[0]
            for fqn, meta in read_json(archive, name)["config"].items():
                if not meta["use_pickle"]:
                    places[fqn] = f"{folder}/{meta['path_name']}"
    return places


def first(names: list[str], pattern: str) -> str | None:
    """The first of these names that has the pattern in it."""
    return next((name for name in names if re.search(pattern, name)), None)


def read_json(archive: ZipFile, name: str) -> Any:
    """What a file in the archive holds.

    Raises:
        ValueError: As of `read`.
    """
    return json.loads(read(archive, name, _MOST_JSON))


def read(archive: ZipFile, name: str, most: int) -> bytes:
    """The content of a file in the archive.

    Raises:
        ValueError: It is too large, or says that it is much larger than what is stored.
    """
    entry = archive.getinfo(name)
    if entry.file_size > min(most, _MOST_RATIO * max(entry.compress_size, 1000)):
        raise ValueError(f"{name[:80]} in the archive has {entry.file_size:,} bytes")
    with archive.open(entry) as content:
        found = content.read(most + 1)
    if len(found) > most:
        raise ValueError(f"{name[:80]} in the archive is larger than it says")
    return found
