"""What changed from one corpus to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nar_plugin.train.corpus.corpus import read_names

_LABELS = ("family", "parent", "coarse", "task", "licence", "composed")


@dataclass(frozen=True)
class CorpusDiff:
    """The names by what happened to them, each list in alphabetical order.

    Attributes:
        added: In the new corpus alone.
        removed: In the old one alone.
        changed: With another graph; a text says from which to which.
        lost: Traced in the old corpus, failed in the new one; with the cause.
        relabelled: With the same graph and another label; a text says which.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: Mapping[str, str]
    lost: Mapping[str, str]
    relabelled: Mapping[str, str]


def diff(old: Path, new: Path) -> CorpusDiff:
    """Compare two corpora by name.

    Args:
        old: Folder of the one.
        new: Folder of the other.

    Raises:
        IndexUnavailable: A folder holds no corpus.
    """
    before = {row["name"]: row for row in read_names(old)}
    after = {row["name"]: row for row in read_names(new)}
    changed, lost, relabelled = {}, {}, {}
    for name in sorted(before.keys() & after.keys()):
        one, two = before[name], after[name]
        if one["fingerprint"] != two["fingerprint"]:
            if two["fingerprint"] is None:
                lost[name] = str(two["failure"]).partition("\n")[0]
            else:
                changed[name] = f"{one['fingerprint'] or 'failed'} -> {two['fingerprint']}"
        elif words := _relabelling(one, two):
            relabelled[name] = words
    return CorpusDiff(
        tuple(sorted(after.keys() - before.keys())),
        tuple(sorted(before.keys() - after.keys())),
        changed,
        lost,
        relabelled,
    )


def _relabelling(one: dict[str, Any], two: dict[str, Any]) -> str:
    """Such as `family: vit -> deit`; empty when all labels are equal."""
    words = [f"{key}: {one[key]} -> {two[key]}" for key in _LABELS if one[key] != two[key]]
    return ", ".join(words)
