"""The contrastive losses of Eq. 4 and Eq. 5."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def motif_loss(motifs: Tensor, contexts: Tensor, temperature: float = 1.0) -> Tensor:
    """Eq. 4: -log of the share of e^d that falls on a motif's own context, averaged.

    The other contexts of the batch are the negatives; d is the cosine.

    Args:
        motifs: The embeddings H_sg.
        contexts: The embeddings H_c.
        temperature: Divides the cosines; the paper has none.

    Shapes:
        motifs, contexts: float32[b, width], row by row a motif and its context.
    """
    cosines = functional.normalize(motifs, dim=1) @ functional.normalize(contexts, dim=1).T
    own = torch.arange(len(motifs), device=motifs.device)
    return functional.cross_entropy(cosines / temperature, own)


def family_loss(vectors: Tensor, labels: Tensor, temperature: float = 1.0) -> Tensor:
    """Eq. 5: -log of the share of e^d that falls on graphs of the same family, averaged.

    A graph without another of its family in the batch does not count; a batch of such graphs alone
    has a loss of 0, whose gradient is 0.

    Args:
        vectors: The embeddings H_m.
        labels: The family of each.
        temperature: Divides the cosines; the paper has none.

    Shapes:
        vectors: float32[b, width]; labels: int64[b].
    """
    rows = functional.normalize(vectors, dim=1)
    itself = torch.eye(len(rows), dtype=torch.bool, device=rows.device)
    exponents = (rows @ rows.T / temperature).masked_fill(itself, -torch.inf)  # [b, b]
    same = (labels[:, None] == labels[None, :]) & ~itself
    paired = same.any(dim=1)
    if not paired.any():
        return 0 * rows.sum()
    positive = exponents.masked_fill(~same, -torch.inf)[paired].logsumexp(dim=1)
    return (exponents[paired].logsumexp(dim=1) - positive).mean()
