"""Policy gradient on the table of NAS-Bench-201: a search whose answers are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

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


def policy_searches(
    method: str, rewards: Floats, rate: float, queries: int, seeds: Sequence[int]
) -> list[Found]:
    """REINFORCE (Williams, 1992): draw a cell, look its reward up, make it more or less probable.

    One draw a step, Adam without weight decay, the reward less its moving average. The searches of
    all seeds take their steps together, twenty times as fast; none sees another.

    Args:
        method: Of `METHODS`.
        rewards: What the search sees, in percent: float64[4, 4, 4, 4, 4, 4].
        rate: Of Adam.
        queries: Cells that each search asks about; equal ones count again.
        seeds: Of the weights and the draws.

    Returns:
        Where the search of each seed ended.
    """
    weights, chances_of = _stacked(method, seeds)
    draws = np.stack(  # [seeds, queries, edges]
        [np.random.default_rng(seed).random((queries, len(NAS201.edges))) for seed in seeds]
    )
    optimiser = torch.optim.Adam(weights.values(), lr=rate)
    average, asked, seen = None, [], []
    for step in range(queries):
        chances = chances_of(weights)[:, 0]  # [seeds, edges, operations]
        cells = _drawn(chances.detach(), draws[:, step])  # [seeds, edges]
        reward = rewards[tuple(cells.T.numpy())]  # [seeds]
        average = reward if average is None else _DECAY * average + (1 - _DECAY) * reward
        advantage = torch.from_numpy(reward - average).float()
        chosen = chances.gather(2, cells[:, :, None]).squeeze(2)  # [seeds, edges]
        loss = -(advantage * chosen.clamp_min(1e-12).log().sum(1)).sum()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        asked.append(cells.numpy())
        seen.append(reward)
    with torch.no_grad():
        derived = chances_of(weights)[:, 0].argmax(2).tolist()
    first = np.stack(seen).argmax(0)  # [seeds], the step that asked about the best
    best = [asked[step][number].tolist() for number, step in enumerate(first.tolist())]
    return [Found(tuple(a), tuple(b)) for a, b in zip(derived, best, strict=True)]


def random_searches(rewards: Floats, queries: int, seeds: Sequence[int]) -> list[Found]:
    """As many cells at random; the best of them is what a search derives."""
    found = []
    for seed in seeds:
        random = np.random.default_rng(seed)
        drawn = random.integers(len(NAS201.operations), size=(queries, len(NAS201.edges)))
        cell = tuple(drawn[rewards[tuple(drawn.T)].argmax()].tolist())
        found.append(Found(cell, cell))
    return found


def _stacked(
    method: str, seeds: Sequence[int]
) -> tuple[dict[str, Any], Callable[[dict[str, Any]], Tensor]]:
    """The weights of one module for each seed, and what gives the probabilities of all."""
    modules: list[nn.Module] = []
    for seed in seeds:
        torch.manual_seed(seed)
        modules.append(METHODS[method](NAS201))
    weights, buffers = stack_module_state(modules)
    one = modules[0]

    def chances(stacked: dict[str, Any]) -> Tensor:
        """float32[seeds, kinds, edges, operations]."""
        found: Tensor = vmap(lambda w, b: functional_call(one, (w, b), ()))(stacked, buffers)
        return found

    return weights, chances


def _drawn(chances: Tensor, uniform: Floats) -> Tensor:
    """int64[seeds, edges]: operations, each where its share of [0, 1) holds the number."""
    below = chances.cumsum(2) <= torch.from_numpy(uniform)[:, :, None]
    return below.sum(2).clamp_max(chances.shape[2] - 1)
