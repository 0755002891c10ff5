"""Recurrent layers as one operation each, whatever the sequence length that they are run on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn
from torch.nn.utils.rnn import PackedSequence

from nar_plugin.tracing.graph import Op
from nar_plugin.tracing.record.recorder import Recorder
from nar_plugin.tracing.twin.twin import Twin


def fold(twin: Twin, recorder: Recorder) -> None:
    """Give each nn.LSTM, nn.GRU and nn.RNN of a twin a forward that records one operation."""
    for path, module in twin.modules:
        if isinstance(module, nn.RNNBase) and type(module).forward in _FORWARDS:
            forward = _folded(module, recorder)
            module.__dict__["forward"] = recorder.scope(path, forward)


_MATRIX = 2  # dimensions of one sequence
_FORWARDS = (nn.LSTM.forward, nn.GRU.forward, nn.RNN.forward)


def _folded(module: nn.RNNBase, recorder: Recorder) -> Callable[..., Any]:
    directions = 2 if module.bidirectional else 1
    width = module.proj_size or module.hidden_size
    op = Op(
        module.mode.lower(),
        (
            ("bidirectional", module.bidirectional),
            ("in", module.input_size),
            ("layers", module.num_layers),
            ("out", width),
            ("width", module.hidden_size),
        ),
    )
    gates = {"LSTM": 4, "GRU": 3}.get(module.mode, 1)

    def forward(input: Any, hx: Any = None) -> Any:
        values = input.data if isinstance(input, PackedSequence) else input
        steps = values.numel() // values.shape[-1]
        if recorder.samples is not None and not (module.batch_first and values.dim() > _MATRIX):
            recorder.samples.run_along(values.shape[0])
        out = recorder.blank((*values.shape[:-1], width * directions))
        state = (module.num_layers * directions, *_batch(module, input))
        hidden = recorder.blank((*state, width))
        cell = recorder.blank((*state, module.hidden_size))
        results = (out, hidden, cell) if module.mode == "LSTM" else (out, hidden)
        inner = module.input_size + (module.num_layers - 1) * width * directions
        products = inner + module.num_layers * width
        projected = module.num_layers * module.proj_size
        wide = gates * products + projected  # numbers that meet each hidden one
        flops = 2 * steps * directions * module.hidden_size * wide
        given = hx if isinstance(hx, tuple) else (hx,)
        read = [values, *(state for state in given if state is not None)]
        recorder.emit(op, read, results, flops=flops)
        states = (hidden, cell) if module.mode == "LSTM" else hidden
        if isinstance(input, PackedSequence):
            return input._replace(data=out), states
        return out, states

    return forward


def _batch(module: nn.RNNBase, input: Any) -> tuple[int, ...]:
    """The batch dimension of a layer's states; none where the input is one sequence."""
    if isinstance(input, PackedSequence):
        return (int(input.batch_sizes[0]),)
    if input.dim() < 3:
        return ()
    return (int(input.shape[0 if module.batch_first else 1]),)
