"""A checkpoint in a repository of the Hub without a config: headers are asked for by Range."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from itertools import islice

from nar_plugin.checkpoints.gguf_header import FORM as GGUF
from nar_plugin.checkpoints.gguf_header import read_gguf
from nar_plugin.checkpoints.reading import ADAPTER, CONFIG, INDEX, of_header, prepared, shards
from nar_plugin.checkpoints.safetensors_header import read_safetensors
from nar_plugin.checkpoints.tensors import MOST, Checkpoint
from nar_plugin.errors import IndexUnavailable, NarError
from nar_plugin.regular_files import read_regular
from nar_plugin.remote.cache import MAIN, SMALL, Place
from nar_plugin.remote.failures import Absent, explained
from nar_plugin.remote.resuming import read_part
from nar_plugin.remote.waiting import patiently

LARGEST = 1 << 43  # bytes of a file whose header is asked for
_FIRST = 1 << 18  # bytes that are asked for at once: most headers are shorter
_FILES = 10_000  # of a repository
_AT_ONCE = 8  # shards
_WEIGHTS = (
    "model.safetensors.index.json",
    "*.safetensors.index.json",
    "model.safetensors",
    "adapter_model.safetensors",
    "*.safetensors",
    "*.gguf",
)


@dataclass
class RemoteFile:
    """A file of the Hub of which parts are asked for.

    Attributes:
        name: What an error calls it.
        size: How many bytes it has.
        ask: From a place and a count to the bytes.
    """

    name: str
    size: int
    ask: Callable[[int, int], bytes]
    beginning: bytes = field(default=b"", repr=False)

    def read(self, start: int, count: int) -> bytes:
        """So many bytes from a place on; fewer where the file ends before."""
        count = max(min(count, self.size - start), 0)
        if start + count <= _FIRST and not self.beginning and count:
            self.beginning = self.ask(0, min(_FIRST, self.size))
        if start + count <= len(self.beginning):
            return self.beginning[start : start + count]
        return self.ask(start, count) if count else b""


def from_hub(name: str) -> Checkpoint | None:
    """The checkpoint of `hub:owner/name`; None of a repository with a config, or out of reach.

    Args:
        name: `owner/name` or `owner/name@revision`.

    Raises:
        NarError: The repository has neither a config nor weights that can be read from afar.
    """
    repository, _, revision = name.partition("@")
    place, revision = Place(repository, kind="model"), revision or MAIN
    try:
        if place.cached(CONFIG, revision) is not None:
            return None
        place.describe(CONFIG, revision)
    except Absent:
        return prepared(_checkpoint(place, revision, f"hub:{name}"))
    except IndexUnavailable:
        return None  # whoever asks for the config says why it is out of reach
    return None


def _checkpoint(place: Place, revision: str, source: str) -> Checkpoint:
    files = _files(place, revision)
    named = (name for pattern in _WEIGHTS for name in files if fnmatch(name, pattern))
    name = next(named, None)
    if name is None:
        raise NarError(
            f"{source} has no config.json, and no .safetensors or .gguf whose header could be read "
            "from afar. Download its weights and ask about the file: nar find ./weights.bin"
        )
    if name.endswith(INDEX):
        content = read_regular(place.small(name, revision), SMALL)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            parts = list(pool.map(lambda part: _file(place, revision, part), shards(name, content)))
        tensors = tuple(tensor for part in parts for tensor in part.tensors)
        if len(tensors) > MOST:
            raise NarError(f"{source} has {len(tensors):,} tensors; at most {MOST:,} are read.")
        found = replace(parts[0], tensors=tensors, form=f"{parts[0].form}, {len(parts)} shards")
    else:
        found = _file(place, revision, name)
    return replace(found, source=source, base=_base(place, revision, files))


def _files(place: Place, revision: str) -> list[str]:
    """The files at the top of the repository, in the order of their names."""
    from huggingface_hub import HfApi

    def ask() -> list[str]:
        api = HfApi(token=place.token)
        tree = api.list_repo_tree(place.repository, revision=revision, repo_type=place.kind)
        return sorted(entry.path for entry in islice(tree, _FILES))

    with explained(place.repository, "the list of files", place.kind, revision):
        return patiently(ask)


def _file(place: Place, revision: str, name: str) -> Checkpoint:
    held = place.describe(name, revision, LARGEST)
    address = place.address(name, held.commit)

    def ask(start: int, count: int) -> bytes:
        with explained(place.repository, name, place.kind, revision):
            return read_part(address, start, count, place.token)

    file = RemoteFile(f"{name} of {place.repository}", held.size, ask)
    if name.endswith(".gguf"):
        tensors, said = read_gguf(file)
        return Checkpoint(file.name, GGUF, tuple(tensors), said=said)
    return of_header(file.name, read_safetensors(file))


def _base(place: Place, revision: str, files: list[str]) -> str:
    if ADAPTER not in files:
        return ""
    try:
        content = json.loads(read_regular(place.small(ADAPTER, revision), SMALL))
        base = content.get("base_model_name_or_path")
        return base[:200] if isinstance(base, str) else ""
    except (NarError, OSError, ValueError, AttributeError, RecursionError):
        return ""
