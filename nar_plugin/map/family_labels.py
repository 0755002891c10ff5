"""Where the names of families stand on the map: at the thick of each, and again far from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nar_plugin.index.store.vectors import FloatArray

NEAR = 0.02  # of the map's width: how far the thick of a family reaches
FAR = 0.1  # from where on a family may be named once more
_LEAST = 5  # points of a second place
_SHARE = 0.2  # of the family's points, too
_LARGEST = 2_000  # points of a family that are looked at


@dataclass(frozen=True)
class FamilyLabel:
    """The name of a family at one place.

    Attributes:
        text: The family.
        x: As the points.
        y: As `x`.
        count: Its points near by; where labels collide the one of more points is shown.
    """

    text: str
    x: float
    y: float
    count: int


def family_labels(families: Sequence[str], places: FloatArray) -> list[FamilyLabel]:
    """A label for each family, several where it stands in several places; largest counts first.

    Args:
        families: Of each point; empty where it has none.
        places: Of each point.

    Shapes:
        places [len(families), 2].
    """
    if not len(places):
        return []
    width = float(np.ptp(places, axis=0).max()) or 1.0
    members: dict[str, list[int]] = {}
    for place, family in enumerate(families):
        if family:
            members.setdefault(family, []).append(place)
    found = [
        label
        for family, of in members.items()
        for label in _labels(family, places[of[:_LARGEST]], width)
    ]
    return sorted(found, key=lambda label: -label.count)


def _labels(family: str, points: FloatArray, width: float) -> list[FamilyLabel]:
    """The thick of the points, then of those that are far from it, while these are enough."""
    labels: list[FamilyLabel] = []
    total = len(points)
    while len(points):
        distances = np.linalg.norm(points[:, None] - points[None], axis=2) / width
        counts = (distances < NEAR).sum(axis=1)
        thick = int(counts.argmax())
        count = int(counts[thick])
        if labels and count < max(_LEAST, _SHARE * total):
            break
        x, y = points[distances[thick] < NEAR].mean(axis=0).tolist()
        labels.append(FamilyLabel(family, x, y, count))
        points = points[distances[thick] > FAR]
    return labels
