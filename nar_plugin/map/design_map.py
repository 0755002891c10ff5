"""DesignMap: the points of a map, with what is known of each, and the models asked about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nar_plugin.errors import NarError
from nar_plugin.index.places import all_places, own_subjects, placed
from nar_plugin.index.store.vectors import FloatArray

if TYPE_CHECKING:
    import pyarrow as pa

    from nar_plugin.index import ArchitectureIndex
    from nar_plugin.index.ranking import Subject


@dataclass(frozen=True)
class AskedPoint:
    """A model asked about, as it stands on the map.

    Attributes:
        text: What it is called.
        params: Number of its parameters.
        x: Its place, as that of the rows.
        y: As `x`.
        row: The number of its own row; None where the index does not hold it, and it was placed.
    """

    text: str
    params: int
    x: float
    y: float
    row: int | None = None


@dataclass(frozen=True, repr=False)
class DesignMap:
    """The designs of an index in the plane. `.save("map.html")` writes the page.

        ```python
        found = nar_plugin.design_map(["timm:resnet50", model])
        found.save("map.html")
        ```

    Attributes:
        table: The n rows of the index, then those of the user's own models.
        places: float32[n, 2].
        own: How many of the last rows are the user's own models.
        asked: The models asked about.
        about: A line about the index.
        draw: Returns pictures of some rows as SVG, by their number.
    """

    table: pa.Table
    places: FloatArray
    own: int
    asked: tuple[AskedPoint, ...]
    about: str
    draw: Callable[[], Mapping[int, str]]

    def __repr__(self) -> str:
        """How many points there are, and where the asked models stand."""
        lines = [f"map of {len(self.table):,} designs: .save('map.html')"]
        for each in self.asked:
            how = "its own row" if each.row is not None else "placed by its nearest"
            lines.append(f"{each.text}: {each.x:.2f}, {each.y:.2f}, {how}")
        return "\n".join(lines)

    @cached_property
    def pictures(self) -> Mapping[int, str]:
        """Pictures of the best known designs of the largest families, by row."""
        return self.draw()

    def html(self, link: str = "") -> str:
        """A page that needs no other file and no network.

        Args:
            link: What stands before the name of a design in a link to it, such as `/?model=`; empty
                where nothing answers.
        """
        from nar_plugin.map.page import map_page

        return map_page(self, link)

    def save(self, path: str | Path) -> Path:
        """Write the page.

        Raises:
            NarError: It cannot be written.
        """
        path = Path(path)
        if path.suffix != ".html":
            raise NarError(f"A map is saved as .html; got {path.name!r}.")
        try:
            path.write_text(self.html(), encoding="utf-8")
        except OSError as error:
            raise NarError(f"The map cannot be written to {path}: {error.strerror}") from error
        return path


def map_of(
    index: ArchitectureIndex,
    asked: Sequence[tuple[str, int, Subject]],
    draw: Callable[[], Mapping[int, str]] | None = None,
) -> DesignMap:
    """The map of an index, with the user's own models and the asked ones on it.

    Args:
        index: What is shown.
        asked: Of each model its name, its parameters, and it as the index compares it.
        draw: Returns the pictures; None for those of `family_pictures`.

    Raises:
        NarError: The index came without a map.
    """
    import pyarrow as pa

    from nar_plugin.map.pictures import family_pictures

    places, table, own = all_places(index), index.contents.table, 0
    positions = dict(index.contents.positions)
    if index.overlay is not None:
        theirs = index.overlay.contents
        positions = {name: len(table) + i for name, i in theirs.positions.items()} | positions
        own_places = placed(index, own_subjects(index, index.overlay, range(len(theirs))))
        places = np.concatenate([places, own_places])
        table, own = pa.concat_tables([table, theirs.table]), len(theirs)
    points = []
    for text, params, subject in asked:
        row = positions.get(subject.fingerprint)
        x, y = (placed(index, [subject])[0] if row is None else places[row]).tolist()
        points.append(AskedPoint(text, params, x, y, row))
    manifest = index.manifest
    about = (
        f"{manifest.names:,} names, {manifest.graphs:,} designs; index {manifest.revision}, "
        f"encoder {manifest.encoder}"
    )
    drawn = draw or (lambda: family_pictures(index))
    return DesignMap(table, places, own, tuple(points), about, drawn)
