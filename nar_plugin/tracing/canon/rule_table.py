"""The rule table as a page: `make docs` writes it to docs/canonical-form.md."""

from __future__ import annotations

import sys
from textwrap import dedent

from nar_plugin.tracing.canon.rules import RULES, Rule

_HEADINGS = {
    "dropped": ("Dropped", "These leave no node."),
    "renamed": (
        "Renamed",
        "One node each, under a common name and with the attributes that count.",
    ),
    "fused": ("Fused", "Several nodes become one."),
    "expanded": ("Expanded", "One call becomes several nodes."),
}

_OPENING = """\
    # Canonical form

    <!-- Written by `make docs`; change the rules, not this page. -->

    What a recorded ATen call becomes. Equal designs must be equal whatever the route; other designs
    must differ, so a rule joins two spellings only where they compute the same function, up to
    numbers that scale or shift it. Each rule is declared in `nar_plugin/tracing/canon/rules/`; each
    has examples in `tests/tracing/canon/examples/`: spellings that are equal, near misses that are
    not.

    """

_CLOSING = """\
    ## Attributes

    Kernel, stride, dilation, groups, widths, bias, heads, exponent, reduced dimensions, whether the
    other operand is learned (`param`) or constant (`const`). Batch, resolution and sequence length
    appear nowhere. The order of inputs counts where the function is not symmetric (`sub`, `div`,
    `matmul`, `attention`, `cat`, ...).

    `fingerprint` sees all of it. `design` leaves out the vocabulary's size and the width of the
    last linear layers, so that a fine-tuned model meets its origin.

    ## Known limits

    - A loop that reads no slice of a sequence is as deep as it is long where its state was computed
      before it and its results are not joined: refinements of one guess. A cell in a loop is its
      operations, no `lstm` or `gru`.
    - A branch on a value that depends on the data takes the side of a fixed stand-in.
    - Three layers of one input that meet in no attention and no product, and one that is as wide,
      are two designs; so are patches that are normalised before their layer, and a convolution.
    - The batch shows where `torch.einsum` multiplies a matrix with a vector of each sample: it puts
      the factors in another order for one sample than for several.
    - A number is a number: post-norm residuals with a fixed scale, ReZero's learned scalar and
      F.normalize against an RMS norm with a weight differ in nothing that is seen here.
    - Views leave no node, so the graph does not say along which axis a softmax, a reduction or an
      argmax works, nor which slice a call reads, nor in which order. Only a pattern that becomes
      one node is checked for this: x * sigmoid(x.mT) is no SiLU, and x + x.mT is x + x.
    - Weights have no identity: a layer that is used twice and two layers are one, but where layers
      are packed. Nor does a bias say along which axis it lies, where two are of one size.
    - What data do to the scores of attention is its bias, by a sum, a product or a choice.
    - Padding, ceil_mode, dilation and divisor of a pooling and align_corners leave no trace, and
      `clamp` and `minimum` with other limits than those of an activation leave no node.
    - A window that covers its features is global pooling from 4x4 on: below, a small image and a
      small window cannot be told apart.
    """


def rule_table() -> str:
    """The page as Markdown: one table for each effect, in the order of declaration."""
    sections = [dedent(_OPENING)]
    for effect, (heading, sentence) in _HEADINGS.items():
        rules = [rule for rule in RULES.values() if rule.effect == effect]
        lines = [f"## {heading}\n\n{sentence}\n", *_header(effect)]
        lines += [_line(rule) for rule in rules]
        sections.append("\n".join(lines) + "\n\n")
    return "".join([*sections, dedent(_CLOSING)])


def _header(effect: str) -> list[str]:
    if effect == "dropped":
        return ["| rule | what | why |", "|---|---|---|"]
    return ["| rule | what | becomes | why |", "|---|---|---|---|"]


def _line(rule: Rule) -> str:
    why = f"{rule.reason} ({rule.source})" if rule.source else rule.reason
    cells = [rule.name, rule.pattern, rule.result, why]
    if rule.effect == "dropped":
        del cells[2]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    sys.stdout.write(rule_table())
