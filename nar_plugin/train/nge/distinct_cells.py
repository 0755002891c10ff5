"""Which of NAS-Bench-201's 15,625 strings are one design: by fingerprints, by its own strings.

The benchmark comes with a "unique string" for each cell, 6,466 in all. It writes the cell as a term
in which `skip_connect` vanishes and `none` is `#`. Two cells of one unique string can differ, and
two of one design can have different ones. Five readings, from the unique string to the
fingerprint, each with one more rule, say why.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import permutations, product
from pathlib import Path
from typing import Any

from tqdm import tqdm

from nar_plugin.hooks.nas_cells import nasbench201
from nar_plugin.train.fit.checkpoints import write_json
from nar_plugin.train.nge.nas201_table import read_rows

_SAVED = 500  # cells between two savings
_SKIP, _INPUT = "skip_connect", "input"


def count_designs(data: Path, work: Path) -> dict[str, int]:
    """Trace a small network of every string, and count what each reading holds apart.

    Args:
        data: Folder of the table.
        work: Receives the fingerprints.

    Returns:
        The number of classes by each reading; and of fingerprints that hold several cells of the
        last reading, and the other way round: both 0 where the readings explain all.
    """
    rows = read_rows(data)
    strings = sorted(row["ArchitectureString"] for row in rows)
    unique = {row["ArchitectureString"]: row["UniqueString"] for row in rows}
    prints = fingerprints(strings, work / "nasbench201_fingerprints.json")
    cells = {text: nasbench201.parsed(text) for text in strings}
    known: dict[str, list[Any]] = {
        "unique strings": [unique[text] for text in strings],
        "without zeros": [without_zeros(cells[text]) for text in strings],
        "sums flat": [tree(cells[text]) for text in strings],
        "convolutions told apart": [graph(cells[text]) for text in strings],
        "addends once": [graph(cells[text], counted=False) for text in strings],
        "fingerprints": [prints[text] for text in strings],
    }
    result = {name: len(set(classes)) for name, classes in known.items()}
    last, found = known["addends once"], known["fingerprints"]
    result["fingerprints of several cells"] = _split(found, last)
    result["cells of several fingerprints"] = _split(last, found)
    return result


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
            write_json(known, path)
    return {text: known[text] for text in strings}


def without_zeros(operations: Sequence[str]) -> str:
    """The unique string where a sum with zero is the sum without it, and operations on zero zero.

    Example:
        ```python
        without_zeros(("nor_conv_3x3", "none", "none", "skip_connect", "skip_connect", "none"))
        # '(input + nor_conv_3x3(input))'
        ```
    """
    arriving: dict[int, list[str]] = {}
    nodes = {0: _INPUT}
    for edge in _in_order(operations):
        source, target = nasbench201.EDGES[edge]
        read = nodes[source]
        name = operations[edge]
        arriving.setdefault(target, []).append(read if name == _SKIP else f"{name}({read})")
        terms = sorted(arriving[target])
        nodes[target] = terms[0] if len(terms) == 1 else f"({' + '.join(terms)})"
    return nodes.get(3, "")


def tree(operations: Sequence[str]) -> tuple[str, ...]:
    """The same where a sum of sums is one sum, in any order.

    Returns:
        The terms of the result, sorted; a term is the input, or an operation and its terms.
    """
    inputs, result = _terms(operations)
    names = _trees(operations, inputs)
    return tuple(sorted(names[term] for term in result))


def graph(operations: Sequence[str], counted: bool = True) -> Any:
    """The same where equal operations are told apart: one convolution read twice is not two.

    Of all ways to number equal operations, the least.

    Args:
        operations: Of the six edges.
        counted: Whether a sum says how often it has a term. A fingerprint does not: there
            x + x + x is x + x, but not x.
    """
    inputs, result = _terms(operations)
    alike: dict[str, list[int]] = defaultdict(list)
    for edge in inputs:
        alike[operations[edge]].append(edge)

    def written(order: Iterable[Sequence[int]]) -> tuple[Any, ...]:
        label = {-1: _INPUT}
        for group in order:
            label |= {edge: f"{operations[edge]} {place}" for place, edge in enumerate(group)}

        def summed(terms: list[int]) -> str:
            found = sorted(label[term] for term in terms)
            shown = found if counted else sorted(set(found))
            return " + ".join(shown) + (" summed" if len(found) > 1 else "")

        return tuple(sorted(f"{label[e]} of {summed(inputs[e])}" for e in inputs)), summed(result)

    return min(written(order) for order in product(*map(permutations, alike.values())))


def _terms(operations: Sequence[str]) -> tuple[dict[int, list[int]], list[int]]:
    """Of each operation that is used, the operations that it sums; -1 is the input.

    Returns:
        By edge, what it reads; and what the result sums.
    """
    nodes: dict[int, list[int]] = {0: [-1], 1: [], 2: [], 3: []}
    inputs: dict[int, list[int]] = {}
    for edge in _in_order(operations):
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


def _in_order(operations: Sequence[str]) -> list[int]:
    """The edges that are used, by the node where they end."""
    used = nasbench201.used_edges(operations)
    return sorted(used, key=lambda edge: nasbench201.EDGES[edge][1])


def _split(one: Iterable[Any], other: Iterable[Any]) -> int:
    """How many classes of one reading have members of several classes of the other."""
    members: dict[Any, set[Any]] = defaultdict(set)
    for mine, its in zip(one, other, strict=True):
        members[mine].add(its)
    return sum(len(found) > 1 for found in members.values())
