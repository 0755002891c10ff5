"""Imports that a process pays once, though models are built in processes forked from it.

A child that imports a library's module takes it along when it ends. So the library of a reference
is imported before the fork, and what a child imported of a library is imported before the next.
"""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from nar_plugin import isolation, manager
from nar_plugin.references.installation import PACKAGES, want


class _Imports:
    """The modules of libraries that a child imported (`isolation.Memory`)."""

    def __init__(self) -> None:
        self.later: list[str] = []

    def begin(self) -> None:
        self._before = set(sys.modules)

    def news(self) -> list[str]:
        known = {"torch", "nar_plugin", *manager.libraries()}
        return [
            name
            for name in sys.modules
            if name not in self._before and name.partition(".")[0] in known
        ]

    def learn(self, news: list[str]) -> None:
        self.later += news


_imports = _Imports()
isolation.remember(_imports)


def import_before(candidate: Any) -> None:
    """Import what building this candidate will import, as far as it is known.

    What cannot be imported is left to the one who builds, whose error says so.

    Args:
        candidate: As in `as_model`.
    """
    waiting, _imports.later = _imports.later, []
    if waiting:
        # A module may keep its frame, and so the frames of all who called, in a cycle (torch.fx):
        # in a thread of its own none of them holds a model.
        thread = threading.Thread(target=_import_all, args=(waiting,), daemon=True)
        thread.start()
        thread.join()
    if not issubclass(type(candidate), str | Path):  # `__class__` may be anything
        return
    candidate = str(candidate)
    library = candidate.partition(":")[0]
    with suppress(Exception):
        if library in PACKAGES:
            want(library, for_what=candidate)
        elif library in manager.libraries():
            import_module(library)
        elif library == "hub" or _is_config(Path(candidate).expanduser()):
            want("transformers", for_what=candidate)


def _is_config(path: Path) -> bool:
    return path.exists() and (path.is_dir() or path.suffix == ".json")


def _import_all(names: list[str]) -> None:
    for name in names:
        with suppress(Exception):
            import_module(name)
