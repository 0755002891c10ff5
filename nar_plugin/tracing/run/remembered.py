"""What a search for inputs came to, kept for the next question about the same module.

A search can take seconds and be in vain, and `trace`, `find_similar` and `motifs` each ask for
inputs. Kept are the inputs that a forward accepted, or why there are none; nothing of the model.
"""

from __future__ import annotations

import hashlib
import pickle
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch import nn

from nar_plugin import isolation
from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.tracing.twin.parts import module_name, named_modules

_MOST = 256  # searches
_MUCH_LONGER = 1.5  # times, where another search may find what one has not
_PLAIN = frozenset({bool, int, float, str, type(None)})


class Search(NamedTuple):
    """How a search ended.

    Attributes:
        inputs: What the forward accepted; None where it accepted nothing.
        words: Why these, or why none.
        seconds: How long it might have taken.
    """

    inputs: ExampleInputs | None
    words: str
    seconds: float


class _Searches:
    """All searches of this process and of its children (`isolation.Memory`), by design."""

    def __init__(self) -> None:
        self._pickled: dict[str, bytes] = {}
        self._known = 0

    def begin(self) -> None:
        self._known = len(self._pickled)

    def news(self) -> list[tuple[str, bytes]]:
        return list(islice(self._pickled.items(), self._known, None))

    def learn(self, news: list[tuple[str, bytes]]) -> None:
        for key, search in news:
            self.keep(key, search)

    def keep(self, key: str, search: bytes) -> None:
        while len(self._pickled) >= _MOST:
            del self._pickled[next(iter(self._pickled))]
        self._pickled[key] = search

    def get(self, key: str) -> bytes | None:
        return self._pickled.get(key)

    def __bool__(self) -> bool:
        return bool(self._pickled)


_searches = _Searches()
isolation.remember(_searches)


def recalled(model: nn.Module, seconds: float) -> Search | None:
    """How the search for a module's inputs ended, if there was one and it need not be repeated.

    Args:
        model: Any module; it is only read.
        seconds: How long another search may take.
    """
    if not _searches or (pickled := _searches.get(_key(model))) is None:
        return None
    search: Search = pickle.loads(pickled)
    longer = seconds > _MUCH_LONGER * search.seconds
    return None if search.inputs is None and longer else search


def remember(model: nn.Module, search: Search) -> None:
    """Keep how a search ended; inputs of a type that cannot be pickled are searched again."""
    try:
        pickled = pickle.dumps(search)
        pickle.loads(pickled)
    except Exception:
        return
    _searches.keep(_key(model), pickled)


def _key(model: nn.Module) -> str:
    """A hash of what a module is made of: classes, code, sizes and plain attributes."""
    found = hashlib.sha256()
    for path, module in named_modules(model):
        kind = type(module)
        code = getattr(getattr(kind, "forward", None), "__code__", None)
        words = (path, module_name(kind), kind.__qualname__, _code(code), *_contents(module))
        found.update(repr(words).encode(errors="replace"))
    return found.hexdigest()


def _code(code: Any) -> Any:
    constants = [item for item in getattr(code, "co_consts", ()) if type(item) in _PLAIN]
    return getattr(code, "co_code", b""), getattr(code, "co_names", ()), constants


def _contents(module: nn.Module) -> list[Any]:
    found: list[Any] = []
    for name, value in vars(module).items():
        if type(value) in _PLAIN and name != "training":
            found.append((name, value))
        elif type(value) is dict and name in ("_parameters", "_buffers"):
            found.append([(key, _shape(item)) for key, item in value.items()])
        elif issubclass(type(value), torch.Tensor):
            found.append((name, _shape(value)))
    return found


def _shape(value: Any) -> Any:
    try:
        return tuple(value.shape), value.dtype
    except Exception:  # None, or a lazy parameter
        return type(value).__name__
