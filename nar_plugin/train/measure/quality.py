"""The page of measured quality, `docs/benchmarks/quality.md`, from the finished cells."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nar_plugin.mining import MINING_VERSION
from nar_plugin.train.measure.figures import HTML, PNG
from nar_plugin.train.measure.methods import METHODS
from nar_plugin.train.measure.metrics import CUTS
from nar_plugin.train.measure.unseen.ladders import RUNGS

PAGE, DATA = "quality.md", "quality.json"
_MEASURES = ("mrr", "map", "ndcg")
_TITLES = {
    "paper": "The split of the paper",
    "unique": "Distinct graphs",
    "unseen": "Unseen families",
    "twins": "Twins",
    "nas": "NAS: the DARTS space",
    "edits": "Edits",
    "kin": "Kin",
    "triples": "Ordered triples",
}
_TABLES = {
    "Table 1: methods": ("gcn", "gat", "paper", "paper-tuned"),
    "Table 2: where graphs are cut": ("paper-nodes", "paper-count", "paper-random", "paper"),
    "Table 3: the terms of Eq. 6": ("paper-ce", "paper-cl", "paper"),
    "Table 4: trained on NAS first": ("paper", "paper-nas"),
    "Operations: one-hot and learned": ("paper", "paper-learned", "gcn", "gcn-learned"),
}
_FIGURE = f"""## Embeddings

Of the graphs that asked, at most 1,500, by t-SNE of their cosines (`nar dev evaluate --figure`;
Figure 5 of the paper). [The page]({HTML}) names the points.

![t-SNE]({PNG})
"""
# Title and place in the cell; the splits that are not here have MRR, MAP and NDCG.
_COLUMNS: dict[str, list[tuple[str, tuple[str, ...]]]] = {
    "twins": [
        ("R@1", ("first",)),
        ("R@10", ("tenth",)),
        ("R@1, graphs differ", ("first_differing",)),
        ("R@10, graphs differ", ("tenth_differing",)),
    ],
    "edits": [
        ("1 edit", ("first",)),
        ("held out", ("held_out",)),
        *((f"ladder {n}", ("by_rung", str(n))) for n in RUNGS),
        ("falling", ("falling",)),
        *((f"likeness {n}", ("likeness", str(n))) for n in RUNGS),
    ],
    "kin": [
        (f"{title}, {side}", (side, name))
        for side in ("seen", "unseen")
        for title, name in (
            ("P@1", "first"),
            ("same parent", "same_parent"),
            ("P@5", "precision"),
            ("NDCG@5", "ndcg"),
            ("foreign", "foreign"),
        )
    ],
    "triples": [("right", ("right",)), ("near", ("near",)), ("far", ("far",))],
}
_DATA_SETS = {"paper": "real architectures, the paper's split", "nas": "NAS"}
_HEAD = """# Quality of retrieval

Written by `nar dev evaluate` from what is measured; [quality.json](quality.json) holds the cells,
each with the time when its split was read.

**Measures.** A query finds candidates by cosine, or with `default` by likeness
([architecture.md](../architecture.md#likeness)). Those of its family are relevant; the query
itself and queries without a relevant candidate do not count. MRR@k: one over the rank of the
first relevant one, 0 past k. MAP@k: average precision over the first k, divided by min(relevant,
k). NDCG@k: binary gains, the ideal cut at k. Ties come in the order of the corpus. Where at most
k are relevant, these are trec's `map_cut` and `ndcg_cut`, which the tests check with ir-measures.
(The evaluator that the paper's authors published cuts the ranking at k but not the ideal, so its
NDCG cannot fall with k. In their Table 1 it does: .705, .692, .678.)

**Splits.** `corpus/splits.py` and `measure/twin_pairs.py` state them. The candidates are the
whole corpus. Graphs that are known from the module tree alone, or have no parameter, do not
count. Designs composed of a backbone and a head are trained on and found, and never ask. All
graphs of a design, which differ in head and vocabulary alone, are of one family
(`splits.families`).

With several seeds: the mean, and after ± half of the range. Seconds are of training and of
embedding all graphs, on the machine that the last column names, beside other programs.
"""


def write_page(cells: Sequence[dict[str, Any]], folder: Path, corpus: str) -> None:
    """Write page and JSON.

    Args:
        cells: Finished cells; those of validation sides are left out.
        folder: Receives `quality.md` and `quality.json`.
        corpus: sha256 of the corpus that they were measured on.
    """
    tested = [cell for cell in cells if not cell["cell"]["validation"]]
    parts = [_HEAD, f"Corpus `{corpus[:12]}` (sha256 of its names, labels and fingerprints).\n"]
    if minings := sorted({cell["mining"] for cell in tested if cell.get("mining")}):
        parts.append(
            f"Recipes of the paper read motifs, and were measured as mining {', '.join(minings)} "
            f"cut them; today's is {MINING_VERSION}.\n"
        )
    for split, title in _TITLES.items():
        of = [cell for cell in tested if cell["cell"]["split"] == split]
        if of:
            parts += [f"## {title}\n", _facts(of), table(of)]
    parts += _paper_tables(tested)
    if (folder / PNG).is_file():
        parts.append(_FIGURE)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PAGE).write_text("\n".join(parts), encoding="utf-8")
    (folder / DATA).write_text(json.dumps(tested, indent=1) + "\n", encoding="utf-8")


def _paper_tables(cells: Sequence[dict[str, Any]]) -> list[str]:
    """The tables of the paper, from the rows of at least two methods that are measured."""
    parts = []
    for title, methods in _TABLES.items():
        for split, words in _DATA_SETS.items():
            of = [
                cell
                for cell in cells
                if cell["cell"]["split"] == split and cell["cell"]["method"] in methods
            ]
            if len({cell["cell"]["method"] for cell in of}) > 1:
                parts += [f"### {title} ({words})\n", table(of, methods)]
    if parts:
        told = "The same figures, set as in the paper; [paper.md](../paper.md) states the method.\n"
        parts = ["## The paper's tables\n", told, *parts]
    return parts


def table(cells: Sequence[dict[str, Any]], methods: Sequence[str] = tuple(METHODS)) -> str:
    """A Markdown table of the cells of one split, a row for each method."""
    columns = _COLUMNS.get(cells[0]["cell"]["split"]) or _columns()
    head = ["method", *(title for title, _ in columns), "seeds", "parameters", "seconds", "on"]
    lines = [head, ["---"] * len(head)]
    for method in methods:
        of = [cell for cell in cells if cell["cell"]["method"] == method]
        if of:
            values = [_mean([_value(cell, path) for cell in of]) for _, path in columns]
            costs = [str(len(of)), f"{of[0]['parameters']:,}", _seconds(of), _machines(of)]
            lines.append([method, *values, *costs])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _columns() -> list[tuple[str, tuple[str, ...]]]:
    return [(f"{name.upper()}@{k}", (name, str(k))) for name in _MEASURES for k in CUTS]


def _value(cell: dict[str, Any], path: tuple[str, ...]) -> float:
    found = cell["quality"]
    for key in path:
        found = found[key]
    return float(found)


def _mean(values: Sequence[float]) -> str:
    mean = f"{np.mean(values):.3f}"
    return mean if len(values) == 1 else f"{mean} ± {(max(values) - min(values)) / 2:.3f}"


def _seconds(cells: Sequence[dict[str, Any]]) -> str:
    fit, embed = (np.mean([cell["seconds"][part] for cell in cells]) for part in ("fit", "embed"))
    return f"{fit:.0f} + {embed:.0f}"


def _machines(cells: Sequence[dict[str, Any]]) -> str:
    return ", ".join(sorted({cell.get("machine", "CPU") for cell in cells}))


def _facts(cells: Sequence[dict[str, Any]]) -> str:
    """The sizes of the split, of its first seed."""
    first = min(cells, key=lambda cell: int(cell["cell"]["seed"]))
    facts, seed = first["split"], first["cell"]["seed"]
    if "families" not in facts:
        return (
            f"Seed {seed}: {facts['queries']:,} questions among {facts['candidates']:,} graphs; "
            f"trained on {facts['train']:,}. [likeness.md](likeness.md) states the measures.\n"
        )
    told = [
        f"Seed {seed}: {facts['queries']:,} queries of {facts['families']:,} families among",
        f"{facts['candidates']:,} candidates; trained on {facts['train']:,};",
        f"{facts['near_duplicates']:,} queries have a graph of equal design in training.",
    ]
    if facts["pairs"]:
        told = [
            f"Seed {seed}: {facts['pairs']:,} pairs, asked both ways, each among the graphs of the",
            f"other library. The two graphs differ in {first['quality']['differing']:.0%} of them;",
            f"the others rank first by definition. Trained on {facts['train']:,} graphs.",
        ]
    return "\n".join([*told, ""])
