"""An index's folder: every byte verified when read, and replaced all at once when written.

A save writes the new files into a folder `.saving` first, the manifest before the others. Moving
the manifest into its place is the one step that makes the new index the current one. A save that
was killed before it left the old index as it was; one that was killed after it left the rest in
`.saving`, where a reader finds it and the next save completes it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from shutil import rmtree

from nar_plugin.errors import IndexUnavailable, NarError
from nar_plugin.index.store.manifest import (
    LARGEST_MANIFEST,
    MANIFEST,
    PATHS,
    TOMBSTONES,
    FileEntry,
    Manifest,
)
from nar_plugin.regular_files import is_regular, read_regular
from nar_plugin.remote.proven_names import inside

EMBEDDED = Path(__file__).parents[2] / "data"
STAGE = ".saving"
SUBFOLDERS = (STAGE, "shards", "derived")  # all that an index is written to


def source_of(folder: Path) -> str:
    """`embedded` for the index that ships with the package, else the path."""
    try:
        embedded = folder.samefile(EMBEDDED)
    except (OSError, ValueError):
        embedded = False
    return "embedded" if embedded else str(folder)


def read_manifest(folder: Path) -> bytes:
    """The content of the folder's manifest.

    Raises:
        IndexUnavailable: There is none, or it is larger than any manifest.
    """
    try:
        return read_regular(folder / MANIFEST, LARGEST_MANIFEST)
    except OSError as error:
        raise IndexUnavailable(
            f"No index in {folder}: {MANIFEST} cannot be read ({error.strerror}). {remedy(folder)}"
        ) from error


def present(folder: Path, manifest: Manifest) -> tuple[FileEntry, ...]:
    """The files of an index that are in a folder: an update leaves the graphs out."""
    return tuple(entry for entry in manifest.files if is_regular(folder / entry.path))


def read_verified(folder: Path, entry: FileEntry) -> bytes:
    """The content of one file, which is the one that the manifest describes.

    A file of another size is not read at all. Links are followed: the Hub's cache is made of them.

    Raises:
        IndexUnavailable: The file is missing, or its content is another.
    """
    got = ""
    place = folder / entry.path
    # A save may move it from its stage between the first look and the second.
    for path in (place, folder / STAGE / entry.path, place):
        try:
            size = path.stat().st_size
            if is_regular(path) and size != entry.size:
                got = got or f"{size:,} bytes"
                continue
            content = read_regular(path, entry.size)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise IndexUnavailable(
                f"{path} cannot be read ({error.strerror}). {remedy(folder)}"
            ) from error
        if entry.matches(content):
            return content
        got = got or "another sha256"
    if not got:
        raise IndexUnavailable(f"{place} is missing. {remedy(folder)}")
    raise IndexUnavailable(
        f"{place} is damaged or of another index: it has {got}, {MANIFEST} says "
        f"{entry.size:,} bytes with sha256 {entry.sha256[:12]}. {remedy(folder)}"
    )


def remedy(folder: Path) -> str:
    """What mends an index in this folder."""
    if source_of(folder) == "embedded":
        return "`pip install --force-reinstall nar-plugin` puts the embedded index back."
    if is_overlay(folder):
        return (
            f"These are your own models: remove {folder} and add them again, `nar index add REF`."
        )
    return "`nar index update` fetches a sound index; index=PATH names another one."


def reencoding(source: str) -> str:
    """The command that makes the vectors of an index anew, by the index's source."""
    repository, at, _ = source.partition("@")
    if at:  # such as owner/name@1a2b3c4d, of the Hub's cache
        return f"`nar dev index reencode {repository} --output DIR`"
    if is_overlay(Path(source)):
        return "`nar dev index reencode`"
    return f"`nar dev index reencode {'FOLDER' if source in ('embedded', 'memory') else source}`"


def is_overlay(folder: Path) -> bool:
    """Whether a folder is that of `nar_plugin.index.overlay`."""
    return folder.parts[-2:] == ("nar", "overlay")


def replace_files(
    folder: Path, manifest: bytes, files: Mapping[str, bytes], *, head: str = MANIFEST
) -> None:
    """Put the manifest and the files in the folder, all of them or none.

    Other files in the folder stay as they are.

    Args:
        folder: Is created when missing.
        manifest: Content of the head.
        files: Contents of the others, by path in the folder.
        head: The file whose move makes the others current; of an index its manifest.

    Raises:
        NarError: A subfolder that a file goes to is a link.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in SUBFOLDERS:
        if (folder / name).is_symlink():
            raise NarError(
                f"{folder / name} is a link: files written there would land elsewhere. Remove it, "
                "or name another folder."
            )
    settle(folder, head)
    stage = folder / STAGE
    stage.mkdir()
    try:
        for name, content in {head: manifest, **files}.items():
            (stage / name).parent.mkdir(exist_ok=True)
            write_through(stage / name, content)
        (stage / head).replace(folder / head)  # from here the new files are current
    except BaseException:
        if (stage / head).exists():
            discard(stage, head)
        raise
    settle(folder, head)


def current(folder: Path, name: str, head: str) -> Path:
    """Where a file is that belongs to the folder's head: a killed save left it in its stage."""
    stage = folder / STAGE
    moved = (stage / name).is_file() and not (stage / head).exists()
    return stage / name if moved else folder / name


def settle(folder: Path, head: str) -> None:
    """Complete a save that had moved its head, or discard one that had not."""
    stage = folder / STAGE
    if (stage / head).exists():
        discard(stage, head)
    elif stage.exists():
        for path in [path for path in stage.rglob("*") if path.is_file()]:
            place = inside(folder, path.relative_to(stage).as_posix())
            place.parent.mkdir(exist_ok=True)
            path.replace(place)
        rmtree(stage)


def discard(stage: Path, head: str) -> None:
    """Remove a stage, its head last: files without one would pass for a save to complete."""
    for path in stage.iterdir():
        if path.is_dir():
            rmtree(path)
        elif path.name != head:
            path.unlink()
    rmtree(stage)


def prune(folder: Path, manifest: Manifest) -> None:
    """Remove files of an earlier index that the manifest no longer lists."""
    listed = {entry.path for entry in manifest.files}
    for path in [*folder.glob("shards/*"), *folder.glob("derived/*"), folder / TOMBSTONES]:
        name = path.relative_to(folder).as_posix()
        if name not in listed and any(form.fullmatch(name) for form in PATHS.values()):
            path.unlink(missing_ok=True)


def write_through(path: Path, content: bytes) -> None:
    """Write a file and wait until the disk has it."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
