"""How near two families are, by the reviewed taxonomy: descent, then what they are made of.

`families.toml` has the parents, `taxonomy.tsv` the kinds and fields of the lineages.

| grade | two families |
|---|---|
| 3 | have the same parent, or one is the parent of the other |
| 2 | share one of themselves, their parents and their grandparents |
| 1 | have a kind and a field in common |
| 0 | are foreign to each other |
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from nar_plugin.train.corpus.fact_labels import ancestors

SAME_PARENT, SAME_GRANDPARENT, SAME_KIND, FOREIGN = 3, 2, 1, 0
_NOTHING: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())


class Lineage(NamedTuple):
    """Where a family stands.

    Attributes:
        parent: The family that it descends from; empty where there is none.
        near: Itself, its parent and its grandparent.
        kinds: What it is made of; empty where no line covers it.
        fields: What it is for.
    """

    parent: str
    near: frozenset[str]
    kinds: frozenset[str]
    fields: frozenset[str]


def grade(one: str, other: str) -> int:
    """How near a family is to another one, from 3 to 0; that of a family to itself is 3."""
    first, second = lineage(one), lineage(other)
    siblings = first.parent == second.parent != ""
    if one == other or siblings or first.parent == other or second.parent == one:
        return SAME_PARENT
    if first.near & second.near:
        return SAME_GRANDPARENT
    return SAME_KIND if first.kinds & second.kinds and first.fields & second.fields else FOREIGN


@cache
def lineage(family: str) -> Lineage:
    """Where a family stands; kinds and fields are those of the nearest line above it."""
    above = ancestors(family)
    table = _table()
    line = next((table[name] for name in (family, *above) if name in table), _NOTHING)
    return Lineage(above[0] if above else "", frozenset([family, *above[:2]]), *line)


def taxonomy_table() -> str:
    """The content of `taxonomy.tsv`, without comments."""
    text = (
        files("nar_plugin.train.measure.unseen")
        .joinpath("taxonomy.tsv")
        .read_text(encoding="utf-8")
    )
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


@cache
def _table() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    rows = csv.DictReader(taxonomy_table().splitlines(), delimiter="\t")
    return {
        row["lineage"]: (frozenset(row["kinds"].split()), frozenset(row["fields"].split()))
        for row in rows
    }
