"""Time series for a model of transformers: a past to forecast from, and its calendar."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from ..sizes import number
from .media import floats


def series(config: Any, names: set[str]) -> Iterator[dict[str, Any]]:
    """A past to forecast from, with its calendar where the model asks for one.

    Shapes:
        past_values: float[1, steps] or float[1, steps, variables].
    """
    lags = max(getattr(config, "lags_sequence", None) or [0])
    steps = number(config, ("context_length",), 512) + lags
    variables = number(config, ("num_input_channels", "input_size"), 1)
    shape = (1, steps) if variables == 1 and lags else (1, steps, variables)
    ahead = number(config, ("prediction_length",), 24)
    times = number(config, ("num_time_features",), 0)
    known = {
        "past_time_features": floats(1, steps, times),
        "past_observed_mask": torch.ones(shape, dtype=torch.bool),
        "future_time_features": floats(1, ahead, times),
        "future_values": floats(1, ahead, *shape[2:]),
        "past_values_padding": torch.zeros(1, steps, dtype=torch.int64),
        "freq": torch.zeros(1, 1, dtype=torch.int64),
    }
    given = {name: value for name, value in known.items() if name in names}
    given |= _unchanging(config, names)
    if "past_time_features" not in names:
        given.pop("future_values", None)
        given.pop("past_observed_mask", None)
    if getattr(config, "patch_length", None) and "num_input_channels" not in vars(config):
        short = floats(1, 512)  # TimesFM: one variable, in whole patches
        padding = {"past_values_padding": torch.zeros(1, 512, dtype=torch.int64)}
        yield {"past_values": short, **(given | padding if "past_values_padding" in names else {})}
        yield {"past_values": [floats(512)]}
        return
    yield {"past_values": floats(*shape), **given}


def _unchanging(config: Any, names: set[str]) -> dict[str, Any]:
    """What is known of a series as a whole: its categories and numbers."""
    kinds = number(config, ("num_static_categorical_features",), 0)
    reals = number(config, ("num_static_real_features",), 0)
    known: dict[str, Any] = {}
    if kinds and "static_categorical_features" in names:
        known["static_categorical_features"] = torch.zeros(1, kinds, dtype=torch.int64)
    if reals and "static_real_features" in names:
        known["static_real_features"] = floats(1, reals)
    return known
