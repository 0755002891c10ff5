"""Guesses for forecasters whose forward names its series as the Time-Series-Library does."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from torch import nn

from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.tracing.twin.parts import named_modules, named_parameters

from ..._shared.attribute_search import integer
from ..._shared.layers import floats, width_of

_CALENDAR = 4  # features of a time stamp, by the hour: month, day, weekday and hour
_WINDOW, _HORIZON = 96, 96  # steps, as in the papers' tables
_SERIES = 7  # of ETT, the data set that nearly all are run on


def forecasts(model: nn.Module, names: list[str]) -> Iterator[ExampleInputs]:
    """A window of the past, the steps to predict, and the calendar of both.

    The names are those of https://github.com/thuml/Time-Series-Library:
    `forward(x_enc, x_mark_enc, x_dec, x_mark_dec)`.

    Args:
        model: A forecaster; others get no guess.
        names: Of the arguments that its forward wants.
    """
    if names[:1] != ["x_enc"] or any(name not in _SHAPES for name in names):
        return
    shapes = {name: _SHAPES[name](model) for name in names}
    yield ExampleInputs(tuple(floats(1, *shape) for shape in shapes.values()))
    if "x_mark_enc" in names:  # a classifier is told instead which of the steps are there
        shapes["x_mark_enc"] = (_past(model),)
        yield ExampleInputs(tuple(floats(1, *shape) for shape in shapes.values()))


def _past(model: nn.Module) -> int:
    return integer(model, ("seq_len",)) or _WINDOW


def _future(model: nn.Module) -> int:
    """What the decoder sees of the past, and what it predicts."""
    known = integer(model, ("label_len",)) or 0
    return known + (integer(model, ("pred_len",)) or _HORIZON)


def _series(model: nn.Module) -> int:
    """How many series are read."""
    return integer(model, ("enc_in",)) or _embedded(model, "enc") or _normed(model) or _SERIES


def _series_begun(model: nn.Module) -> int:
    """How many series the decoder is given."""
    return integer(model, ("dec_in",)) or _embedded(model, "dec") or _series(model)


def _embedded(model: nn.Module, side: str) -> int:
    """The channels that the convolution of a side's value embedding takes in, 0 without one."""
    for path, layer in named_modules(model):
        if isinstance(layer, nn.Conv1d) and "value_embedding" in path and side in path:
            return width_of(layer)
    return 0


def _normed(model: nn.Module) -> int:
    """The width of a reversible norm's factors, 0 without one (RevIN, ICLR 2022)."""
    for path, parameter in named_parameters(model):
        if path.endswith("affine_weight") and parameter.dim() == 1:
            return len(parameter)
    return 0


_SHAPES: dict[str, Callable[[nn.Module], tuple[int, ...]]] = {
    "x_enc": lambda model: (_past(model), _series(model)),
    "x_mark_enc": lambda model: (_past(model), _CALENDAR),
    "x_dec": lambda model: (_future(model), _series_begun(model)),
    "x_mark_dec": lambda model: (_future(model), _CALENDAR),
    "batch_y_mark": lambda model: (_future(model), _CALENDAR),
}
