"""In what order hits come, and under which names."""

import numpy as np
import pytest

from nar_plugin.index.ranking import Subject, most_alike


@pytest.mark.parametrize("own", [False, True])
def test_hits_come_in_the_order_of_the_scores_that_they_show(row, build, own):
    """The best known row stands for a backbone; that of the question ranks by its best row."""
    names = {"known": "A", "other": "B", "variant": "A"}
    rows = [row(f"lib:{name}", design=name, backbone=of) for name, of in names.items()]
    angles = np.deg2rad([12, 11, 10])
    index = build(rows, np.stack([np.cos(angles), np.sin(angles)], axis=1))
    vector = np.array([1, 0], dtype=np.float32)
    subject = Subject(vector, None, "nar1:x", backbone="A" if own else "C")
    found = most_alike(index, subject, 3)
    expected = ["lib:known", "lib:other"] if own else ["lib:other", "lib:known"]
    assert [each.match.row.name for each in found] == expected
    scores = [each.match.score for each in found]
    assert own or scores == sorted(scores, reverse=True)
