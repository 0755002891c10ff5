"""A report in a terminal that lacks some of its characters."""

import io

import pytest

from nar_plugin.report.plain import PLAIN, printable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Block \xd73", "Block x3"),
        ("Transformer\u2026", "Transformer..."),
        ("a \u2192 b", "a -> b"),
        ("\u2500\u2500\u253c\u2502", "--+|"),
        ("caf\xe9", "cafe"),
        ("\u6a21\ud800", "??"),
        ("plain", "plain"),
    ],
)
def test_ascii(monkeypatch, text, expected):
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), "ascii"))
    assert printable(text) == expected


def test_what_can_be_shown_stays():
    assert "\xd73 caf\xe9".encode("cp1252", PLAIN).decode("cp1252") == "\xd73 caf\xe9"
    assert "\u2500".encode("cp1252", PLAIN) == b"-"
