"""The tables of docs/operation-embeddings.md, the figures of the paper beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean, pstdev

from nar_plugin.train.vae.cells import Cell
from nar_plugin.train.vae.models import MODELS

_FROM, _TO = "<!-- tables: nar dev vae measure -->", "<!-- end of tables -->"
# Table 1 (accuracy, validity, uniqueness) and Table 2 (RMSE, Pearson's r) of the paper.
PRINTED = {
    "D-VAE": (99.96, 100.00, 37.26, 0.384, 0.920),
    "GCN": (98.70, 99.53, 34.00, 0.485, 0.870),
    "S-VAE": (99.98, 100.00, 37.03, 0.478, 0.873),
    "GraphRNN": (99.85, 99.84, 29.77, 0.726, 0.669),
    "DVAE-EMB": (99.99, 100.00, 39.15, 0.371, 0.925),
    "GCN-EMB": (98.87, 99.95, 32.63, 0.441, 0.892),
}


def text(cells: Mapping[str, Cell]) -> str:
    """All tables as Markdown."""
    return "\n\n".join(
        filter(None, (_abilities(cells), _predictions(cells), _data(cells), _searches(cells)))
    )


def write(page: Path, cells: Mapping[str, Cell]) -> None:
    """Put the tables between the two comments of a page."""
    before, _, rest = page.read_text("utf-8").partition(_FROM)
    _, _, after = rest.partition(_TO)
    page.write_text(f"{before}{_FROM}\n\n{text(cells)}\n\n{_TO}{after}", "utf-8")


def _trained(cells: Mapping[str, Cell]) -> list[tuple[str, str, Cell]]:
    """Model, label of its protocol and seed, cell; in the order of the paper."""
    found = []
    for name, cell in cells.items():
        if "/" in name:
            model, protocol, seed = name.split("/")
            label = f"{protocol.upper()}, seed {seed}"
            found.append((MODELS.index(model), label, model, cell))
    found.sort(key=lambda row: row[:2])
    return [(model, label, cell) for _, label, model, cell in found]


def _abilities(cells: Mapping[str, Cell]) -> str:
    lines = [
        "Table 1, in percent: the paper's figure, then ours.",
        "",
        "| model | ours | accuracy | validity | uniqueness | epochs | minutes |",
        "|---|---|---|---|---|---|---|",
    ]
    found = _trained(cells)
    for model, label, cell in found:
        pairs = [
            f"{printed:.2f} / {cell[name]:.2f}"
            for name, printed in zip(
                ("accuracy", "validity", "uniqueness"), PRINTED[model], strict=False
            )
        ]
        row = [model, label, *pairs, str(cell["epochs"]), f"{cell['seconds'] / 60:.0f}"]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines) if found else ""


def _predictions(cells: Mapping[str, Cell]) -> str:
    lines = [
        "Table 2, in standard deviations of the accuracies: the paper's figure, then ours as mean "
        "and deviation over seeds of the Gaussian process.",
        "",
        "| vectors | ours | RMSE | Pearson's r | seeds |",
        "|---|---|---|---|---|",
    ]
    if "one-hot" in cells:
        lines.append(f"| one-hot, 51 numbers | no training | {_both(cells['one-hot'])} |")
    for model, label, cell in _trained(cells):
        if "rmse" in cell:
            lines.append(f"| {model} | {label} | {_both(cell, *PRINTED[model][3:])} |")
    return "\n".join(lines)


def _both(cell: Cell, rmse: float | None = None, pearson: float | None = None) -> str:
    def one(name: str, printed: float | None) -> str:
        before = "-" if printed is None else f"{printed:.3f}"
        return f"{before} / {fmean(cell[name]):.3f} ± {pstdev(cell[name]):.3f}"

    return f"{one('rmse', rmse)} | {one('pearson', pearson)} | {len(cell['rmse'])}"


def _data(cells: Mapping[str, Cell]) -> str:
    cell = cells.get("structure")
    if cell is None:
        return ""
    return "\n".join(
        [
            "Section 4.4, Pearson's r with accuracy: the paper's figure, then ours.",
            "",
            "| property | r |",
            "|---|---|",
            f"| average path length | .32 / {cell['path length']:.4f} |",
            f"| clustering (global transitivity) | -.39 / {cell['clustering']:.4f} |",
            "",
            f"{cell['networks']:,} networks share one of {cell['shared']:,} wirings with another. "
            f"Inside a wiring the accuracies differ by {cell['spread']} at most; "
            f"all {cell['wirings']:,} wirings span {cell['range']:.3f}.",
        ]
    )


def _searches(cells: Mapping[str, Cell]) -> str:
    """The last round of each search."""
    lines = [
        "Section 4.3, best accuracy by shared weights among networks whose wiring the file has, "
        "after ten rounds of 50, mean and deviation over searches; the share of such networks.",
        "",
        "| model | ours | way | best | share known | searches |",
        "|---|---|---|---|---|---|",
    ]
    head = len(lines)
    for name, cell in cells.items():
        if name.startswith("search "):
            _, model, protocol, seed = name.split()
            label = f"{protocol.upper()}, seed {seed}"
            lines += [f"| {model} | {label} | {way} | {_last(cell[way])} |" for way in cell]
    return "\n".join(lines) if len(lines) > head else ""


def _last(searches: Cell) -> str:
    best = [rounds[-1]["best"] for rounds in searches.values()]
    known = fmean(one["known"] for rounds in searches.values() for one in rounds)
    return f"{fmean(best):.4f} ± {pstdev(best):.4f} | {100 * known:.0f}% | {len(best)}"
