"""Facts about a name that a person acts on: paper, line that builds it, runtimes.

What a plugin says of a name, which the corpus keeps, stands. The rest is read from the tables
beside this file when an index is written, so that a corrected row needs no build. Each row names
its source: `papers.tsv` and `runtimes.tsv` by family, `lines.toml` by library.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

COLUMNS = ("year", "paper", "title", "weights_license", "build", "runtimes")
_GENERATES = frozenset({"text-generation", "text2text-generation", "image-text-to-text"})


def facts_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of a name, None where no source says it.

    Args:
        row: With `name`, `library`, `family`, `task`, and what a plugin says of `COLUMNS`.

    Returns:
        A value for each of `COLUMNS`.
    """
    paper = {key: row.get(key) for key in ("year", "paper", "title")}
    if not paper["paper"]:
        paper = papers().get(row["family"], dict.fromkeys(paper))
    return {
        **paper,
        "weights_license": row.get("weights_license"),
        "build": row.get("build") or line_of(row["library"], row["name"]),
        "runtimes": runtimes().get(row["family"]) if row["task"] in _GENERATES else None,
    }


def line_of(library: str, name: str) -> str | None:
    """The line of Python that builds a name, where its library has one function for all.

    Example:
        ```python
        line_of("torchvision", "torchvision:resnet50")  # "torchvision.models.get_model('resnet50')"
        ```
    """
    line: str | None = _lines().get(library)
    return line.replace("{name}", name.partition(":")[2]) if line else None


@cache
def papers() -> dict[str, dict[str, Any]]:
    """Year, paper and title by family."""
    return {
        row["family"]: {"year": int(row["year"]), "paper": row["paper"], "title": row["title"]}
        for row in _rows("papers.tsv")
    }


@cache
def runtimes() -> dict[str, list[str]]:
    """The runtimes that implement a family."""
    found: dict[str, list[str]] = {}
    for row in _rows("runtimes.tsv"):
        found.setdefault(row["family"], []).append(row["runtime"])
    return found


@cache
def _lines() -> dict[str, str]:
    return tomllib.loads(_text("lines.toml"))["lines"]  # type: ignore[no-any-return]


def _rows(name: str) -> list[dict[str, str]]:
    lines = [line for line in _text(name).splitlines() if line and not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def _text(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
