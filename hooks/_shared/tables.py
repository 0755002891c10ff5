"""Reads the tables that stand beside a plugin's code."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def table(package: str, name: str) -> dict[str, Any]:
    """A TOML file of a plugin's package, read once.

    Example:
        ```python
        table(__package__, "networks.toml")["UNet"]["family"]  # 'unet'
        ```
    """
    return tomllib.loads((files(package) / name).read_text("utf-8"))
