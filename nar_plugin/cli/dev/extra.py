"""What an optional command says when its extra is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nar_plugin.errors import NarError


@contextmanager
def needs_train() -> Iterator[None]:
    """Turn a missing library into a NarError that names the extra."""
    try:
        yield
    except ImportError as error:
        raise NarError(
            f"This command wants the library {error.name!r}: pip install 'nar-plugin[train]'"
        ) from error
