"""A user's own models, searched together with the index that answers.

They lie in `HF_HOME/nar/overlay`, an index like any other, with the graphs from which
`nar dev index reencode` makes its vectors anew when the encoder changes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from nar_plugin.errors import IndexUnavailable, NarError
from nar_plugin.index.index import ArchitectureIndex
from nar_plugin.index.store import graphs
from nar_plugin.index.store.folder import remedy
from nar_plugin.index.store.manifest import MANIFEST
from nar_plugin.index.store.rows import ArchitectureRow, taken

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nar_plugin.mining import MacroGraph
    from nar_plugin.tracing.graph import ArchitectureGraph

Embed: TypeAlias = "Callable[[Sequence[MacroGraph]], NDArray[Any]]"
EmbedGraphs: TypeAlias = "Callable[[Sequence[ArchitectureGraph]], NDArray[Any]]"
LOCK = "overlay.lock"
logger = logging.getLogger("nar_plugin")


class Overlaid(NamedTuple):
    """An index, the state of the overlay that it was put together with, and the result."""

    base: ArchitectureIndex
    stamp: tuple[int, ...]
    result: ArchitectureIndex


def overlay_folder() -> Path:
    """The one stated place: `HF_HOME/nar/overlay`."""
    from huggingface_hub import constants

    return Path(constants.HF_HOME) / "nar" / "overlay"


def own_folder() -> Path:
    """The overlay's folder, which nobody has led elsewhere.

    `HF_HOME` itself may be a link.

    Raises:
        NarError: The folder, the one that holds it, or something in it is a link.
    """
    folder = overlay_folder()
    try:
        places = [folder.parent, folder, folder.parent / LOCK, *folder.rglob("*")]
    except OSError as error:
        raise NarError(f"{folder} cannot be read: {error.strerror}.") from error
    for place in places:
        if place.is_symlink():
            raise NarError(
                f"{place} is a link: your own models would be read and written elsewhere. Remove "
                "the link, or set HF_HOME to the folder that everything is to be in."
            )
    return folder


def overlaid(index: ArchitectureIndex, before: Overlaid | None = None) -> Overlaid:
    """The index together with the user's own models, if there are any.

    A query never fails by them: when they cannot be read, or were embedded by another encoder, one
    line is logged as a warning and the index answers alone.

    Args:
        index: The one that answers.
        before: What this gave the last time, to be given again while nothing has changed.
    """
    folder = overlay_folder()
    stamp = _stamp(folder)
    if before and before.base is index and before.stamp == stamp:
        return before
    result = index
    if stamp:
        try:
            result = index.with_overlay(_load(own_folder()))
        except NarError as error:
            logger.warning("Your own models are left out: %s", error)
    return Overlaid(index, stamp, result)


def add_models(
    references: Sequence[str],
    index: ArchitectureIndex,
    embed: Embed,
    *,
    progress: Callable[[str], None] = lambda reference: None,
) -> ArchitectureIndex:
    """Put models into the overlay, all of them or none.

    Args:
        references: Model references. One such as `mylib:*` stands for all that a plugin lists; of
            these, what cannot be traced is left out and logged as a warning.
        index: The index that answers; it lends family and task to equal designs.
        embed: Vectors of macro graphs by its encoder.
        progress: Is told each reference before it is traced.

    Returns:
        The new overlay.

    Raises:
        NarError: A reference names no model, or its forward could not be followed.
        IndexIncompatible: The overlay's vectors are another encoder's.
    """
    from nar_plugin.index.own_models import meant, own_model  # imports torch

    models = []
    for reference in references:
        for name, declared in meant(reference).items():
            progress(name)
            try:
                models.append(own_model(name, index, declared))
            except NarError as error:
                if name == reference:
                    raise
                logger.warning("%s is left out: %s", name, error)
    folder = own_folder()
    with _alone(folder):
        overlay = _read(folder, index)
        overlay = overlay.add(
            [model.row for model in models],
            embed([model.macro for model in models]),
            graphs=graphs.to_table(
                [(model.macro.graph, model.macro.spans[:, 0]) for model in models]
            ),
        )
        overlay.save(folder)
    return overlay


def own_rows() -> list[ArchitectureRow]:
    """The rows of the overlay; none where there is none.

    Raises:
        NarError: It cannot be read.
    """
    folder = own_folder()
    return _load(folder).rows() if _stamp(folder) else []


def remove_models(references: Sequence[str]) -> int:
    """Take models out of the overlay, all of them or none; nothing of them stays on the disk.

    A graph that another own model shares keeps that one's name.

    Args:
        references: As they were added.

    Returns:
        The number of graphs that are left.

    Raises:
        NarError: One of them is not there.
    """
    from nar_plugin.index.own_models import settled

    folder = own_folder()
    with _alone(folder):
        overlay = _load(folder) if _stamp(folder) else None
        rows = overlay.rows() if overlay else []
        gone = {settled(reference) for reference in references}
        held = [name for row in rows for name in row.names]
        if unknown := sorted(gone.difference(held)):
            raise NarError(
                f"{unknown[0]} is none of your own models, which are: "
                f"{', '.join(sorted(held)) or 'none'}. Nothing was removed."
            )
        left = [tuple(name for name in row.names if name not in gone) for row in rows]
        kept = np.array([i for i, names in enumerate(left) if names], dtype=np.int64)
        if overlay is None:
            return 0
        if not len(kept):
            (folder / MANIFEST).unlink()  # first: without it there is no overlay for a reader
            rmtree(folder)
            return 0
        manifest = overlay.manifest
        ArchitectureIndex.from_rows(  # one new shard: a tombstone would leave the old rows there
            [replace(rows[i], name=left[i][0], names=left[i]) for i in kept],
            overlay.vectors[kept],
            manifest.encoder,
            manifest.encoder_sha256,
            tracer=manifest.tracer,
            fingerprint=manifest.fingerprint,
            revision=manifest.revision,
            graphs=taken(overlay.graphs(), kept),
        ).save(folder)
    return len(kept)


def reencode_overlay(index: ArchitectureIndex, embed: EmbedGraphs) -> ArchitectureIndex:
    """Make the overlay's vectors anew, from its stored graphs, by the encoder of an index.

    Raises:
        NarError: There is no overlay, or its graphs are of another tracer's version.
    """
    folder = own_folder()
    with _alone(folder):
        if not _stamp(folder):
            raise NarError(f"There are no own models in {folder}: `nar index add REF` adds some.")
        overlay = _load(folder)
        manifest = index.manifest
        anew = overlay.reencoded(manifest.encoder, manifest.encoder_sha256, embed)
        index.check_like(anew)
        anew.save(folder)
    return anew


def _read(folder: Path, index: ArchitectureIndex) -> ArchitectureIndex:
    """The overlay, or an empty one for the index."""
    if _stamp(folder):
        overlay = _load(folder)
        index.check_like(overlay)
        return overlay
    return index.empty(revision="overlay")


def _load(folder: Path) -> ArchitectureIndex:
    """The overlay; what cannot be read of it says what mends it, which is no update."""
    try:
        return ArchitectureIndex.load(folder)
    except IndexUnavailable as error:
        problem, mends = str(error), remedy(folder)
        if mends in problem:
            raise
        raise IndexUnavailable(f"{problem.partition('`nar index')[0]}{mends}") from error


def _stamp(folder: Path) -> tuple[int, ...]:
    """What changes when the overlay does; empty when there is none."""
    try:
        found = (folder / MANIFEST).stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_ino, found.st_size


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other processes from writing the overlay meanwhile."""
    from filelock import FileLock

    lock = FileLock(folder.parent / LOCK)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except OSError as error:
        raise NarError(
            f"{folder} cannot be written to: {error.strerror or error}. Set HF_HOME to a folder "
            "that you may write to."
        ) from error
    try:
        yield
    finally:
        lock.release()
