"""Search of good networks in the latent space: expected improvement beside random (section 4.3).

Ten rounds of 50 networks. As in the paper a sparse Gaussian process over latent vectors learns from
the training side and from what was found, and expected improvement chooses. The paper leaves open
how it is maximised; here it ranks a pool of vectors that are drawn as the training side lies, and
random search takes the first of the same pool.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from botorch.acquisition.analytic import LogExpectedImprovement
from botorch.models.approximate_gp import ApproximateGPyTorchModel
from torch import Tensor
from tqdm import tqdm

from nar_plugin.train.vae.autoencoder import Autoencoder
from nar_plugin.train.vae.enas import Enas, valid
from nar_plugin.train.vae.graphs import Graphs
from nar_plugin.train.vae.oracle import Answers, Oracle, whole
from nar_plugin.train.vae.prediction import SparseProcess, fitted
from nar_plugin.train.vae.sampling import Draw
from nar_plugin.train.vae.training import means

ROUNDS, BATCH = 10, 50
_POOL = 4000
_CHUNK = 1000


@dataclass(frozen=True)
class Round:
    """What one batch of networks brought.

    Attributes:
        best: The best accuracy so far among networks whose wiring the file has.
        mean: The mean accuracy of the batch, guesses of the surrogate included.
        known: The share of the batch whose wiring the file has.
    """

    best: float
    mean: float
    known: float


def search(
    network: Autoencoder, train: Enas, oracle: Oracle, seed: int, *, improve: bool
) -> list[Round]:
    """Search once.

    Args:
        network: A trained autoencoder, on the CPU.
        train: The networks whose accuracies are known before.
        oracle: Answers for all others.
        seed: Of the pool, the decodes and the processes.
        improve: Choose by expected improvement, else at random.
    """
    draw = Draw(seed)
    rows = means(network, train.graphs)
    centre, spread = rows.mean(0), rows.std(0).clamp(min=1e-6)
    level, scale = train.accuracy.mean(), train.accuracy.std()
    inputs, targets = (rows - centre) / spread, ((train.accuracy - level) / scale).float()
    best, rounds = 0.0, []
    for number in tqdm(range(ROUNDS), desc="search", leave=False, delay=1):
        pool = draw.normal(_POOL, rows.shape[1])  # standardised, as inputs are
        if improve:
            process = fitted(inputs, targets, seed * ROUNDS + number)
            pool = pool[_improvement(process, pool, targets.max()).argsort(descending=True)]
        chosen, graphs = _decoded(network, pool, centre, spread, draw)
        answers = oracle.ask(graphs)
        best = max([best, *answers.accuracy[answers.known].tolist()])
        rounds.append(_round(answers, best))
        inputs = torch.cat([inputs, chosen])
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
    network: Autoencoder, pool: Tensor, centre: Tensor, spread: Tensor, draw: Draw
) -> tuple[Tensor, Graphs]:
    """The first rows of a pool that decode to distinct whole networks, and these."""
    made = network.sample(pool[:_CHUNK] * spread + centre, draw)
    good = (valid(made) & whole(made)).tolist()
    keys = made.keys()
    seen: set[bytes] = set()
    places: list[int] = []
    for place, key in enumerate(keys):
        if good[place] and key not in seen and len(places) < BATCH:
            seen.add(key)
            places.append(place)
    chosen = torch.tensor(places)
    return pool[chosen], made[chosen]


def _round(answers: Answers, best: float) -> Round:
    return Round(best, float(answers.accuracy.mean()), float(answers.known.double().mean()))
