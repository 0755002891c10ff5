"""Search of good networks in the latent space: expected improvement beside random (section 4.3).

Ten rounds of 50 networks. As in the paper a sparse Gaussian process over latent vectors learns from
the training side and from what was found, and expected improvement chooses. The paper leaves open
how it is maximised; here it ranks a pool of vectors that are drawn as the training side lies, and
random search takes the first of the same pool. Where all accuracies are known before, as in
NAS-Bench-201, an exact process learns from a few random ones of the training side instead. Each
round goes on with the process of the round before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from botorch.acquisition.analytic import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.approximate_gp import ApproximateGPyTorchModel
from botorch.posteriors.gpytorch import GPyTorchPosterior
from botorch.settings import validate_input_scaling
from gpytorch.distributions import MultivariateNormal
from gpytorch.mlls import ExactMarginalLogLikelihood
from linear_operator.operators import DiagLinearOperator
from torch import Tensor
from tqdm import tqdm

from nar_plugin.errors import NarError
from nar_plugin.train.vae.fit.training import means
from nar_plugin.train.vae.measure.prediction import SparseProcess, fitted
from nar_plugin.train.vae.models.autoencoder import Autoencoder
from nar_plugin.train.vae.models.sampling import Draw
from nar_plugin.train.vae.search.oracle import Answers, Ask
from nar_plugin.train.vae.spaces.graphs import Graphs
from nar_plugin.train.vae.spaces.networks import Networks
from nar_plugin.train.vae.spaces.space import Space

ROUNDS, BATCH = 10, 50
_POOL = 4000
_EXACT = 1000  # rows up to which a process needs no inducing points
_ITERATIONS = 15  # of its fit, which starts from the process of the round before
_CHUNK = 1000

Process = SparseProcess | SingleTaskGP


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
    best, rounds = 0.0, list[Round]()
    process: Process | None = None
    for number in tqdm(range(ROUNDS), desc="search", leave=False, delay=1):
        pool = draw.normal(_POOL, rows.shape[1])  # standardised, as inputs are
        if improve:
            process = _learned(inputs, targets, seed * ROUNDS + number, process)
            pool = pool[_improvement(process, pool, targets.max()).argsort(descending=True)]
        chosen, graphs = _decoded(network, pool * spread + centre, space, asked, draw)
        answers = ask(graphs)
        best = max([best, *answers.accuracy[answers.known].tolist()])
        rounds.append(_round(answers, best))
        inputs = torch.cat([inputs, pool[chosen]])
        targets = torch.cat([targets, ((answers.accuracy - level) / scale).float()])
    return rounds


def _learned(inputs: Tensor, targets: Tensor, seed: int, before: Process | None) -> Process:
    """An exact process of a few rows; of many a sparse one, which goes on with the one before."""
    if len(inputs) > _EXACT:
        return fitted(inputs, targets, seed, before if isinstance(before, SparseProcess) else None)
    with validate_input_scaling(False):  # later batches are better than those before
        process = SingleTaskGP(inputs.double(), targets[:, None].double(), outcome_transform=None)
    if isinstance(before, SingleTaskGP):
        process.load_state_dict(before.state_dict(), strict=False)
    else:  # with short lengths all rows would be unrelated, and nothing would be learned
        process.covar_module.lengthscale = torch.pdist(inputs).median()
    likelihood = ExactMarginalLogLikelihood(process.likelihood, process)
    fit_gpytorch_mll(likelihood, optimizer_kwargs={"options": {"maxiter": _ITERATIONS}})
    return process


class _Pointwise(ApproximateGPyTorchModel):
    """Tells what a process says of each row, without covariances between rows.

    Expected improvement asks for n batches of one row. Answered as batches, each of them would
    have a copy of the rows that the process knows.
    """

    def posterior(self, X: Tensor, *_: Any, **__: Any) -> GPyTorchPosterior:
        """Of float[n, 1, d]."""
        told = self.model(X.squeeze(1))
        spread = DiagLinearOperator(told.variance[:, None])
        return GPyTorchPosterior(MultivariateNormal(told.mean[:, None], spread))


@torch.no_grad()
def _improvement(process: Process, pool: Tensor, best: Tensor) -> Tensor:
    """float[n]: the logarithm of the expected improvement of each row."""
    wanted = LogExpectedImprovement(_Pointwise(process, process.likelihood), best)
    kind = next(process.parameters()).dtype
    return torch.cat([wanted(part[:, None].to(kind)) for part in torch.split(pool, _CHUNK)])


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
