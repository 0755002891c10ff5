"""neuralforecast: Nixtla's forecasting networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

from ._shared.attribute_search import integer
from ._shared.class_catalogue import entries

_HORIZON, _WINDOW, _SERIES = 12, 96, 7
_VALUES: dict[str, Any] = {"h": _HORIZON, "input_size": _WINDOW, "n_series": _SERIES}
_COMPOSED = ("HINT", "TimeLLM")  # around another model, and around a language model of the Hub


def _entries() -> Mapping[str, Entry]:
    from neuralforecast import models

    classes = [getattr(models, name) for name in models.__all__ if name not in _COMPOSED]
    window = {item.__name__: {"input_size": _WINDOW} for item in classes}
    found: Mapping[str, Entry] = entries(
        classes, _VALUES, task="time-series-forecasting", special=window
    )
    return found


def _inputs(model: Any) -> list[ExampleInputs]:
    """A window of the past, of one series or, for a multivariate model, of all."""
    import torch

    window = integer(model, ("input_size",)) or _WINDOW
    series = torch.empty(2, window, getattr(model, "n_series", None) or 1, device="meta")
    absent = ("hist_exog", "futr_exog", "stat_exog")
    parts = {"insample_y": series, "insample_mask": series, **dict.fromkeys(absent)}
    one = {**parts, "insample_y": series[..., :1]}
    return [ExampleInputs((item,), batch=2) for item in (parts, one)]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="neuralforecast",
    distribution="neuralforecast",
    licence="Apache-2.0",
    url="https://nixtlaverse.nixtla.io/neuralforecast/",
    entries=_entries,
    inputs=_inputs,
).hooks()
