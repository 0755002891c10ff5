"""The figure of embeddings (Figure 5 of the paper): t-SNE of the graphs that asked, two ways.

A PNG, and an HTML page that names the points. Panels are the trained methods, a row for each split;
colours are the coarse labels of real architectures (cnn-block, attention-block, other-block) and
the classes of the search space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.corpus.splits import IntArray
from nar_plugin.train.measure.metrics import Vectors

SAMPLE = "queries.npz"
PNG, HTML = "embeddings.png", "embeddings.html"
_MOST = 1500  # points in a panel
_COLOURS = (
    *("#d62728", "#2ca02c", "#1f77b4", "#ff7f0e", "#9467bd"),
    *("#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"),
)
_ORDER = ("cnn-block", "attention-block", "other-block")  # red, green and blue, as in Figure 5


@dataclass(frozen=True)
class Panel:
    """Points of one method on one split.

    Attributes:
        method: Such as `paper`.
        split: Such as `nas`.
        points: float32[n, 2].
        labels: What each point is coloured by.
        names: The architecture of each.
    """

    method: str
    split: str
    points: NDArray[np.float32]
    labels: list[str]
    names: list[str]


def save_sample(
    folder: Path, vectors: Vectors, items: Sequence[CorpusGraph], graphs: IntArray, *, real: bool
) -> None:
    """Keep the vectors of the graphs that asked, for the figure.

    Args:
        folder: Of a cell.
        vectors: float32[n, d], the rows of all graphs; sparse ones are not kept.
        items: The n graphs.
        graphs: The numbers of those that asked.
        real: Whether they have coarse labels; else their family is their label.
    """
    if not isinstance(vectors, np.ndarray):
        return
    chosen = np.unique(graphs)
    chosen = chosen[np.linspace(0, len(chosen) - 1, min(_MOST, len(chosen))).astype(np.int64)]
    shown = [items[number] for number in chosen.tolist()]
    labels = [
        item.names[0].get("coarse") or "other-block" if real else item.names[0]["family"]
        for item in shown
    ]
    names = [str(item.names[0]["name"]) for item in shown]
    folder.mkdir(parents=True, exist_ok=True)
    rows = vectors[chosen].astype(np.float16)
    np.savez_compressed(folder / SAMPLE, vectors=rows, labels=labels, names=names)


def panel(sample: Path, method: str, split: str) -> Panel:
    """A saved sample in two dimensions, by t-SNE of cosine distances (van der Maaten & Hinton)."""
    from sklearn.manifold import TSNE

    with np.load(sample) as saved:
        rows, labels, names = saved["vectors"], saved["labels"].tolist(), saved["names"].tolist()
    perplexity = min(30.0, (len(rows) - 1) / 3)
    flat = TSNE(metric="cosine", init="random", perplexity=perplexity, random_state=0)
    points = flat.fit_transform(rows.astype(np.float32))
    return Panel(method, split, points.astype(np.float32), labels, names)


def draw(panels: Sequence[Panel], folder: Path) -> None:
    """Write the figure as PNG and as an HTML page that shows names and hides classes.

    Args:
        panels: At least one.
        folder: Receives `embeddings.png` and `embeddings.html`; may be missing.
    """
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    splits = list(dict.fromkeys(one.split for one in panels))
    rows = {split: [one for one in panels if one.split == split] for split in splits}
    wide = max(map(len, rows.values()))
    figure, axes = plt.subplots(
        len(splits), wide, figsize=(3.4 * wide, 3.4 * len(splits)), squeeze=False
    )
    for line, split in zip(axes, splits, strict=True):
        for axis in line:
            axis.axis("off")
        for axis, one in zip(line, rows[split], strict=False):
            labels = np.array(one.labels)
            for label, colour in _colours(one.labels).items():
                here = one.points[labels == label]
                axis.scatter(here[:, 0], here[:, 1], s=4, c=colour, label=label, linewidths=0)
            axis.set_title(f"{one.method} on {split}", fontsize=10)
        handles, names = line[0].get_legend_handles_labels()
        line[0].legend(
            *(handles, names),
            **{"fontsize": 6, "markerscale": 2, "ncol": 5, "frameon": False},
            **{"loc": "upper left", "bbox_to_anchor": (0, 0)},
        )
    figure.tight_layout()
    figure.savefig(folder / PNG, dpi=110)
    plt.close(figure)
    (folder / HTML).write_text(_page(panels), encoding="utf-8")


def _colours(labels: Sequence[str]) -> dict[str, str]:
    present = sorted(
        set(labels), key=lambda label: (_ORDER.index(label) if label in _ORDER else 9, label)
    )
    return dict(zip(present, _COLOURS, strict=False))


def _page(panels: Sequence[Panel]) -> str:
    figures = "\n".join(_svg(one) for one in panels)
    return f"""<!doctype html>
<meta charset="utf-8">
<title>Embeddings by t-SNE</title>
<style>
body {{ font: 14px sans-serif; margin: 1em }}
figure {{ display: inline-block; margin: 4px; width: 420px; vertical-align: top }}
svg {{ width: 420px; height: 420px; border: 1px solid #ccc; cursor: grab }}
button {{ border: 0; background: none; font: inherit; cursor: pointer }}
button.off {{ text-decoration: line-through; opacity: .5 }}
g.off {{ display: none }}
circle:hover {{ stroke: #000; stroke-width: .4 }}
</style>
<p>Graphs that asked, by t-SNE. Point at one for its name, turn the wheel to zoom, drag to move,
click a class to hide it.</p>
{figures}
<script>
for (const figure of document.querySelectorAll("figure")) {{
  const svg = figure.querySelector("svg"), box = svg.viewBox.baseVal
  figure.querySelectorAll("button").forEach((button, number) => button.onclick = () => {{
    button.classList.toggle("off")
    svg.querySelectorAll("g")[number].classList.toggle("off")
  }})
  svg.onwheel = event => {{
    event.preventDefault()
    const scale = event.deltaY > 0 ? 1.2 : 1 / 1.2, x = event.offsetX / 420, y = event.offsetY / 420
    box.x += box.width * x * (1 - scale); box.y += box.height * y * (1 - scale)
    box.width *= scale; box.height *= scale
  }}
  svg.onpointermove = event => {{
    if (!event.buttons) return
    box.x -= event.movementX * box.width / 420; box.y -= event.movementY * box.height / 420
  }}
}}
</script>
"""


def _svg(one: Panel) -> str:
    low, high = one.points.min(axis=0), one.points.max(axis=0)
    places = 2 + 96 * (one.points - low) / np.maximum(high - low, 1e-9)
    groups, buttons = [], []
    for label, colour in _colours(one.labels).items():
        circles = "".join(
            f'<circle cx="{x:.1f}" cy="{100 - y:.1f}" r=".7">'
            f"<title>{escape(name)} ({escape(label)})</title></circle>"
            for (x, y), name, own in zip(places.tolist(), one.names, one.labels, strict=True)
            if own == label
        )
        groups.append(f'<g fill="{colour}">{circles}</g>')
        buttons.append(f'<button style="color:{colour}">{escape(label)}</button>')
    return (
        f"<figure><figcaption><b>{escape(one.method)}</b> on {escape(one.split)}<br>"
        f"{''.join(buttons)}</figcaption>"
        f'<svg viewBox="0 0 100 100">{"".join(groups)}</svg></figure>'
    )
