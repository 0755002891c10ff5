"""Pictures of some designs of an index, as SVG: one for each of the largest families.

One for each design would make a page of a hundred megabytes.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from nar_plugin.drawing import Picture
from nar_plugin.errors import NarError
from nar_plugin.index.stored_designs import stored_design

if TYPE_CHECKING:
    from nar_plugin.index import ArchitectureIndex

FAMILIES = 40
HEIGHT = 180  # pixels
_LARGEST = 3_000  # operations of a design that is drawn: larger ones take seconds
_drawn: WeakKeyDictionary[ArchitectureIndex, dict[int, str]] = WeakKeyDictionary()


def family_pictures(index: ArchitectureIndex) -> dict[int, str]:
    """By its row the picture of the best known design of each of the largest families.

    That is the first row of the family: an index has those of most names first. They are drawn
    once, in some seconds.
    """
    if index not in _drawn:
        _drawn[index] = _family_pictures(index)
    return _drawn[index]


def _family_pictures(index: ArchitectureIndex) -> dict[int, str]:
    families = index.contents.table["family"].to_pylist()
    first: dict[str, int] = {}
    for place, family in enumerate(families):
        first.setdefault(family, place)
    largest = Counter(families).most_common(FAMILIES)
    drawn = {first[family]: picture(index, first[family]) for family, _ in largest}
    return {place: svg for place, svg in drawn.items() if svg}


def picture(index: ArchitectureIndex, place: int) -> str:
    """The picture of the design in a row; empty where its graph is not at hand, or is large."""
    row = index.contents.row(place)
    try:
        macro = stored_design(index, row.fingerprint)
    except NarError:
        return ""
    if macro is None or len(macro.graph) > _LARGEST:
        return ""
    return Picture(macro, row.name).thumbnail(HEIGHT)
