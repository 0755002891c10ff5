"""Figures 3, 4 and 7 to 10 of the paper as PNG files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.manifold import TSNE
from torch import Tensor

from nar_plugin.train.vae.measure.structure import clustering, path_length
from nar_plugin.train.vae.spaces.networks import Networks

_GROUPS = 6  # of networks by accuracy (section 4.4)


def draw_losses(histories: Mapping[str, Sequence[Mapping[str, float]]], folder: Path) -> None:
    """Figures 3 and 4: reconstruction loss and divergence, epoch by epoch.

    Args:
        histories: Of the epochs of each model.
        folder: Receives figure-3.png and figure-4.png.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for number, loss in ((3, "reconstruction"), (4, "divergence")):
        figure, axes = _sheet()
        for model, epochs in histories.items():
            axes.plot(range(1, len(epochs) + 1), [epoch[loss] for epoch in epochs], label=model)
        axes.set(xlabel="epoch", ylabel=loss)
        axes.legend()
        _save(figure, folder / f"figure-{number}.png")


def draw_structure(data: Networks, folder: Path) -> None:
    """Figures 7 and 8: two properties of six groups of networks, from worst to best."""
    folder.mkdir(parents=True, exist_ok=True)
    groups = np.array_split(data.accuracy.argsort().numpy(), _GROUPS)
    properties = (
        (7, "average path length", path_length(data.graphs)),
        (8, "clustering", clustering(data.graphs)),
    )
    for number, name, values in properties:
        figure, axes = _sheet()
        axes.violinplot([values.numpy()[group] for group in groups], showmeans=True)
        means = [float(data.accuracy[torch.from_numpy(group)].mean()) for group in groups]
        axes.set_xticks(range(1, _GROUPS + 1), [f"{mean:.3f}" for mean in means])
        axes.set(xlabel="mean accuracy of the group, by shared weights", ylabel=name)
        _save(figure, folder / f"figure-{number}.png")


def draw_latent(title: str, latent: Tensor, accuracy: Tensor, path: Path) -> None:
    """Figures 9 and 10: latent vectors in two dimensions by t-SNE, coloured by accuracy.

    Args:
        title: What stands above it.
        latent: float32[n, latent].
        accuracy: float64[n].
        path: The file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    places = TSNE(init="pca", random_state=0).fit_transform(latent.numpy())  # [n, 2]
    figure, axes = _sheet()
    drawn = axes.scatter(places[:, 0], places[:, 1], c=accuracy.numpy(), s=4, cmap="viridis")
    figure.colorbar(drawn, label="accuracy by shared weights")
    axes.set(title=title, xticks=[], yticks=[])
    _save(figure, path)


def _sheet() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(5, 3.5), layout="tight")
    return figure, figure.subplots()


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, dpi=120, metadata={"Software": None})
