"""How well accuracy is predicted from vectors of networks (section 4.2, Table 2).

A sparse Gaussian process with 500 inducing points, as in the paper. Which sparse process, its
kernel and its training are left open. Here it is the variational one of Hensman et al. (UAI 2013)
with an RBF kernel that has a length for each number, and natural gradients for what is variational,
which need a fifth of the steps that Adam alone needs. Accuracies are standardised by the
training side, so that predicting the mean has an RMSE of about 1; D-VAE does so too. Boosted
trees predict beside it, for what a smooth function does not find in the vectors.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import gpytorch
import torch
from sklearn.ensemble import HistGradientBoostingRegressor
from torch import Tensor
from tqdm import tqdm

from nar_plugin.train.vae.measure.structure import correlation

INDUCING = 500
_STEPS, _BATCH = 68, 1024
_RATE, _NATURAL_RATE = 0.15, 0.1  # of Adam, and of natural gradients; chosen on a part of training
_CHUNK = 4096


@dataclass(frozen=True)
class Prediction:
    """How well the test side is predicted.

    Attributes:
        rmse: In standard deviations of the training accuracies.
        pearson: Pearson's r.
    """

    rmse: float
    pearson: float


class SparseProcess(gpytorch.models.ApproximateGP):  # type: ignore[misc]
    """A sparse variational Gaussian process.

    Args:
        inducing: float32[m, d], vectors at which it is anchored; they move in training.
    """

    def __init__(self, inducing: Tensor) -> None:
        distribution = gpytorch.variational.NaturalVariationalDistribution(len(inducing))
        super().__init__(gpytorch.variational.VariationalStrategy(self, inducing, distribution))
        self.mean_module = gpytorch.means.ConstantMean()
        # By its logarithm, a length can grow manifold in a few steps: most numbers say nothing.
        by_logarithm = gpytorch.constraints.Positive(torch.exp, torch.log)
        kernel = gpytorch.kernels.RBFKernel(
            ard_num_dims=inducing.shape[1], lengthscale_constraint=by_logarithm
        )
        kernel.lengthscale = torch.pdist(inducing).median()
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel)
        self.likelihood = gpytorch.likelihoods.GaussianLikelihood()
        self.likelihood.noise = 0.1

    def forward(self, rows: Tensor) -> gpytorch.distributions.MultivariateNormal:
        """The prior at rows of float32[n, d]."""
        return gpytorch.distributions.MultivariateNormal(
            self.mean_module(rows), self.covar_module(rows)
        )


@dataclass(frozen=True)
class Standardised:
    """Vectors and targets with mean 0 and deviation 1 over the training side.

    Attributes:
        inputs: float32[n, d].
        targets: float32[n].
        inputs_test: float32[t, d], by the same means and deviations.
        targets_test: float32[t].
    """

    inputs: Tensor
    targets: Tensor
    inputs_test: Tensor
    targets_test: Tensor


def standardised(
    inputs: Tensor, targets: Tensor, inputs_test: Tensor, targets_test: Tensor
) -> Standardised:
    """Shift and scale; a number that never differs becomes 0."""
    x_mean, x_std = inputs.double().mean(0), inputs.double().std(0).clamp(min=1e-6)
    y_mean, y_std = targets.mean(), targets.std()
    return Standardised(
        ((inputs.double() - x_mean) / x_std).float(),
        ((targets - y_mean) / y_std).float(),
        ((inputs_test.double() - x_mean) / x_std).float(),
        ((targets_test - y_mean) / y_std).float(),
    )


@torch.enable_grad()
def fitted(
    inputs: Tensor, targets: Tensor, seed: int, start: SparseProcess | None = None
) -> SparseProcess:
    """A process trained on standardised rows and targets.

    Args:
        inputs: float32[n, d].
        targets: float32[n].
        seed: Of the first inducing points and of the order.
        start: What nearly all of the rows have trained, to go on with for a quarter of the steps.
    """
    torch.manual_seed(seed)
    if start is None:
        process, steps = SparseProcess(inputs[torch.randperm(len(inputs))[:INDUCING]]), _STEPS
    else:
        process, steps = start, _STEPS // 4
    objective = gpytorch.mlls.VariationalELBO(process.likelihood, process, len(inputs))
    variational = list(process.variational_parameters())
    natural = gpytorch.optim.NGD(variational, num_data=len(inputs), lr=_NATURAL_RATE)
    optimiser = torch.optim.Adam(process.hyperparameters(), lr=_RATE)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    process.train()
    batches = _batches(len(inputs), steps)
    for chosen in tqdm(batches, "Gaussian process", steps, leave=False, delay=1):
        loss = -objective(process(inputs[chosen]), targets[chosen])
        process.zero_grad()
        loss.backward()
        natural.step()
        optimiser.step()
        falling.step()
    process.eval()
    return process


def _batches(count: int, steps: int) -> Iterator[Tensor]:
    """int64[b] for each step: rows in one random order after the other."""
    orders = (torch.split(torch.randperm(count), _BATCH) for _ in itertools.count())
    return itertools.islice(itertools.chain.from_iterable(orders), steps)


@torch.no_grad()
def predict(data: Standardised, seed: int) -> Prediction:
    """Train on the training side and predict the test side."""
    process = fitted(data.inputs, data.targets, seed)
    parts = torch.split(data.inputs_test, _CHUNK)
    return _judged(torch.cat([process(part).mean for part in parts]), data)


def predict_by_trees(data: Standardised) -> Prediction:
    """The same by boosted trees, scikit-learn's defaults: they need no smooth function."""
    trees = HistGradientBoostingRegressor(random_state=0)
    trees.fit(data.inputs.numpy(), data.targets.numpy())
    return _judged(torch.from_numpy(trees.predict(data.inputs_test.numpy())), data)


def _judged(means: Tensor, data: Standardised) -> Prediction:
    rmse = (means - data.targets_test).square().mean().sqrt()
    return Prediction(float(rmse), correlation(means, data.targets_test))
