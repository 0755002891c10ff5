from dataclasses import replace

import numpy as np

from nar_plugin.mining import mine
from nar_plugin.mining.macro import MotifCount
from nar_plugin.report.motif_table import motif_table
from nar_plugin.report.terminal import plain_text
from nar_plugin.tracing.graph import ArchitectureGraph, Op

EDGES = np.zeros((0, 2), dtype=np.int32)
FOLLOWED = ArchitectureGraph((Op("relu"),), EDGES, ("",), method="meta")


def test_a_row_for_each_motif_with_its_share():
    motifs = [MotifCount("a", "Block", 12, 6), MotifCount("b", "stem", 1, 8)]
    text = plain_text(motif_table(motifs, FOLLOWED))
    rows = [line.split() for line in text.splitlines()]
    assert rows[2] == ["Block", "\N{MULTIPLICATION SIGN}12", "6", "90.0%"]
    assert rows[3] == ["stem", "\N{MULTIPLICATION SIGN}1", "8", "10.0%"]


def test_no_motifs():
    assert "motif" in plain_text(motif_table([], FOLLOWED))


def test_what_was_not_followed_is_said():
    reason = "no inputs could be found:\n  float32[1, 8]: ValueError: a tree is wanted"
    graph = replace(FOLLOWED, method="modules", reason=reason)
    text = " ".join(plain_text(motif_table([MotifCount("a", "Block", 12, 6)], graph)).split())
    assert "(ValueError: a tree is wanted), so its layers were cut in the order" in text
    assert "module tree" not in plain_text(motif_table([], FOLLOWED))
    assert "of the module tree alone" in repr(mine(graph))
    assert "module tree" not in repr(mine(FOLLOWED))
