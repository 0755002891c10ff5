"""Linear maps after which what differs inside a family is as large in every direction.

Within-class covariance normalisation (Hatch, Kajarekar & Stolcke, Interspeech 2006), and what is
kept of it: principal directions, or random ones.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def inside_families(rows: Tensor, labels: Tensor) -> Tensor:
    """What each row differs by from the mean of its family, where that has another member.

    Shapes:
        rows [t, d], labels [t], result [u, d].
    """
    sizes = torch.bincount(labels)
    counted = sizes[labels] > 1
    means = rows.new_zeros(len(sizes), rows.shape[1]).index_add_(0, labels, rows)
    means /= sizes.clamp(min=1)[:, None]
    return rows[counted] - means[labels[counted]]


def whitening_factor(differences: Tensor, shrink: float) -> Tensor:
    """The lower Cholesky factor of the differences' second moments, shrunk to the unit matrix.

    Shapes:
        differences [n, d], result [d, d].
    """
    moments = differences.T @ differences
    mean = moments.diagonal().mean()
    if mean > 0:
        moments *= (1 - shrink) / mean
        moments.diagonal().add_(shrink)
    else:
        moments.fill_diagonal_(1)
    factor: Tensor = torch.linalg.cholesky(moments)
    return factor


def principal(rows: Tensor, factor: Tensor, dimensions: int) -> Tensor:
    """The projection onto the principal directions once the covariance is the unit matrix.

    Shapes:
        rows [t, d], factor [d, d], result [d, dimensions].
    """
    white = functional.normalize(torch.linalg.solve_triangular(factor, rows.T, upper=False).T)
    count = min(dimensions, *white.shape)
    _, _, directions = torch.svd_lowrank(white - white.mean(dim=0), q=min(count + 32, *white.shape))
    found = torch.linalg.solve_triangular(factor.T, directions[:, :count], upper=True)
    return functional.pad(found, (0, dimensions - count))


def scattered(factor: Tensor, dimensions: int) -> Tensor:
    """The projection onto random orthogonal directions once the covariance is the unit matrix.

    Shapes:
        factor [d, d], result [d, dimensions].
    """
    directions = torch.linalg.qr(torch.randn(len(factor), dimensions)).Q.to(factor.device)
    found: Tensor = torch.linalg.solve_triangular(factor.T, directions, upper=True)
    return found
