"""A few images of CIFAR-10 for smoke searches, never for a published accuracy."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from nar_plugin.train.data_files import data_file
from nar_plugin.train.nge.nas201_table import PAGE

IMAGES = "cifar10_22000_jpeg.npz"


@dataclass(frozen=True)
class Images:
    """Images, each channel of mean 0 and deviation 1, with their classes.

    Shapes:
        pixels: float32[n, 3, side, side]; labels: int64[n].
    """

    pixels: Tensor
    labels: Tensor

    def __len__(self) -> int:
        """How many images."""
        return len(self.labels)


def search_images(folder: Path, count: int, side: int, seed: int) -> tuple[Images, Images]:
    """Two halves of training images: for the weights, and for the architecture.

    Args:
        folder: Holds `cifar10_22000_jpeg.npz`.
        count: Images of each half, at most 10,000.
        side: 32, or a divisor of it to average over squares.
        seed: Of the draw.

    Raises:
        NarError: The file is missing.
    """
    from PIL import Image

    with np.load(data_file(folder, IMAGES, PAGE)) as saved:
        blob, offsets = saved["jpeg"].tobytes(), saved["offsets"]
        labels, test = saved["label"], saved["test"]
    random = np.random.default_rng(seed)
    chosen = random.choice(np.flatnonzero(~test), size=2 * count, replace=False)
    decoded = [
        np.asarray(Image.open(io.BytesIO(blob[offsets[i] : offsets[i + 1]])).convert("RGB"))
        for i in chosen.tolist()
    ]
    pixels = torch.from_numpy(np.stack(decoded)).permute(0, 3, 1, 2).float() / 255
    pixels = functional.avg_pool2d(pixels, 32 // side)
    pixels = (pixels - pixels.mean((0, 2, 3), keepdim=True)) / pixels.std((0, 2, 3), keepdim=True)
    classes = torch.from_numpy(labels[chosen].astype(np.int64))
    return (
        Images(pixels[:count], classes[:count]),
        Images(pixels[count:], classes[count:]),
    )
