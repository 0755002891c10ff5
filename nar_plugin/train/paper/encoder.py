"""Trains the paper's encoder on a corpus, to be asked as the one that ships."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree

from nar_plugin.encoder import save_encoder
from nar_plugin.train.corpus.corpus import read_corpus
from nar_plugin.train.corpus.splits import family_numbers
from nar_plugin.train.paper.ablations import Recipe
from nar_plugin.train.paper.method import PaperMethod

_UNFINISHED = "unfinished"


def train_paper_encoder(
    corpus: Path, folder: Path, name: str, recipe: Recipe, *, device: str | None = None
) -> None:
    """Train both stages on every graph of a corpus that is searched, and write F_s and F_m.

    An interrupted training goes on after its last epoch.

    Args:
        corpus: Folder of a corpus.
        folder: Receives the encoder.
        name: Of the recipe.
        recipe: Its settings.
        device: `cpu`, `cuda` or None for CUDA where there is one.
    """
    items = [item for item in read_corpus(corpus) if item.is_searched]
    kept = folder / _UNFINISHED
    method = PaperMethod(recipe, 0, kept / name, device=device)
    method.fit(items, family_numbers(items))
    facts = {"settings": recipe.told(), "graphs": len(items)}
    save_encoder(method.encoder(), folder, recipe=name, training=facts)
    rmtree(kept)
