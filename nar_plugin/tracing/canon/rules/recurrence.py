"""Recurrent layers and loops; `sequences.py` and `loops.py` find them."""

from __future__ import annotations

from nar_plugin.tracing.canon.rules.rule import Rule, declare

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

declare(
    Rule(
        name="steps of a loop",
        effect="fused",
        pattern="the same calls with the same weights on one slice of a sequence after the other, "
        "three times or more, each alone or with what the step before made; on no slice, where the "
        "state begins as a constant or all results are joined; rounds that double a distance",
        result="the step once; where the state begins as zeros, the first and the second",
        reason="A cell, a selective scan or an encoder of frames is one, however long the "
        "sequence is.",
        source="Gu & Dao 2023, arXiv 2312.00752, Algorithm 2, for the scan",
    )
)
