"""A map as one page: its data packed into the page, and a script without dependencies.

Names come from other people's models. They are packed (gzip, base64), so that none of them is part
of the markup, and the script writes them as text. The page may load nothing: its policy says so.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nar_plugin.map.colours import legends
from nar_plugin.map.family_labels import family_labels
from nar_plugin.visible_text import clean

if TYPE_CHECKING:
    from nar_plugin.index.store.vectors import FloatArray
    from nar_plugin.map.design_map import DesignMap

IntArray = NDArray[np.int64]
GRID = 10_000  # steps of the map's longer side: finer than any screen
_LONGEST = 200  # characters of a text
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


def map_page(found: DesignMap, link: str = "") -> str:
    """The page of a map: see `DesignMap.html`."""
    content = json.dumps(page_data(found, link), separators=(",", ":")).encode()
    packed = b64encode(gzip.compress(content, 9, mtime=0)).decode()
    return (
        _file("page.html")
        .replace("{policy}", escape(_POLICY))
        .replace("{style}", _file("page.css"))
        .replace("{script}", _file("page.js"))
        .replace("{packed}", packed)
    )


def page_data(found: DesignMap, link: str = "") -> dict[str, Any]:
    """What the script reads: columns of the points, legends, labels, what was asked, pictures."""
    columns = {
        key: found.table[key].to_pylist()
        for key in ("name", "names", "family", "task", "year", "params", "paper", "title")
    }
    strangers = [each for each in found.asked if each.row is None]
    places = np.array([*found.places.tolist(), *((each.x, each.y) for each in strangers)])
    grid = on_grid(places.reshape(-1, 2).astype(np.float32))
    papers = [
        f"{title or ''} {paper or ''}".strip()
        for title, paper in zip(columns["title"], columns["paper"], strict=True)
    ]
    blank = [""] * len(strangers)
    names = [*columns["name"], *(each.text for each in strangers)]
    params = [*columns["params"], *(each.params for each in strangers)]
    tasks = [*columns["task"], *blank]
    years = [*columns["year"], *(None for _ in strangers)]
    placed = iter(range(len(columns["name"]), len(names)))
    return {
        "about": clean(found.about),
        "link": link,
        "names": [_text(name) for name in names],
        "also": [_others(name, of) for name, of in zip(names, columns["names"], strict=False)],
        "family": _numbered([*columns["family"], *blank]),
        "task": _numbered(tasks),
        "paper": _numbered([*papers, *blank]),
        "year": [year or 0 for year in years],
        "params": params,
        "x": grid[:, 0].tolist(),
        "y": grid[:, 1].tolist(),
        "own": found.own,
        "legends": [
            {"title": each.title, "entries": each.entries, "codes": "".join(map(str, each.codes))}
            for each in legends(tasks, params, years)
        ],
        "labels": [
            [_text(label.text), round(label.x), round(label.y), label.count]
            for label in family_labels([*columns["family"], *blank], grid.astype(np.float32))
        ],
        "asked": [
            {"text": _text(each.text), "point": each.row if each.row is not None else next(placed)}
            for each in found.asked
        ],
        "pictures": {str(place): svg for place, svg in found.pictures.items()},
    }


def on_grid(places: FloatArray) -> IntArray:
    """Whole numbers from 0 to `GRID`, the longer side from end to end, both on one scale.

    Shapes:
        [n, 2] to int64[n, 2].
    """
    low = places.min(axis=0)
    width = float((places.max(axis=0) - low).max()) or 1.0
    found: IntArray = np.rint((places - low) / width * GRID).astype(np.int64)
    return found


def _numbered(values: list[str]) -> dict[str, list[Any]]:
    """The distinct texts, and the number of each value's."""
    texts = {text: number for number, text in enumerate(dict.fromkeys(values))}
    return {"texts": [_text(text) for text in texts], "of": [texts[value] for value in values]}


def _others(name: str, names: list[str]) -> str:
    """The other names of a design, for the search."""
    return " ".join(_text(each) for each in names if each != name)


def _text(value: str) -> str:
    return clean(value)[:_LONGEST]


def _file(name: str) -> str:
    return files("nar_plugin.map").joinpath(name).read_text("utf-8")
