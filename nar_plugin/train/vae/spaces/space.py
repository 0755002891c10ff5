"""The search spaces of the autoencoders: how each is read, encoded by hand and checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from nar_plugin.errors import NarError
from nar_plugin.hooks.nas_cells import nasbench201
from nar_plugin.train.vae.spaces import enas, nas201
from nar_plugin.train.vae.spaces.graphs import Graphs
from nar_plugin.train.vae.spaces.networks import Networks


@dataclass(frozen=True)
class Space:
    """A search space with measured accuracies.

    Attributes:
        name: In `--space`, and in the names of cells and folders.
        operations: Names of the types of vertices after input and output.
        read: All networks, from a folder.
        one_hot: Graphs as vectors that need no training.
        valid: Which decoded graphs are networks of the space.
        whole: Which of them a search may ask for.
        texts: Valid graphs as references, such as `enas:[[1], [4, 0]]`.
        labelled: How many accuracies of the training side a search knows before; None for all.
    """

    name: str
    operations: tuple[str, ...]
    read: Callable[[Path], Networks]
    one_hot: Callable[[Graphs], Tensor]
    valid: Callable[[Graphs], Tensor]
    whole: Callable[[Graphs], Tensor]
    texts: Callable[[Graphs], list[str]]
    labelled: int | None


ENAS = Space(
    "enas",
    enas.OPERATIONS,
    enas.read,
    enas.one_hot,
    enas.valid,
    enas.whole,
    enas.texts,
    None,
)
# With all accuracies known before there is nothing left to search for.
NAS201 = Space(
    "nas201",
    nasbench201.OPERATIONS,
    nas201.read,
    nas201.one_hot,
    nas201.valid,
    nas201.valid,
    nas201.texts,
    100,
)


def space(name: str) -> Space:
    """The space of this name.

    Raises:
        NarError: There is no such space.
    """
    known = {item.name: item for item in (ENAS, NAS201)}
    if name not in known:
        raise NarError(f"No space {name!r}. Give --space {' or '.join(known)}.")
    return known[name]
