"""How a plugin reads the reference that it is asked to build, and refuses it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from nar_plugin.errors import PluginError

if TYPE_CHECKING:
    from torch import nn


def architecture(name: str, library: str) -> str | None:
    """The part after `library:`, or None when the reference is another plugin's.

    Example:
        ```python
        architecture("timm:resnet50", "timm")  # 'resnet50'
        ```
    """
    prefix, colon, rest = name.partition(":")
    return rest if colon and prefix == library else None


def missing(name: str, library: str, command: str) -> PluginError:
    """The error for a reference whose library cannot be imported."""
    return PluginError(f"{name} needs {library}, which is not installed. Run: {command}")


def unknown(name: str, library: str, known: Iterable[str]) -> PluginError:
    """The error for a name that the library does not have, with the nearest that it has."""
    wanted, names = name.partition(":")[2], list(known)
    near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5)
    if near:
        mend = f"Did you mean {', '.join(f'{library}:{item}' for item in near)}?"
    else:
        mend = f"A name looks like {library}:{names[0]}."
    return PluginError(f"{library} has no architecture named {wanted!r}. {mend}")


def owner(model: nn.Module, *packages: str) -> type | None:
    """The nearest class that these packages define, so that a subclass counts as well.

    Args:
        model: Any module.
        packages: Dotted names of packages; what they contain counts too.
    """
    prefixes = tuple(f"{package}." for package in packages)
    for candidate in type(model).__mro__:
        if f"{candidate.__module__}.".startswith(prefixes):
            return candidate
    return None
