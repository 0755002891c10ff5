"""What moves values without computing any, or is the same for every input: it leaves no node.

All but the last act elsewhere: the recorder skips the calls in `vocabulary.BOOKKEEPING` and those
on constants alone, the twin and the stand-ins take away precision and device, `trace` leaves out
what no result depends on.
"""

from __future__ import annotations

from nar_plugin.tracing.canon.call import Call
from nar_plugin.tracing.canon.rules.rule import Attributes, Rule, declare, on_calls
from nar_plugin.tracing.record.record import PARAM

declare(
    Rule(
        name="views and copies",
        effect="dropped",
        pattern="view, reshape, permute, slice, split, expand, repeat, clone, pixel_shuffle, ...",
        result="",
        reason="They move, name or copy values and compute none.",
        source="Neural Architecture Retrieval, appendix: TBackward and AccumulateGrad",
    )
)
declare(
    Rule(
        name="precision and device",
        effect="dropped",
        pattern="changes of device and of float precision, also around a softmax; quantizing, "
        "dequantizing, observers; packed layers are the float ones",
        result="",
        reason="float32, bfloat16, int8, CPU, CUDA and meta run one design. Norms that were folded "
        "into convolutions before stay folded.",
        source="Jacob et al. 2018, arXiv 1712.05877, section 3, for the folding",
    )
)
declare(
    Rule(
        name="dropout",
        effect="dropped",
        pattern="dropout of every kind, stochastic depth",
        result="",
        reason="Every model is traced as in eval mode, where they do nothing.",
    )
)
declare(
    Rule(
        name="constant padding",
        effect="dropped",
        pattern="padding with a constant, before a convolution or as its argument",
        result="",
        reason="It only says what lies outside; the convolution's attributes hold the rest.",
    )
)
declare(
    Rule(
        name="constants",
        effect="dropped",
        pattern="operations on constants alone: masks, positions, rotary tables",
        result="",
        reason="They are the same for every input.",
    )
)
declare(
    Rule(
        name="samples of a batch",
        effect="dropped",
        pattern="weights repeated for each sample of a user's batch, a number for each, weights of "
        "each sample in the groups of one convolution",
        result="",
        reason="The graph is that of one sample.",
        source="Karras et al. 2020, arXiv 1912.04958, appendix B, for the groups",
    )
)
declare(
    Rule(
        name="slices of joined values",
        effect="dropped",
        pattern="a slice, a chunk or a view of cat or stack that lies in one of the joined values",
        result="",
        reason="It is a slice of that value, and nothing else: a dual path joins what it takes "
        "apart again.",
        source="Chen et al. 2017, arXiv 1707.01629, section 3.3",
    )
)
declare(
    Rule(
        name="fast paths of torch",
        effect="renamed",
        pattern="_native_multi_head_attention, _transformer_encoder_layer_fwd",
        result="the operations of nn.MultiheadAttention and nn.TransformerEncoderLayer",
        reason="One module, recorded in eval mode as one kernel or step by step.",
    )
)
declare(
    Rule(
        name="patterns on inputs",
        effect="renamed",
        pattern="any pattern of one value, a mixture of experts, rotary positions, on what comes "
        "into the model",
        result="what it is on the result of a layer",
        reason="An input is no operation, but one value: x * sigmoid(x) is SiLU of it too.",
    )
)
declare(
    Rule(
        name="dead branches",
        effect="dropped",
        pattern="operations that no result depends on",
        result="",
        reason="Removing them changes no output. It happens before other rules, which ask who "
        "reads a value: weights of attention that nobody asked for are no obstacle.",
    )
)


@on_calls(
    Rule(
        name="losses",
        effect="dropped",
        pattern="one of torch's losses, of what the model says and a target that comes in; the "
        "log-softmax of a cross entropy",
        result="",
        reason="A forward that is given its targets trains the design that it is without them.",
    ),
    *("nll_loss_forward", "nll_loss2d_forward", "mse_loss", "smooth_l1_loss", "huber_loss"),
    *("binary_cross_entropy", "binary_cross_entropy_with_logits"),
)
def _loss(call: Call) -> tuple[str, Attributes] | None:
    said = [source for source in call.sources if source >= 0]
    if len(said) != 1 or PARAM in call.sources:
        return call.name, {}
    before = call.nodes[said[0]]
    if call.name.startswith("nll_loss") and before.kind == "log_softmax" and before.inputs:
        call.sources = list(before.inputs)
    return None
