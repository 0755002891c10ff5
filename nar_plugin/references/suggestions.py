"""Which known reference a person may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from nar_plugin import manager
from nar_plugin.errors import NarError, UnknownReference
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.references.installation import NotInstalled

MOST = 5


def libraries() -> list[str]:
    """The model libraries that have a plugin, such as `timm`."""
    return [library for _, library in manager.call_each("nar_library")]


def listed(library: str) -> dict[str, NamedArchitecture]:
    """What the plugins of an installed library list, by reference, such as `timm:resnet50`."""
    return {
        architecture.name: architecture
        for _, architectures in manager.call_each("nar_architectures", libraries={library})
        for architecture in architectures
        if architecture.name.startswith(f"{library}:")
    }


def suggestions(reference: str, known: Iterable[str]) -> list[str]:
    """Known references of that very name in any library, else the nearest ones.

    Args:
        reference: A whole reference, or a name without a library.
        known: Whole references.
    """
    name = reference.rpartition(":")[2].lower()
    by_name: dict[str, list[str]] = {}
    for other in known:
        by_name.setdefault(other.partition(":")[2].lower(), []).append(other)
    near = [name] if name in by_name else get_close_matches(name, by_name, n=3, cutoff=0.6)
    return [other for close in near for other in by_name[close]][:MOST]


def did_you_mean(reference: str, known: Iterable[str]) -> str:
    """Such as `; did you mean timm:resnet50 or torchvision:resnet50?`, or an empty text."""
    *rest, last = suggestions(reference, known) or [""]
    meant = f"{', '.join(rest)} or {last}" if rest else last
    return f"; did you mean {meant}?" if meant else ""


def explained(error: UnknownReference, known: Iterable[str]) -> NarError:
    """The error with the known references that come near, where some do."""
    if isinstance(error, NotInstalled):
        return _of_missing_library(error, known)
    near = did_you_mean(error.reference, known)
    return NarError(f"{error.problem}{near}") if near else error


def _of_missing_library(error: NotInstalled, known: Iterable[str]) -> NarError:
    """The error itself where the library may have such a name, for all that the index knows."""
    library, _, name = error.reference.partition(":")
    names = [other for other in known if other.startswith(f"{library}:")]
    if not names or error.reference in names:
        return error
    by_start: dict[str, list[str]] = {}  # names of configs go on long after the architecture's
    for other in names:
        by_start.setdefault(other.partition(":")[2][: len(name)].lower(), []).append(other)
    close = get_close_matches(name.lower(), by_start, n=MOST, cutoff=0.6)
    near = [other for start in close for other in sorted(by_start[start], key=len)[:3]][:MOST]
    found = f"these come near: {', '.join(near)}" if near else "none comes near"
    return NarError(
        f"No architecture {error.reference} is known: {library} is not installed, and of its "
        f"{len(names):,} names in the index {found}"
    )
