"""The calibration of novelty that ships with the code (`nar_plugin.likeness.novelty`)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nar_plugin.encoder import encoder_sha256
from nar_plugin.train.corpus.corpus import read_corpus
from nar_plugin.train.corpus.splits import family_numbers
from nar_plugin.train.fit.recipe import Settings
from nar_plugin.train.measure.likeness_method import LikenessMethod
from nar_plugin.train.measure.unseen.novelty import novelty_figures, novelty_split

SEED = 0


def calibrated(corpus: Path, encoder: Path) -> str:
    """The content of the file: TOML.

    Args:
        corpus: Folder of a corpus.
        encoder: Folder of the encoder that ships, of the same recipe. Its hash says for which one
            the figures are; another encoder is trained, without what is held out.
    """
    items = [item for item in read_corpus(corpus) if item.is_searched]
    split = novelty_split(items, SEED)
    method = LikenessMethod(Settings(seed=SEED))
    method.fit([items[place] for place in split.train.tolist()], family_numbers(items)[split.train])
    found = novelty_figures(items, split, method)
    lines = [
        "# Written by `nar dev calibrate`: how novel held-out designs are (docs/novelty.md).",
        f'encoder_sha256 = "{encoder_sha256(encoder)}"',
        f"auc = {found.auc:.3f}  # unseen families against new sizes of known ones",
        f"counts = {{ unseen_families = {len(found.unseen)}, new_sizes = {len(found.sizes)} }}",
        f"medians = {{ unseen_families = {np.median(found.unseen):.3f}, "
        f"new_sizes = {np.median(found.sizes):.3f} }}",
        "# Quantiles, evenly spaced from the least novel to the most.",
        *(f"{name} = {values}" for name, values in found.quantiles.items()),
    ]
    return "\n".join(lines) + "\n"
