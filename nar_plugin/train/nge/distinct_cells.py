"""Which of NAS-Bench-201's 15,625 strings are one design: by fingerprints, by its own strings.

The benchmark comes with a "unique string" for each cell, 6,466 in all. It writes the cell as a term
in which `skip_connect` vanishes and `none` is `#`. Two cells of one unique string can differ, and
two of one design can have different ones; `tree` and `graph` say why.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import permutations, product
from pathlib import Path
from typing import Any

from tqdm import tqdm

from nar_plugin.hooks.nas_cells import nasbench201
from nar_plugin.train.nge.nas201_table import read_rows

_SAVED = 500  # cells between two savings
_SKIP, _INPUT = "skip_connect", "input"


def count_designs(data: Path, work: Path) -> dict[str, int]:
    """Trace a small network of every string, and count what is equal.

    Args:
        data: Folder of the table.
        work: Receives the fingerprints.

    Returns:
        The number of classes by each of five readings, and of classes that another reading splits.
    """
    rows = read_rows(data)
    strings = sorted(row["ArchitectureString"] for row in rows)
    unique = {row["ArchitectureString"]: row["UniqueString"] for row in rows}
    prints = fingerprints(strings, work / "nasbench201_fingerprints.json")
    cells = {text: nasbench201.parsed(text) for text in strings}
    trees = {text: tree(cells[text]) for text in strings}
    graphs = {text: graph(cells[text]) for text in strings}
    return {
        "strings": len(strings),
        "unique strings": len(set(unique.values())),
        "trees": len(set(trees.values())),
        "graphs": len(set(graphs.values())),
        "designs": len(set(prints.values())),
        "unique strings with several trees": _split(strings, unique.get, trees.get),
        "trees with several unique strings": _split(strings, trees.get, unique.get),
        "trees with several designs": _split(strings, trees.get, prints.get),
        "designs with several trees": _split(strings, prints.get, trees.get),
        "designs with several graphs": _split(strings, prints.get, graphs.get),
        "graphs with several designs": _split(strings, graphs.get, prints.get),
    }


def fingerprints(strings: Sequence[str], path: Path) -> dict[str, str]:
    """The fingerprint of a small network of each cell; what `path` holds is not traced again.

    The cell stands between two convolutions of one point, four channels wide.
    """
    import torch
    from torch import nn

    from nar_plugin import isolation
    from nar_plugin.tracing import trace

    isolation.stay()  # no child for each of 15,625 small networks that are ours
    known: dict[str, str] = json.loads(path.read_text()) if path.is_file() else {}
    missing = [text for text in strings if text not in known]
    image = torch.empty(1, 3, 8, 8, device="meta")
    for number, text in enumerate(tqdm(missing, unit="cell", delay=1), start=1):
        with torch.device("meta"):
            model = nn.Sequential(
                nn.Conv2d(3, 4, 1),
                nasbench201.Cell(nasbench201.parsed(text), 4),
                nn.Conv2d(4, 3, 1),
            )
        known[text] = trace(model, image).fingerprint
        if number % _SAVED == 0 or number == len(missing):
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(".partial")
            partial.write_text(json.dumps(known))
            partial.replace(path)
    return {text: known[text] for text in strings}


def tree(operations: Sequence[str]) -> Any:
    """The unique string with zero and sums as arithmetic has them.

    A sum with zero is the sum without it, an operation on zero is zero, and a sum of sums is one
    sum, whatever its order.

    Returns:
        The terms of the result, sorted; a term is the input, or an operation and its terms.
    """
    inputs, result = _terms(operations)
    names = _trees(operations, inputs)
    return tuple(sorted(names[term] for term in result))


def graph(operations: Sequence[str]) -> Any:
    """The tree, with equal operations told apart: one convolution read twice is not two.

    The least of all ways to number operations that have the same tree.
    """
    inputs, result = _terms(operations)
    names = _trees(operations, inputs)
    alike: dict[str, list[int]] = defaultdict(list)
    for edge in inputs:
        alike[names[edge]].append(edge)
    groups = list(alike.values())

    def written(order: Iterable[Sequence[int]]) -> tuple[Any, ...]:
        label: dict[int, tuple[str, int]] = {-1: (_INPUT, 0)}
        for group in order:
            label |= {edge: (names[edge], place) for place, edge in enumerate(group)}
        known = sorted((label[e], sorted(label[t] for t in inputs[e])) for e in inputs)
        return tuple(map(repr, known)), tuple(sorted(label[term] for term in result))

    return min(written(order) for order in product(*map(permutations, groups)))


def _terms(operations: Sequence[str]) -> tuple[dict[int, list[int]], list[int]]:
    """Of each operation that is used, the operations that it sums; -1 is the input.

    Returns:
        By edge, what it reads; and what the result sums.
    """
    nodes: dict[int, list[int]] = {0: [-1], 1: [], 2: [], 3: []}
    inputs: dict[int, list[int]] = {}
    for edge in sorted(
        nasbench201.used_edges(operations), key=lambda edge: nasbench201.EDGES[edge][1]
    ):
        source, target = nasbench201.EDGES[edge]
        if operations[edge] == _SKIP:
            nodes[target] += nodes[source]
        else:
            inputs[edge] = nodes[source]
            nodes[target] = [*nodes[target], edge]
    return inputs, nodes[3]


def _trees(operations: Sequence[str], inputs: dict[int, list[int]]) -> dict[int, str]:
    """Of each operation its tree as a text."""
    names = {-1: _INPUT}
    for edge, terms in inputs.items():  # what an edge reads stands before it
        names[edge] = f"{operations[edge]}({' + '.join(sorted(names[term] for term in terms))})"
    return names


def _split(strings: Iterable[str], one: Callable[[str], Any], other: Callable[[str], Any]) -> int:
    """How many classes of one reading have members of several classes of the other."""
    members: dict[Any, set[Any]] = defaultdict(set)
    for text in strings:
        members[one(text)].add(other(text))
    return sum(len(found) > 1 for found in members.values())
