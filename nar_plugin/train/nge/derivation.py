"""From the probabilities of operations to a cell, as the text that builds its network."""

from __future__ import annotations

from torch import Tensor

from nar_plugin.train.nge.cell_space import DARTS
from nar_plugin.train.nge.nas201_table import cell_string


def darts_genotype(chances: Tensor) -> str:
    """A printed genotype: of each node the two strongest edges, as DARTS derives it.

    The strength of an edge is the highest probability of its operations; the stronger one comes
    first, equal ones in the order of their start. All inner nodes are concatenated.

    Shapes:
        chances: float32[2, 14, 7], of the normal and the reduction cell.
    """
    cells = []
    for kind in chances:
        strength, operation = kind.max(dim=-1)  # [14]
        choices: list[tuple[str, int]] = []
        for node in range(DARTS.inputs, DARTS.nodes):
            entering = [number for number, (_, end) in enumerate(DARTS.edges) if end == node]
            entering.sort(key=lambda number: -float(strength[number]))
            choices += [
                (DARTS.operations[int(operation[number])], DARTS.edges[number][0])
                for number in entering[:2]
            ]
        cells.append(choices)
    return (
        f"Genotype(normal={cells[0]}, normal_concat=range(2, 6), "
        f"reduce={cells[1]}, reduce_concat=range(2, 6))"
    )


def nas201_choice(chances: Tensor) -> tuple[int, ...]:
    """The strongest operation of each edge.

    Shapes:
        chances: float32[1, 6, 4].
    """
    return tuple(chances[0].argmax(dim=-1).tolist())


def nas201_cell(chances: Tensor) -> str:
    """The architecture string of `nas201_choice`."""
    return cell_string(nas201_choice(chances))
