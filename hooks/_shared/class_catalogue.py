"""Catalogues of libraries that publish their models as plain classes and not by name."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Entry

if TYPE_CHECKING:
    from torch import nn

_PLACES = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def classes_below(package: str, *, skip: Iterable[str] = ()) -> Iterator[type[nn.Module]]:
    """The public module classes that a package and what lies below it define.

    Args:
        package: Dotted name; a plain module will do.
        skip: Modules, by the last part of their name, that are not even imported.

    Raises:
        ImportError: The package itself is not installed; what lies below it may fail to import.
    """
    from torch import nn

    for module in _modules(package, frozenset(skip)):
        for name, item in vars(module).items():
            if not isinstance(item, type) or not issubclass(item, nn.Module):
                continue
            if item.__module__ == module.__name__ and item.__name__ == name and name[0] != "_":
                yield item


def entries(
    classes: Iterable[type[nn.Module]],
    values: Mapping[str, Any],
    *,
    task: str | Callable[[type], str],
    special: Mapping[str, Mapping[str, Any]] | None = None,
    skip: Iterable[str] = (),
) -> dict[str, Entry]:
    """One entry for each class whose arguments without a default are known.

    Args:
        classes: Candidates; of two with the same name the first counts.
        values: Argument name to value, for the arguments that have no default.
        task: Of all of them, or of each class.
        special: Class name to arguments that only this class gets, beside the others.
        skip: Names of classes that are no architectures: base classes, layers.

    Returns:
        Class name to entry; the family is the module that defines the class.
    """
    special, skip = special or {}, frozenset(skip)
    found: dict[str, Entry] = {}
    for item in classes:
        name = item.__name__
        given = arguments(item, values, special.get(name, {}))
        if given is not None and name not in found and name not in skip:
            found[name] = Entry(
                build=partial(item, **given),
                family=str(item.__module__).rpartition(".")[2].lower(),
                task=task if isinstance(task, str) else task(item),
            )
    return found


def arguments(
    builder: Callable[..., object], values: Mapping[str, Any], extra: Mapping[str, Any]
) -> dict[str, Any] | None:
    """What to call a class with: `extra` and every argument without a default, or None."""
    if inspect.isabstract(builder):
        return None
    given = dict(extra)
    for parameter in inspect.signature(builder).parameters.values():
        if parameter.kind in _PLACES and parameter.default is parameter.empty:
            if parameter.name not in given and parameter.name not in values:
                return None
            given.setdefault(parameter.name, values.get(parameter.name))
    return given


def _modules(package: str, skip: frozenset[str]) -> Iterator[Any]:
    root = importlib.import_module(package)
    yield root
    for item in pkgutil.iter_modules(getattr(root, "__path__", ())):
        if item.name not in skip and not item.name.startswith(("_", "test")):
            try:
                yield from _modules(f"{package}.{item.name}", skip)
            except Exception:  # needs an optional dependency, or one that changed
                continue
