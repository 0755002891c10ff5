"""The tables of docs/operation-embeddings.md, the figures of the paper beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean, pstdev

from nar_plugin.train.vae.measure.cells import Cell
from nar_plugin.train.vae.models.by_name import MODELS

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


# What the accuracies of a space are.
_ACCURACY = {
    "enas": "ENAS, accuracy by shared weights",
    "nas201": "NAS-Bench-201, test accuracy on CIFAR-10 after 200 epochs in percent",
}


def text(cells: Mapping[str, Cell]) -> str:
    """All tables as Markdown."""
    parts = [_data(cells)]
    for space in _ACCURACY:
        parts += [_abilities(cells, space), _predictions(cells, space), _searches(cells, space)]
    return "\n\n".join(filter(None, parts))


def write(page: Path, cells: Mapping[str, Cell]) -> None:
    """Put the tables between the two comments of a page."""
    before, _, rest = page.read_text("utf-8").partition(_FROM)
    _, _, after = rest.partition(_TO)
    page.write_text(f"{before}{_FROM}\n\n{text(cells)}\n\n{_TO}{after}", "utf-8")


def _trained(cells: Mapping[str, Cell], prefix: str) -> list[tuple[str, str, Cell]]:
    """Model, label of its protocol and seed, cell; in the order of the paper."""
    found = []
    for name, cell in cells.items():
        model, protocol, seed = ([*name.removeprefix(prefix).split("/"), "", ""])[:3]
        if name.startswith(prefix) and seed:
            found.append((MODELS.index(model), f"{protocol.upper()}, seed {seed}", model, cell))
    found.sort(key=lambda row: row[:2])
    return [(model, label, cell) for _, label, model, cell in found]


def _abilities(cells: Mapping[str, Cell], space: str) -> str:
    found = _trained(cells, f"{space}/")
    printed = PRINTED if space == "enas" else {}
    of_paper = "Table 1, in percent: the paper's figure, then ours" if printed else "In percent"
    lines = [
        f"{of_paper}. {_ACCURACY[space].partition(',')[0]}.",
        "",
        "| model | ours | accuracy | validity | uniqueness | prior validity | epochs | minutes |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for model, label, cell in found:
        figures = [
            _beside(f"{cell[name]:.2f}", printed.get(model), place, 2)
            for place, name in enumerate(("accuracy", "validity", "uniqueness"))
        ]
        figures.append(f"{cell['prior_validity']:.2f}")
        row = [model, label, *figures, str(cell["epochs"]), f"{cell['seconds'] / 60:.0f}"]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines) if found else ""


def _predictions(cells: Mapping[str, Cell], space: str) -> str:
    printed = PRINTED if space == "enas" else {}
    of_paper = "Table 2: the paper's figure, then ours" if printed else "Ours"
    lines = [
        f"{of_paper}, mean and deviation over seeds of the Gaussian process. {_ACCURACY[space]}; "
        "the RMSE is in standard deviations. The last column has boosted trees in the place of the "
        "process.",
        "",
        "| vectors | ours | RMSE | Pearson's r | seeds | RMSE and r of trees |",
        "|---|---|---|---|---|---|",
    ]
    head = len(lines)
    rows = [
        (model, label, cell)
        for model, label, cell in _trained(cells, f"{space}/")
        if "rmse" in cell
    ]
    if f"{space}/one-hot" in cells:
        rows.insert(0, ("one-hot", "no training", cells[f"{space}/one-hot"]))
    for model, label, cell in rows:
        figures = [
            _beside(f"{fmean(cell[name]):.3f} ± {pstdev(cell[name]):.3f}", printed.get(model), i, 3)
            for i, name in ((3, "rmse"), (4, "pearson"))
        ]
        trees = "{rmse:.3f}, {pearson:.3f}".format_map(cell["trees"]) if "trees" in cell else ""
        lines.append(f"| {' | '.join([model, label, *figures, str(len(cell['rmse'])), trees])} |")
    return "\n".join(lines) if len(lines) > head else ""


def _beside(ours: str, printed: tuple[float, ...] | None, place: int, digits: int) -> str:
    """Our figure after the paper's, where it has one."""
    return f"{printed[place]:.{digits}f} / {ours}" if printed else ours


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


def _searches(cells: Mapping[str, Cell], space: str) -> str:
    """The last round of each search."""
    found = _trained(cells, f"search {space}/")
    lines = [
        f"Section 4.3, after ten rounds of 50. {_ACCURACY[space]}: the best that was asked for and "
        "measured, and the mean of the last round, mean and deviation over searches; the share of "
        "answers that were measured.",
        "",
        "| model | ours | way | best | mean of the last round | measured | searches |",
        "|---|---|---|---|---|---|---|",
    ]
    for model, label, cell in found:
        lines += [f"| {model} | {label} | {way} | {_last(cell[way])} |" for way in cell]
    return "\n".join(lines) if found else ""


def _last(searches: Cell) -> str:
    figures = []
    for name in ("best", "mean"):
        last = [rounds[-1][name] for rounds in searches.values()]
        figures.append(f"{fmean(last):.4f} ± {pstdev(last):.4f}")
    known = fmean(one["known"] for rounds in searches.values() for one in rounds)
    return " | ".join([*figures, f"{100 * known:.0f}%", str(len(searches))])
