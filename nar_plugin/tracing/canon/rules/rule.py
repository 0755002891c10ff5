"""What a rule of the canonical form is, and where it is written down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from nar_plugin.tracing.canon.call import Call
from nar_plugin.tracing.canon.fusion import FusionRule
from nar_plugin.tracing.graph import Attribute

Effect = Literal["dropped", "renamed", "fused", "expanded"]
Attributes = dict[str, Attribute]
# The node's kind and attributes; None where the call leaves no node.
CallRule = Callable[[Call], "tuple[str, Attributes] | None"]
# Hands simpler calls to `emit`, which answers with the node that stands for each.
Expansion = Callable[[Call, Callable[[Call], int]], "int | None"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the rule table.

    Attributes:
        name: Unique; examples that try the rule are filed under it.
        effect: `dropped` leaves no node, `renamed` one node under a common name, `fused` one node
            for several, `expanded` several nodes for one.
        pattern: What it applies to.
        result: What is left of it.
        reason: Why designs that differ in this are equal.
        source: Paper, equation or documentation, where there is one.
    """

    name: str
    effect: Effect
    pattern: str
    result: str
    reason: str
    source: str = ""


RULES: dict[str, Rule] = {}
CALLS: dict[str, CallRule] = {}
EXPANSIONS: dict[str, Expansion] = {}
FUSIONS: dict[str, list[FusionRule]] = {}
FINISHING: dict[str, list[FusionRule]] = {}  # tried when the others are done
LAST: dict[str, list[FusionRule]] = {}  # tried when these are done too


def declare(rule: Rule) -> Rule:
    """Enter a rule into the table."""
    if rule.name in RULES:
        raise ValueError(f"Two rules are called {rule.name!r}.")
    RULES[rule.name] = rule
    return rule


def on_calls(rule: Rule | None, *names: str) -> Callable[[CallRule], CallRule]:
    """The decorated function makes the node of these calls."""
    if rule is not None:
        declare(rule)

    def register(function: CallRule) -> CallRule:
        CALLS.update(dict.fromkeys(names, function))
        return function

    return register


def expands(rule: Rule | None, *names: str) -> Callable[[Expansion], Expansion]:
    """The decorated function replaces these calls by simpler ones."""
    if rule is not None:
        declare(rule)

    def register(function: Expansion) -> Expansion:
        EXPANSIONS.update(dict.fromkeys(names, function))
        return function

    return register


def starts_at(
    rule: Rule | None, *kinds: str, finishing: bool = False, last: bool = False
) -> Callable[[FusionRule], FusionRule]:
    """The decorated function is tried at every node of these kinds.

    Args:
        rule: Its line of the table; None where another says it.
        *kinds: Kinds of nodes.
        finishing: Try it only when all other fusions are done.
        last: Try it only when those are done too.
    """
    if rule is not None:
        declare(rule)

    table = LAST if last else FINISHING if finishing else FUSIONS

    def register(function: FusionRule) -> FusionRule:
        for kind in kinds:
            table.setdefault(kind, []).append(function)
        return function

    return register
