"""From what a person holds to a checkpoint: a file, a folder, a repository, a state_dict."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, cast

from nar_plugin.checkpoints.adapters import adapted
from nar_plugin.checkpoints.gguf_header import FORM as GGUF
from nar_plugin.checkpoints.gguf_header import MAGIC, read_gguf
from nar_plugin.checkpoints.in_hand import from_state_dict, is_state_dict
from nar_plugin.checkpoints.packing import noted_sides, unpacked
from nar_plugin.checkpoints.safetensors_header import FORM as SAFETENSORS
from nar_plugin.checkpoints.safetensors_header import Header, read_safetensors
from nar_plugin.checkpoints.sources import opened, refused
from nar_plugin.checkpoints.tensors import MOST, Checkpoint, Tensor
from nar_plugin.checkpoints.torch_file import FORM as TORCH
from nar_plugin.checkpoints.torch_file import is_program, read_torch
from nar_plugin.errors import NarError
from nar_plugin.regular_files import is_regular, read_regular

PICKLES = (".pth", ".pt", ".bin", ".ckpt", ".pkl", ".th", ".tar")
ENDINGS = (".safetensors", ".gguf", *PICKLES)
INDEX = ".index.json"
CONFIG, ADAPTER = "config.json", "adapter_config.json"
_IN_FOLDERS = (  # what a folder's weights are called, the best known first
    "*.safetensors.index.json",
    "model.safetensors",
    "*.bin.index.json",
    "*.safetensors",
    "*.gguf",
    "pytorch_model.bin",
    "*.bin",
    "*.pth",
)
_SHARDS = 10_000
_LARGEST_INDEX = 64 << 20  # bytes


def read_checkpoint(candidate: Any) -> Checkpoint | None:
    """The checkpoint that is meant, with packing undone; None of what is no checkpoint.

    Example:
        ```python
        read_checkpoint("weights.safetensors")
        read_checkpoint(model.state_dict())
        ```

    Args:
        candidate: A path, as text or not, of a file or of a folder without a `config.json`; a
            mapping of tensors; anything else.

    Raises:
        NarError: It is a checkpoint, and cannot be read.
    """
    if is_state_dict(candidate):
        return prepared(from_state_dict(candidate))
    path = _path(candidate)
    if path is None:
        return None
    found = _from_path(path)
    return None if found is None else prepared(replace(found, source=str(candidate)))


def prepared(checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint with packing undone and adapters turned into layers.

    Raises:
        NarError: No tensor is left.
    """
    found = adapted(unpacked(checkpoint))
    if not any(tensor.shape for tensor in found.tensors):
        raise NarError(
            f"{checkpoint.source} has no tensor of weights: "
            f"{len(checkpoint.tensors):,} tensors, all of them single numbers, indices or masks."
        )
    return found


def _path(candidate: Any) -> Path | None:
    """The path of what may be a checkpoint."""
    kind = type(candidate)
    if issubclass(kind, str):
        library, colon, _ = candidate.partition(":")
        if colon and "/" not in library and "\\" not in library and len(library) > 1:
            return None
        path = Path(candidate)
    elif issubclass(kind, Path):
        path = cast(Path, candidate)
    else:
        return None
    try:
        return path.expanduser().absolute()
    except (RuntimeError, ValueError):
        return None


def _from_path(path: Path) -> Checkpoint | None:
    try:
        if path.is_dir():
            return None if (path / CONFIG).exists() else _from_folder(path)
        if path.name.endswith(INDEX):
            return _sharded(path)
        if path.name.lower().endswith(ENDINGS) and is_regular(path):
            return _from_file(path)
    except (OSError, ValueError):  # the reader of a config says what is wrong with the path
        return None
    return None


def _from_folder(folder: Path) -> Checkpoint | None:
    """The weights in a folder, with the base model that an adapter's config names."""
    for pattern in _IN_FOLDERS:
        files = sorted(folder.glob(pattern))[:_SHARDS]
        if not files:
            continue
        found = _sharded(files[0]) if files[0].name.endswith(INDEX) else _from_file(files[0])
        if found is not None:
            return replace(found, base=_base(folder))
    return None


def _base(folder: Path) -> str:
    """The base model that an `adapter_config.json` names, as text."""
    try:
        content = json.loads(read_regular(folder / ADAPTER, 1 << 20))
        base = content.get("base_model_name_or_path")
        return base[:200] if isinstance(base, str) else ""
    except (OSError, ValueError, AttributeError, RecursionError):
        return ""


def _from_file(path: Path) -> Checkpoint | None:
    """The checkpoint of a file; None of a program, which has a forward."""
    with opened(path) as file:
        if path.suffix.lower() == ".safetensors":
            header = read_safetensors(file)
            notes = {
                name: noted_sides(file.read(a, b - a)) for name, (a, b) in header.notes.items()
            }
            sides = {name: found for name, found in notes.items() if found}
            return of_header(str(path), header, sides)
        if path.suffix.lower() == ".gguf" or file.read(0, 4) == MAGIC:
            tensors, architecture = read_gguf(file)
            return Checkpoint(str(path), GGUF, tuple(tensors), said=architecture)
        if is_program(file):
            return None
        return Checkpoint(str(path), TORCH, tuple(read_torch(file)))


def of_header(
    source: str, header: Header, sides: Mapping[str, tuple[int, ...]] | None = None
) -> Checkpoint:
    """The checkpoint of a safetensors file, with what it says of its architecture by custom."""
    keys = ("modelspec.architecture", "ss_base_model_version", "architecture", "model_type")
    said = next((header.said[key][:80] for key in keys if key in header.said), "")
    return Checkpoint(source, SAFETENSORS, tuple(header.tensors), sides or {}, said=said)


def _sharded(index: Path) -> Checkpoint:
    """The tensors of all files that an index names, as the index lists them.

    Raises:
        NarError: It is no such index, or it names a file that is not beside it.
    """
    names = shards(index.name, _index(index))
    tensors: list[Tensor] = []
    sides: dict[str, tuple[int, ...]] = {}
    form = SAFETENSORS
    for name in names:
        part = _from_file(index.parent / name)
        if part is None:
            raise refused(str(index), "an index of shards", f"{name} is a program")
        tensors += part.tensors
        sides |= part.sides
        form = part.form
        if len(tensors) > MOST:
            raise refused(str(index), "an index of shards", f"more than {MOST:,} tensors")
    return Checkpoint(str(index), f"{form}, {len(names)} shards", tuple(tensors), sides)


def _index(path: Path) -> bytes:
    try:
        content = read_regular(path, _LARGEST_INDEX)
    except OSError as error:
        raise NarError(f"{path} cannot be read: {error.strerror or error}") from error
    if len(content) > _LARGEST_INDEX:
        raise refused(str(path), "an index of shards", f"it has more than {_LARGEST_INDEX:,} bytes")
    return content


def shards(where: str, content: bytes) -> list[str]:
    """The files that an index of shards names, each once and plain.

    Raises:
        NarError: It is no such index, or it names a path that leads elsewhere.
    """
    form = "an index of shards"
    try:
        mapping = json.loads(content)["weight_map"]
        names = list(dict.fromkeys(mapping.values()))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise refused(where, form, "it has no weight_map") from error
    if len(names) > _SHARDS:
        raise refused(where, form, f"it names {len(names):,} files")
    for name in names:
        if not isinstance(name, str) or PurePosixPath(name).name != name or "\\" in name:
            raise refused(where, form, f"it names {str(name)[:80]!r}, which is not beside it")
        if not name.lower().endswith(ENDINGS):
            raise refused(where, form, f"it names {name[:80]!r}, which is no file of weights")
    return names
