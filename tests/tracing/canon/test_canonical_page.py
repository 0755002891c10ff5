"""The committed rule table is the one that the rules generate."""

from pathlib import Path

import pytest

from nar_plugin.tracing.canon.rule_table import rule_table
from nar_plugin.tracing.canon.rules import RULES
from nar_plugin.tracing.canon.rules.rule import Rule, declare

PAGE = Path(__file__).parents[3] / "docs" / "canonical-form.md"


def test_the_page_is_up_to_date():
    assert PAGE.read_text() == rule_table(), "Run `make docs`."


def test_every_rule_has_a_line_with_its_reason():
    lines = [line for line in rule_table().splitlines() if line.startswith("| ")]
    for rule in RULES.values():
        (line,) = (line for line in lines if line.startswith(f"| {rule.name} |"))
        assert rule.pattern in line
        assert rule.reason in line


def test_two_rules_cannot_share_a_name():
    with pytest.raises(ValueError, match="Two rules are called 'dropout'"):
        declare(Rule("dropout", "dropped", "", "", ""))
