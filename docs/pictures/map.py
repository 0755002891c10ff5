"""Draw map.png, the map of all designs by task: `python docs/pictures/map.py`.

It shows what `nar map` shows, at one size. It needs matplotlib, of the extra `train`.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patheffects import withStroke
from PIL import Image

import nar_plugin
from nar_plugin.map.colours import INK, legends
from nar_plugin.map.family_labels import family_labels

PATH = Path(__file__).parent / "map.png"
WIDE, HIGH, DPI = 11, 8.6, 110  # inches, and pixels for each
COLOURS = 160  # of the palette: half of the bytes


def draw() -> None:
    """Points, their colours, and the names of families as far as there is room."""
    found = nar_plugin.design_map()
    columns = {key: found.table[key].to_pylist() for key in ("task", "params", "year", "family")}
    task = legends(columns["task"], columns["params"], columns["year"])[0]
    codes, places = np.array(task.codes), found.places
    figure = plt.figure(figsize=(WIDE, HIGH), dpi=DPI)
    axes = figure.add_axes((0, 0, 1, 1), aspect="equal", anchor="E")
    axes.axis("off")
    for code, (text, colour) in enumerate(task.entries):
        of = places[codes == code]
        shown = "black" if colour == INK else colour
        axes.scatter(of[:, 0], of[:, 1], s=7, c=shown, linewidths=0, alpha=0.85, label=text)
    legend = figure.legend(loc="upper left", frameon=False, markerscale=3, fontsize=11)
    figure.canvas.draw()
    room = figure.bbox
    taken = [legend.get_window_extent()]
    for label in family_labels(columns["family"], places):
        size = min(8 + label.count**0.5 / 3, 14)
        text = axes.text(label.x, label.y, label.text, fontsize=size, ha="center", va="center")
        text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
        box = text.get_window_extent().padded(3)
        outside = box.x0 < room.x0 or box.x1 > room.x1 or box.y0 < room.y0 or box.y1 > room.y1
        if outside or any(box.overlaps(other) for other in taken):
            text.remove()
        else:
            taken.append(box)
    figure.savefig(PATH)
    plt.close(figure)
    Image.open(PATH).convert("RGB").quantize(COLOURS).save(PATH, optimize=True)


if __name__ == "__main__":
    draw()
    print(PATH.stat().st_size, PATH.name)
