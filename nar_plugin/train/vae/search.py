"""Search of good networks in the latent space: expected improvement beside random (section 4.3).

Ten rounds of 50 networks. As in the paper a sparse Gaussian process over latent vectors learns from
the training side and from what was found, and expected improvement chooses. The paper leaves open
how it is maximised; here it ranks a pool of vectors that are drawn as the training side lies, and
random search takes the first of the same pool. Where all accuracies are known before, as in
NAS-Bench-201, the process learns from a few random ones of the training side instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from botorch.acquisition.analytic import LogExpectedImprovement
from botorch.models.approximate_gp import ApproximateGPyTorchModel
from torch import Tensor
from tqdm import tqdm

from nar_plugin.errors import NarError
from nar_plugin.train.vae.autoencoder import Autoencoder
from nar_plugin.train.vae.graphs import Graphs
from nar_plugin.train.vae.networks import Networks
from nar_plugin.train.vae.oracle import Answers, Ask
from nar_plugin.train.vae.prediction import SparseProcess, fitted
from nar_plugin.train.vae.sampling import Draw
from nar_plugin.train.vae.spaces import Space
from nar_plugin.train.vae.training import means

ROUNDS, BATCH = 10, 50
_POOL = 4000
_CHUNK = 1000


@dataclass(frozen=True)
class Round:
    """What one batch of networks brought.

    Attributes:
        best: The best measured accuracy so far among networks that the search asked for.
        mean: The mean accuracy of the batch, guesses of the surrogate included.
        known: The share of the batch whose accuracy was measured.
    """

    best: float
    mean: float
    known: float


def search(
    network: Autoencoder, train: Networks, space: Space, ask: Ask, seed: int, *, improve: bool
) -> list[Round]:
    """Search once.

    Args:
        network: A trained autoencoder, on the CPU.
        train: The training side, of which the search knows `space.labelled` accuracies.
        space: Of the networks.
        ask: The oracle of the space.
        seed: Of the networks known before, the pool, the decodes and the processes.
        improve: Choose by expected improvement, else at random.
    """
    draw = Draw(seed)
    rows = means(network, train.graphs)
    centre, spread = rows.mean(0), rows.std(0).clamp(min=1e-6)
    before = draw.order(len(rows))[: space.labelled]
    rows, accuracy = rows[before], train.accuracy[before]
    level, scale = accuracy.mean(), accuracy.std()
    inputs, targets = (rows - centre) / spread, ((accuracy - level) / scale).float()
    asked = set(train.graphs[before].keys())
    best, rounds, process = 0.0, [], None
    for number in tqdm(range(ROUNDS), desc="search", leave=False, delay=1):
        pool = draw.normal(_POOL, rows.shape[1])  # standardised, as inputs are
        if improve:
            process = fitted(inputs, targets, seed * ROUNDS + number, process)
            pool = pool[_improvement(process, pool, targets.max()).argsort(descending=True)]
        chosen, graphs = _decoded(network, pool * spread + centre, space, asked, draw)
        answers = ask(graphs)
        best = max([best, *answers.accuracy[answers.known].tolist()])
        rounds.append(_round(answers, best))
        inputs = torch.cat([inputs, pool[chosen]])
        targets = torch.cat([targets, ((answers.accuracy - level) / scale).float()])
    return rounds


@torch.no_grad()
def _improvement(process: SparseProcess, pool: Tensor, best: Tensor) -> Tensor:
    """float[n]: the logarithm of the expected improvement of each row."""
    model = ApproximateGPyTorchModel(process, process.likelihood)
    wanted = LogExpectedImprovement(model, best)
    return torch.cat([wanted(part[:, None]) for part in torch.split(pool, _CHUNK)])


@torch.no_grad()
def _decoded(
    network: Autoencoder, pool: Tensor, space: Space, asked: set[bytes], draw: Draw
) -> tuple[Tensor, Graphs]:
    """The first rows of a pool that decode to whole networks which nobody asked for yet.

    Args:
        network: Decodes.
        pool: float32[n, latent].
        space: Of the networks.
        asked: Keys of the networks that are known; receives those of the new ones.
        draw: Of the decodes.

    Returns:
        int64[b], the rows, and their graphs; b is `BATCH`, or less if a thousand rows do not do.

    Raises:
        NarError: None of them decodes to one.
    """
    made = network.sample(pool[:_CHUNK], draw)
    keys = made.keys()
    places: list[int] = []
    for place in space.whole(made).nonzero().flatten().tolist():
        if keys[place] not in asked and len(places) < BATCH:
            asked.add(keys[place])
            places.append(place)
    if not places:
        raise NarError(f"No new network of {space.name} among {_CHUNK} decodes: train longer.")
    chosen = torch.tensor(places)
    return chosen, made[chosen]


def _round(answers: Answers, best: float) -> Round:
    return Round(best, float(answers.accuracy.mean()), float(answers.known.double().mean()))
