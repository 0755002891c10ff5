"""All figures that the trainings in a folder allow."""

from __future__ import annotations

from pathlib import Path

from nar_plugin.train.vae.fit.protocol import Protocol
from nar_plugin.train.vae.fit.runs import Run
from nar_plugin.train.vae.fit.training import means, trained
from nar_plugin.train.vae.measure.figures import draw_latent, draw_losses, draw_structure
from nar_plugin.train.vae.spaces.networks import Networks, split

_LATENT = {"D-VAE": 9, "DVAE-EMB": 10}  # number of the figure of each model


def draw(data: Networks, protocol: Protocol, seed: int, work: Path, folder: Path) -> list[Path]:
    """Figures 7 and 8 of ENAS; 3, 4, 9 and 10 of D-VAE and DVAE-EMB where they are trained.

    The latent vectors are those of the test side at the end of training.

    Returns:
        The files, all in `folder`.
    """
    draw_structure(data, folder)
    train, test = split(data)
    histories = {}
    for model, number in _LATENT.items():
        run = Run(work, "enas", model, protocol, seed)
        if run.has_ended:
            network, histories[model] = trained(run, train.graphs)
            path = folder / f"figure-{number}.png"
            title = f"{model}, {protocol.name.upper()}"
            draw_latent(title, means(network, test.graphs), test.accuracy, path)
    if histories:
        draw_losses(histories, folder)
    return sorted(folder.glob("figure-*.png"))
