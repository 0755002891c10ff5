"""Two columns of facts."""

from nar_plugin.report.table import fact_table
from nar_plugin.report.terminal import plain_text


def test_a_value_keeps_its_lines_and_loses_what_a_terminal_would_obey():
    facts = {"reason": "none was found:\n  one:  \x1b[2Jno\n  two: no", "empty": ""}
    lines = plain_text(fact_table(facts)).splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        "reason none was found:",
        "one: no",
        "two: no",
    ]
