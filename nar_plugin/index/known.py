"""Names that the index answers for without a trace: a trace would give what it has already."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from nar_plugin.index.store.prefixes import prefix_of
from nar_plugin.tracing.fingerprint import FINGERPRINT_VERSION

if TYPE_CHECKING:
    from nar_plugin.index.index import ArchitectureIndex
    from nar_plugin.index.ranking import Subject
    from nar_plugin.index.store.rows import ArchitectureRow
    from nar_plugin.index.store.vectors import FloatArray


class Known(NamedTuple):
    """A name's row and unit vector, and the distribution that the name is of.

    Shapes:
        vector [dim].
    """

    row: ArchitectureRow
    vector: FloatArray
    library: str


def known(index: ArchitectureIndex, name: str) -> Known | None:
    """What the index has of a name, where the library that it is of would build the same model.

    That is a library of the version whose model was traced, or one that is not installed, so that
    nothing else can answer. The user's own models and repositories of the Hub are traced anew: they
    may have changed.

    Args:
        index: Where to look.
        name: A whole name, such as `timm:resnet50`.
    """
    if index.overlay is not None and index.overlay.by_name(name) is not None:
        return None
    found = index.by_name(name)
    if found is None or index.manifest.fingerprint != FINGERPRINT_VERSION:
        return None
    if prefix_of(name) in ("", "hub"):
        return None
    row, vector = found
    library = row.library if name == row.name else _library(index, name)
    if not library or not _is_as_traced(library, prefix_of(name), index.manifest.versions):
        return None
    return Known(row, vector, library)


def is_another(index: ArchitectureIndex, name: str, subject: Subject) -> bool:
    """Whether the index knows a name as another backbone than that of a design (see `known`)."""
    found = known(index, name)
    if found is None or found.row.design == subject.design:
        return False
    return found.row.backbone != subject.backbone or not subject.backbone


def agreeing(one: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str]:
    """The versions in either of two indexes, without those on which they differ."""
    return {
        library: version
        for library, version in {**one, **other}.items()
        if one.get(library, version) == version
    }


def _library(index: ArchitectureIndex, name: str) -> str:
    """The distribution that names of this prefix are of; empty where there are several."""
    return index.contents.distributions.get(prefix_of(name), "")


def _is_as_traced(library: str, module: str, versions: Mapping[str, str]) -> bool:
    try:
        return metadata.version(library) == versions.get(library)
    except metadata.PackageNotFoundError:
        # What can be imported all the same is here in another way, of whatever version.
        return find_spec(module.partition(".")[0]) is None
