"""Labels of the corpus, from facts: the defining module, the operators, the head.

`families.toml` is the reviewed table that makes the libraries' words for one family one word.
"""

from __future__ import annotations

import json
import re
import tomllib
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any

# The paper extracts "key hints such as 'former', 'conv' and 'roberta'" from names by regular
# expressions (section 4, Data Pre-Processing) and states no more of them; the rest of the list is
# ours. The column serves the comparison with the paper's table alone.
_HINTS = re.compile(
    "roberta|bert|gpt|llama|t5|bart|clip|yolo|rcnn|unet|former|vit|swin|mixer|mamba|"
    "efficientnet|mobilenet|regnet|densenet|resne|vgg|conv|lstm|net"
)


def labelled(
    row: dict[str, Any],
    attention: bool,
    weights: dict[str, int] | None = None,
    *,
    convolutional: bool = False,
) -> dict[str, Any]:
    """A name's row with its labels.

    Args:
        row: With `library`, `defined_in`, `task`, `name` and `work` (FLOPs by kind, as JSON).
        attention: Whether its graph holds an attention.
        weights: Weights by kind of layer, which stand for the FLOPs where none are known.
        convolutional: Whether its linear layers stand between convolutions (`mixing.convolves`).

    Returns:
        The row with `family`, `parent`, `coarse`, `hint` and the reviewed `task`.
    """
    family, parent = family_of(*(str(row[key]) for key in ("library", "defined_in", "name")))
    tasks = _tables()["tasks"]
    task = tasks.get(row["name"]) or tasks.get(
        f"{row['library']}::{row['defined_in']}", row["task"]
    )
    work = json.loads(row.get("work") or "null") or weights or {}
    hint = _HINTS.search(str(row["name"]).partition(":")[2].lower())
    return {
        **row,
        "family": family,
        "parent": parent,
        "task": task,
        "coarse": coarse_of(work, attention, convolutional),
        "hint": hint.group() if hint else "other",
    }


def family_of(library: str, defined_in: str, name: str = "") -> tuple[str, str | None]:
    """The family of a model and the family that it descends from, by the reviewed table.

    Args:
        library: Distribution name.
        defined_in: The defining module or model type, in the library's words.
        name: The model's, which tells apart the designs of a module that holds several.
    """
    tables = _tables()
    word = re.sub(r"[^a-z0-9]+", "_", defined_in.lower()).strip("_")
    own = tables["libraries"].get(library, {})
    family = own.get(word) or tables["aliases"].get(word, word)
    if library in tables["constructors"]:
        family = _design(tables["designs"].get(family, {}), name) or family
    return family, tables["parents"].get(family)


def ancestors(family: str) -> list[str]:
    """The families that a family descends from, the nearest first."""
    parents = _tables()["parents"]
    found = [family]
    while (above := parents.get(found[-1])) and above not in found:
        found.append(above)
    return found[1:]


def _design(designs: dict[str, str], name: str) -> str | None:
    """The first whose pattern a constructor's name has."""
    constructor = name.partition(":")[2].lower()
    return next(
        (found for pattern, found in designs.items() if fnmatchcase(constructor, pattern)), None
    )


def coarse_of(work: dict[str, int], attention: bool, convolutional: bool = False) -> str:
    """The paper's coarse label, from the operators that carry most FLOPs.

    Args:
        work: FLOPs by kind of operator.
        attention: Whether the graph holds an attention.
        convolutional: Whether its linear layers are 1 x 1 convolutions by another name.

    Returns:
        `cnn-block` when convolutions carry at least half of the FLOPs, else `attention-block`
        when there is an attention, else `cnn-block` when its linear layers count as convolutions
        and both carry at least half, else `other-block`.
    """
    half = max(1, sum(work.values())) / 2
    if work.get("conv", 0) >= half:
        return "cnn-block"
    if attention:
        return "attention-block"
    both = work.get("conv", 0) + work.get("matmul", 0)
    return "cnn-block" if convolutional and both >= half else "other-block"


@cache
def _tables() -> dict[str, dict[str, Any]]:
    """`families.toml`, with each list turned round: from a word to what it stands for."""
    text = files("nar_plugin.train.corpus").joinpath("families.toml").read_text(encoding="utf-8")
    found = tomllib.loads(text)
    return {
        "aliases": _turned(found["families"]),
        "parents": _turned(found["parents"]),
        "tasks": _turned(found["tasks"]),
        "libraries": {library: _turned(words) for library, words in found["libraries"].items()},
        "constructors": dict.fromkeys(found["mixed_modules"].pop("libraries")),
        "designs": {family: _turned(words) for family, words in found["mixed_modules"].items()},
    }


def _turned(table: dict[str, list[str]]) -> dict[str, str]:
    return {word: key for key, words in table.items() for word in words}
