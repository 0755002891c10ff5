"""Measured figures as a file of cells, one for each model; what is there is not measured again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nar_plugin.train.fit.checkpoints import write_json

Cell = dict[str, Any]


class Cells:
    """A JSON file of cells, written after each.

    Args:
        path: The file; need not exist.

    Attributes:
        all: The cells by name: `structure`, `one-hot`, or model/protocol/seed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.all = _read(path)

    def put(self, name: str, cell: Cell) -> None:
        """Add a cell and write the file, with what other processes have put there meanwhile."""
        self.all = _read(self._path) | {name: cell}
        write_json(dict(sorted(self.all.items())), self._path)


def _read(path: Path) -> dict[str, Cell]:
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}
