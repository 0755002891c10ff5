"""PyPOTS: models of partially observed time series, by task."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

from .._shared.class_catalogue import arguments
from .values import SPECIAL, VALUES

if TYPE_CHECKING:
    from torch import nn

_TASKS = {
    "imputation": "time-series-imputation",
    "forecasting": "time-series-forecasting",
    "classification": "time-series-classification",
    "anomaly_detection": "time-series-anomaly-detection",
    "clustering": "time-series-clustering",
    "representation": "feature-extraction",
}
_NOT_NEURAL = {"TRMF", "BTTF", "LOCF", "Mean", "Median", "Lerp"}
_FROM_THE_HUB = {"TimeLLM", "GPT4TS"}  # load a language model while they are built


def _entries() -> Mapping[str, Entry]:
    return {
        f"{task}.{model.__name__}": Entry(
            build=partial(_build, model, {**given, "device": "meta"}),
            family=str(model.__module__).split(".")[-2],
            task=label,
        )
        for task, label in _TASKS.items()
        for model, given in _models(task)
    }


def _models(task: str) -> Iterator[tuple[type, dict[str, Any]]]:
    module = importlib.import_module(f"pypots.{task}")
    for name in module.__all__:
        if name not in _NOT_NEURAL | _FROM_THE_HUB:
            model = getattr(module, name)
            given = arguments(model, VALUES, SPECIAL.get(name, {}))
            if given is not None:
                yield model, given


def _build(model: Any, given: dict[str, Any]) -> nn.Module:
    """The network inside a model that has `fit` and `predict`."""
    network: nn.Module = model(**given).model
    return network


def _inputs(_: nn.Module) -> list[ExampleInputs]:
    """Everything that a training step of one of the tasks reads from its data."""
    import torch

    series = torch.empty(2, VALUES["n_steps"], VALUES["n_features"], device="meta")
    names = "X missing_mask X_ori indicating_mask deltas last_obs empirical_mean".split()
    batch: dict[str, Any] = dict.fromkeys(names, series)
    ahead = torch.empty(2, VALUES["n_pred_steps"], VALUES["n_pred_features"], device="meta")
    steps = torch.arange(VALUES["n_steps"]).expand(2, -1)
    way = dict.fromkeys(("X", "missing_mask", "deltas", "last_obs"), series)
    batch |= {"forward": way, "backward": way, "X_pred": ahead, "X_pred_missing_mask": ahead}
    batch |= {"y": torch.tensor([0, 1]), "timestamps": steps, "lengths": steps[:, -1] + 1}
    batch |= {"observed_data": series.mT, "cond_mask": series.mT, "indicating_mask": series}
    csdi = {**batch, "indicating_mask": series.mT, "observed_tp": steps.float()}
    return [ExampleInputs((item,), batch=2) for item in (batch, csdi, series)]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="pypots",
    distribution="pypots",
    licence="BSD-3-Clause",
    url="https://pypots.com",
    entries=_entries,
    inputs=_inputs,
).hooks()
