"""Which models of lucidrains' packages are known: the tables of `examples.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from .._shared.tables import table
from .examples import Example

_TABLE = "examples.toml"


@cache
def packages() -> frozenset[str]:
    """Import names of the packages. Every query asks for them, so the table is not parsed."""
    text = (files(__package__) / _TABLE).read_text("utf-8")
    return frozenset(re.findall(r'^\[.+\.models\."(\w+)', text, re.MULTILINE))


@cache
def examples() -> Mapping[str, Mapping[str, Example]]:
    """Distribution to name to example.

    Example:
        ```python
        examples()["linformer"]["linformer/Linformer"].build
        ```
    """
    return {
        distribution: {name: Example(**row) for name, row in about["models"].items()}
        for distribution, about in table(__package__, _TABLE).items()
    }


def task(distribution: str) -> str:
    """What a package's models do, in the words of the Hugging Face Hub."""
    return str(table(__package__, _TABLE)[distribution]["task"])
