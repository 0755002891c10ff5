"""How many of a library's architectures construct without weights, and trace without inputs."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from nar_plugin.errors import NarError
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.manager import list_plugins
from nar_plugin.references.callables import current_folder_importable
from nar_plugin.train.corpus.build import list_architectures
from nar_plugin.train.corpus.workers import read_records, trace_all


@dataclass(frozen=True)
class Coverage:
    """One library's row.

    Attributes:
        library: Its distribution, or the module that `named_in` was given.
        version: As installed, if it is a distribution.
        listed: Names that its plugin lists.
        constructed: Of these, built on the meta device.
        traced: Of these, traced on meta tensors with guessed inputs.
        seconds: Time of all of them together, on one core.
        failures: Name and cause of every other one.
    """

    library: str
    version: str | None
    listed: int
    constructed: int
    traced: int
    seconds: float
    failures: Mapping[str, str]


def named_in(module: str) -> list[NamedArchitecture]:
    """The models of a module, or of all in a package: each public function builds one.

    Example:
        ```python
        named_in("zoo")[0].name  # 'zoo:lenet'
        ```
    """
    with current_folder_importable():
        found = import_module(module)
        inside = [f"{module}.{item.name}" for item in iter_modules(getattr(found, "__path__", ()))]
        return [
            NamedArchitecture(f"{place}:{name}", module, "", "", "")
            for place in (module, *inside)
            for name, function in inspect.getmembers(import_module(place), inspect.isfunction)
            if not name.startswith("_") and function.__module__ == place
        ]


def measure_coverage(
    records: Path, *, libraries: Iterable[str], module: str | None, workers: int
) -> list[Coverage]:
    """Construct and trace every architecture of the libraries, and count.

    Args:
        records: A JSON line for each finished name, for going on after an interruption.
        libraries: Distribution names; none for all that plugins list.
        module: A module of further models, as `named_in` reads it.
        workers: Number of processes.

    Returns:
        One row for each library, by name.

    Raises:
        NarError: No plugin lists an architecture of a library.
    """
    chosen = set(libraries)
    wanted = named_in(module) if module else []
    if chosen or not module:
        listed = list_architectures(chosen or None)
        if unknown := sorted(chosen - {item.library for item in listed}):
            here = ", ".join(plugin.name for plugin in list_plugins() if plugin.installed)
            raise NarError(
                f"No architecture of {', '.join(unknown)} is listed here. There are plugins for "
                f"these libraries: {here}."
            )
        wanted += listed
    trace_all(wanted, records, workers=workers)
    names = {item.name for item in wanted}
    by_library: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in {r["name"]: r for r in read_records(records) if r["name"] in names}.values():
        by_library[record["library"]].append(record)
    return [_row(library, by_library[library]) for library in sorted(by_library)]


def _row(library: str, records: list[dict[str, Any]]) -> Coverage:
    failures = {record["name"]: _cause(record) for record in records if record["method"] != "meta"}
    return Coverage(
        library=library,
        version=records[0]["version"],
        listed=len(records),
        constructed=sum(record["constructed"] for record in records),
        traced=sum(record["method"] == "meta" for record in records),
        seconds=round(sum(record["seconds"] for record in records), 1),
        failures=dict(sorted(failures.items())),
    )


def _cause(record: Mapping[str, Any]) -> str:
    """The stage that failed and what was said, in one line."""
    if record["method"]:
        return f"traced as {record['method']}: {' '.join(record['reason'].split())[:400]}"
    stage = "not traced" if record["constructed"] else "not constructed"
    return f"{stage}: {' '.join(str(record['failure']).split())[:400]}"
