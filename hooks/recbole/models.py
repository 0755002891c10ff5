"""Builds RecBole's recommenders on the MovieLens sample that its wheel carries."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

if TYPE_CHECKING:
    from torch import nn

# Counts, closed forms, boosted trees of other packages, and one that needs data beside the sample.
_NO_NETWORK = (
    "ADMMSLIM AsymKNN EASE ItemKNN KSR NCEPLRec Pop Random SLIMElastic lightgbm xgboost".split()
)
_datasets: dict[tuple[str, ...], Any] = {}


@contextlib.contextmanager
def _present() -> Iterator[None]:
    """RecBole of 2025 with numpy 2 and scipy 1.16, where two names that it needs are gone.

    A model that makes users' histories shuffles the data; on the meta device the order would
    have no values, and real data would be looked up by whatever lies in memory.
    """
    import torch
    from recbole.config import Config
    from recbole.data.interaction import Interaction
    from scipy.sparse import dok_matrix

    shuffle = Interaction.shuffle

    def shuffle_real(interaction: Any) -> None:
        with torch.device("cpu"):
            shuffle(interaction)

    def update(matrix: Any, entries: dict[Any, Any]) -> None:
        for place, value in entries.items():
            matrix[place] = value

    with (
        mock.patch.object(Config, "compatibility_settings", lambda _: None),
        mock.patch.object(dok_matrix, "_update", update, create=True),
        mock.patch.object(Interaction, "shuffle", shuffle_real),
        mock.patch.object(sys, "argv", sys.argv[:1]),  # Config reads the command line
    ):
        yield


@lru_cache(maxsize=1)
def model_names() -> list[str]:
    """Every model with a configuration in the wheel, those that are no networks aside."""
    import recbole

    folder = Path(recbole.__file__).parent / "properties" / "model"
    return sorted(path.stem for path in folder.glob("*.yaml") if path.stem not in _NO_NETWORK)


def build(name: str) -> nn.Module:
    """One model with its own configuration and the sizes of MovieLens 100k."""
    import recbole
    import torch
    from recbole.config import Config
    from recbole.utils import get_model

    folder = Path(recbole.__file__).parent / "dataset_example"
    settings = {"data_path": str(folder), "use_gpu": False, "train_neg_sample_args": None}
    with _present():
        config = Config(model=name, dataset="ml-100k", config_dict=settings)
        with torch.device("cpu"):
            dataset = _dataset(config)
        model: nn.Module = get_model(name)(config, dataset)
    return model


def _dataset(config: Any) -> Any:
    """The training part of the data, which models of one type share."""
    from recbole.data import create_dataset

    key = (str(config["MODEL_TYPE"]), str(config["load_col"]), str(config["numerical_features"]))
    if key not in _datasets:
        _datasets[key] = create_dataset(config).build()[0]
    return _datasets[key]
