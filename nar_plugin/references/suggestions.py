"""Which known reference a person may have meant."""

from __future__ import annotations

from difflib import get_close_matches

from nar_plugin import manager


def known_names() -> list[str]:
    """Every reference that the installed libraries can build, such as `timm:resnet50`."""
    return [
        architecture.name
        for _, architectures in manager.call_each("nar_architectures")
        for architecture in architectures
    ]


def libraries() -> list[str]:
    """The model libraries that have a plugin, such as `timm`."""
    return [library for _, library in manager.call_each("nar_library")]


def suggestions(reference: str) -> list[str]:
    """Known references of that exact name in any library, else the nearest ones.

    Args:
        reference: A whole reference, or a name without a library.
    """
    library, _, name = reference.rpartition(":")
    known = known_names()
    if library in libraries():
        known = [other for other in known if other.startswith(f"{library}:")]
    by_name: dict[str, list[str]] = {}
    for other in known:
        by_name.setdefault(other.partition(":")[2].lower(), []).append(other)
    near = get_close_matches(name.lower(), by_name, n=3, cutoff=0.6)
    if name.lower() in by_name:
        near = [name.lower()]
    return [other for name in near for other in by_name[name]][:5]


def did_you_mean(reference: str) -> str:
    """Such as `; did you mean timm:resnet50 or torchvision:resnet50?`, or an empty text."""
    *rest, last = suggestions(reference) or [""]
    meant = f"{', '.join(rest)} or {last}" if rest else last
    return f"; did you mean {meant}?" if meant else ""
