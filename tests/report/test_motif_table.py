from nar_plugin.mining.macro import MotifCount
from nar_plugin.report.motif_table import motif_table
from nar_plugin.report.terminal import plain_text


def test_a_row_for_each_motif_with_its_share():
    text = plain_text(motif_table([MotifCount("a", "Block", 12, 6), MotifCount("b", "stem", 1, 8)]))
    rows = [line.split() for line in text.splitlines()]
    assert rows[2] == ["Block", "\N{MULTIPLICATION SIGN}12", "6", "90.0%"]
    assert rows[3] == ["stem", "\N{MULTIPLICATION SIGN}1", "8", "10.0%"]


def test_no_motifs():
    assert "motif" in plain_text(motif_table([]))
