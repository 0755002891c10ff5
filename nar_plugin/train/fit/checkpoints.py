"""Files that long work goes on from: each is written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch


def write_whole(content: dict[str, Any], path: Path) -> None:
    """Write tensors and numbers, as `torch.load` reads them."""
    partial = _partial(path)
    torch.save(content, partial)
    partial.replace(path)


def write_json(content: dict[str, Any], path: Path) -> None:
    """Write texts and numbers as JSON."""
    partial = _partial(path)
    partial.write_text(json.dumps(content, indent=1), encoding="utf-8")
    partial.replace(path)


def _partial(path: Path) -> Path:
    """Where a file is written before it takes its place; the folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.with_suffix(".partial")
