"""Neighbours without pyg-lib: which atoms are near is no part of a design.

Molecule models look for the neighbours of each atom with compiled code (pyg-lib, torch-sparse),
and where positions have no values nothing is near. Inside `everyone_is_near` they find all pairs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

_MODELS = "torch_geometric.nn.models"


def all_pairs(x: Tensor, r: float, batch: Any = None, loop: bool = False, **_: Any) -> Tensor:
    """In place of `radius_graph`: an edge between any two of the atoms, int64[2, pairs]."""
    atoms = torch.arange(x.size(0))
    pairs = torch.cartesian_prod(atoms, atoms)
    return (pairs if loop else pairs[pairs[:, 0] != pairs[:, 1]]).t()


def triplets(edge_index: Tensor, num_nodes: int) -> tuple[Tensor, ...]:
    """In place of DimeNet's `triplets`: pairs of edges k -> j -> i, where k is not i.

    Returns:
        i and j of each edge; i, j and k of each triplet; its edges kj and ji.
    """
    j, i = edge_index
    ji, kj = ((j[:, None] == i[None]) & (i[:, None] != j[None])).nonzero().unbind(1)
    return i, j, i[ji], j[ji], j[kj], kj, ji


@contextmanager
def everyone_is_near() -> Iterator[None]:
    """Inside the block PyG's molecule models take all pairs of atoms."""
    with ExitStack() as stack:
        for name in ("dimenet", "gnnff", "schnet", "visnet"):
            module = sys.modules.get(f"{_MODELS}.{name}")
            for function in (all_pairs, triplets):
                replaced = "radius_graph" if function is all_pairs else "triplets"
                if hasattr(module, replaced):
                    stack.enter_context(patch.object(module, replaced, function))
        yield


def near_everyone(owner: type[nn.Module]) -> type[nn.Module]:
    """The class of molecule models with a forward that looks for no neighbours."""

    class NearEveryone(owner):  # type: ignore[misc, valid-type]
        @wraps(owner.forward)
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            with everyone_is_near():
                return super().forward(*args, **kwargs)

    NearEveryone.__name__ = NearEveryone.__qualname__ = owner.__name__
    return NearEveryone
