"""Recurrent layers; `sequences.py` gives them a forward that records one operation."""

from __future__ import annotations

from nar_plugin.tracing.rules.rule import Rule, declare

declare(
    Rule(
        name="recurrent layers",
        effect="fused",
        pattern="nn.LSTM, nn.GRU, nn.RNN, whatever the length, padded or packed",
        result="lstm, gru, rnn_tanh, rnn_relu (in, width, out, layers, bidirectional)",
        reason="Unrolled, the graph would depend on the sequence length.",
        source="Hochreiter & Schmidhuber 1997; Cho et al. 2014, arXiv 1406.1078",
    )
)
