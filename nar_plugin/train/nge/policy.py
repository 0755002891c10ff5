"""Policy gradient on the table of NAS-Bench-201: a search whose answers are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from nar_plugin.train.nge.alternatives import METHODS
from nar_plugin.train.nge.cell_space import NAS201
from nar_plugin.train.nge.nas201_table import Floats

_DECAY = 0.9  # of the moving average that a reward is compared with


@dataclass(frozen=True)
class Found:
    """Where a search ended.

    Attributes:
        derived: The operations that were most probable in the end, for each edge.
        best: Of the cells that were asked about, the one of the highest reward.
    """

    derived: tuple[int, ...]
    best: tuple[int, ...]


def policy_search(method: str, rewards: Floats, rate: float, queries: int, seed: int) -> Found:
    """REINFORCE (Williams, 1992): draw a cell, look its reward up, make it more or less probable.

    One draw a step, Adam without weight decay, the reward less its moving average.

    Args:
        method: Of `METHODS`.
        rewards: What the search sees, in percent: float64[4, 4, 4, 4, 4, 4].
        rate: Of Adam.
        queries: Cells that are asked about; equal ones count again.
        seed: Of the weights and the draws.
    """
    torch.manual_seed(seed)
    controller = METHODS[method](NAS201)
    optimiser = torch.optim.Adam(controller.parameters(), lr=rate)
    average, best, highest = None, (0,) * len(NAS201.edges), -1.0
    for _ in range(queries):
        chances = controller()[0]  # [edges, operations]
        drawn = torch.multinomial(chances.detach(), 1)  # [edges, 1]
        cell = tuple(drawn[:, 0].tolist())
        reward = float(rewards[cell])
        if reward > highest:
            best, highest = cell, reward
        average = reward if average is None else _DECAY * average + (1 - _DECAY) * reward
        likelihood = chances.gather(1, drawn).clamp_min(1e-12).log().sum()
        loss = -(reward - average) * likelihood
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    with torch.no_grad():
        derived = tuple(controller()[0].argmax(dim=1).tolist())
    return Found(derived, best)


def random_search(rewards: Floats, queries: int, seed: int) -> Found:
    """As many cells at random; the best of them is what it derives."""
    random = np.random.default_rng(seed)
    drawn = random.integers(len(NAS201.operations), size=(queries, len(NAS201.edges)))
    best = drawn[rewards[tuple(drawn.T)].argmax()]
    cell = tuple(best.tolist())
    return Found(cell, cell)
