"""The sentences of a report.

Names, labels and urls are cleaned (`nar_plugin.visible_text`). Markup is the renderers' business:
rich gets `Text`, which interprets nothing, and HTML gets escaped text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from nar_plugin.visible_text import clean, counted, flops_text, params_text, times

if TYPE_CHECKING:
    from nar_plugin.report.asked import IndexInfo, Query
    from nar_plugin.report.hit import Hit, SharedMotif

UNREAD = 0.1  # share of the parameters from which on a forward has passed by a part of the model
# By `python docs/benchmarks/relatives.py`, which asks with graphs of families that the encoder has
# not seen (docs/decisions/likeness-by-blocks.md).
FAR = 0.7  # of designs whose family the index has, 1% have no hit above it
STRANGE = 0.5  # about as alike is the best of foreign designs, which share no field or no kind
KIN = 0.5  # share of the query's operations in blocks that a hit has too: strangers have at most .3

_RAISED = re.compile(r": (\w[\w.]*(?:: .*)?)$")  # behind inputs, whose types end in brackets
# A name that was never bound, or an attribute of something that is no usual input.
_MISTAKE = re.compile(
    r"NameError|UnboundLocalError|AttributeError: "
    r"'(?!(?:Tensor|NoneType|dict|list|tuple|int|float|str|bool)')\w+' object has no"
)


def motif_text(motif: SharedMotif, label_width: int = 80) -> str:
    """The block's label, then how often it occurs in the query and in the hit."""
    label = clean(motif.label)
    short = label if len(label) <= label_width else f"{label[: label_width - 1]}…"
    return f"{short} {times(motif.count_query)}/{motif.count_hit}"


def names_text(hits: Sequence[Hit]) -> str:
    """Every name of each hit and of what has its backbone; by the first its page and licence."""
    lines = []
    for hit in hits:
        page = f"  {clean(hit.url)}" if is_web(hit.url) else ""
        licence = f"  code: {clean(hit.licence)}" if hit.licence else ""
        lines.append(f"\n{hit.rank}  {clean(hit.name)}{page}{licence}")
        lines += [f"   = {clean(name)}" for name in dict.fromkeys(hit.names) if name != hit.name]
        lines += [f"   ~ {clean(name)}" for name in hit.variants]
    signs = "=: the same design, ~: the same backbone with another head"
    return "\n".join([*lines, "", signs])


def motif_legend(hits: Sequence[Hit]) -> str:
    """How `motif_text` counts; empty where no hit shares a block."""
    if not any(hit.shared_motifs for hit in hits):
        return ""
    return f"{times(2)}/3 behind a motif: it occurs twice in the model and three times in the hit"


def is_web(url: str | None) -> bool:
    """Whether a click on this url opens a web page; a `javascript:` one would run."""
    try:
        return urlsplit(clean(url or "")).scheme in ("http", "https")
    except ValueError:
        return False


def other_names(hit: Hit) -> str:
    """Such as `(+3 names, +21 with other heads)`; empty where there are neither."""
    count, others = len(set(hit.names) - {hit.name}), len(hit.variants)
    parts = [f"+{counted(count, 'name')}"] * bool(count)
    parts += [f"+{others:,} with other heads"] * bool(others)
    return f"({', '.join(parts)})" if parts else ""


def name_text(query: Query) -> str:
    """Its reference, also of a model that was changed; such as `this ViT` where there is none."""
    if query.name and query.changed:
        return f"{clean(query.name)} as changed here"
    return clean(query.name or f"this {query.class_name or 'model'}")


def query_text(query: Query) -> str:
    """Such as `timm:resnet50, 25.6M params, 8.2G FLOPs, 174 ops`."""
    params, flops = params_text(query.params), query_flops(query)
    return f"{name_text(query)}, {params} params, {flops} FLOPs, {query.ops:,} ops"


def query_flops(query: Query) -> str:
    """Its FLOPs, which nobody knows of a model whose forward was not followed."""
    return "unknown" if query.method == "modules" else flops_text(query.flops)


def inputs_text(query: Query) -> str:
    """Such as `at float32[1, 3, 224, 224]`: what the FLOPs were counted at; empty where unknown.

    Of a name that needs no trace, that the index has answered.
    """
    if source := source_text(query):
        return source
    known = query.inputs and query.method != "modules"
    return f"at {clean(query.inputs)}" if known else ""


def source_text(query: Query) -> str:
    """That the index has answered for a name that needs no trace; empty for what was traced."""
    if query.method != "index" or query.reason:
        return ""
    return "from the index; --trace, in Python trace=True, builds and traces it anew"


def index_text(index: IndexInfo) -> str:
    """Such as `1,461 names, 1,203 graphs; index embedded, 3 days old, encoder nar-1`."""
    revision = f" at {clean(index.revision)}" if index.revision else ""
    return (
        f"{index.architectures:,} names, {index.graphs:,} graphs; "
        f"index {clean(index.source)}{revision}, {clean(index.age)}, encoder {clean(index.encoder)}"
    )


def far_text(query: Query, hits: Sequence[Hit]) -> str:
    """What a low best score says; empty of hits that are near or made of the model's blocks."""
    if not hits or hits[0].rank > 1 or hits[0].exact or hits[0].score >= FAR:
        return ""
    if any(_is_kin(query, hit) for hit in hits):
        return ""
    if hits[0].score >= STRANGE:
        return f"Distant relatives at best: every score is below {FAR}."
    return f"No close relative: every score is below {STRANGE}. These are the least far."


def _is_kin(query: Query, hit: Hit) -> bool:
    return shared_ops(hit) >= KIN * query.ops


def module_tree_text(reason: str, done: str = "compared") -> str:
    """Why the forward was not followed, what was done instead, and what can be done about it."""
    compared = f"its layers were {done} in the order of the module tree, without their connections"
    first, _, refusal = reason.partition("\n")
    if not first.startswith("no inputs"):  # it has no forward that could take any
        model, _, advice = clean(first).partition("; ")
        return f"{model}, so {compared}." + (f" {advice[0].upper()}{advice[1:]}." if advice else "")
    raised = _RAISED.search(refusal.partition("\n")[0])
    refusal = clean(raised[1]).rstrip(".") if raised else ""
    advice = "In Python, example_inputs= gives a sure answer."
    if _MISTAKE.match(refusal):
        refusal = f"{refusal}; that may be a mistake in it"
        advice = "If it is none, example_inputs= in Python gives a sure answer."
    advice += " Of a part of a model, ask with the whole: find_similar(model, at=...)."
    cause = f" ({refusal})" if refusal else ""
    return f"No inputs were found that its forward takes{cause}, so {compared}. {advice}"


def shared_ops(hit: Hit) -> int:
    """How many of the query's operations lie in blocks that the hit has as well, one for one."""
    return sum(min(motif.count_query, motif.count_hit) * motif.ops for motif in hit.shared_motifs)


def trace_text(query: Query) -> str:
    """A warning when the graph is not that of the whole forward; otherwise empty."""
    if query.method == "index" and query.reason:
        return f"Read from the index, since it was not built here: {clean(query.reason)}"
    if query.method == "modules":
        return module_tree_text(query.reason)
    if query.unread > UNREAD * query.params:
        return (
            f"{query.unread / query.params:.0%} of its parameters were not reached by this "
            "forward; the answer is about the rest. In Python, example_inputs= may lead "
            "through them."
        )
    return ""
