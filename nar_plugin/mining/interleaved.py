"""Cuts off the layers of another kind that stand among the blocks of a repeat."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from nar_plugin.mining.segmentation import Repeat
from nar_plugin.tracing.graph import IntArray

LEAST = 2  # residual sums of a layer, and layers of the other kind


def with_other_kinds(repeat: Repeat, right: int, labels: IntArray, joins: IntArray) -> Repeat:
    """The repeat with what its longer blocks have behind a usual block as blocks of their own.

    In a hybrid of two kinds of layers, such as three of linear attention and one of softmax
    attention in turn, the rarer kind begins in its own way, and so ends the block before it. It
    counts as a layer where it has two residual sums or more, as the usual one, and comes more than
    once: what changes the resolution between two stages has fewer.

    Args:
        repeat: Some blocks.
        right: No block may end behind this position.
        labels: int32[n], C^0.
        joins: int32[n + 1], residual sums before each position.
    """
    borders = list(pairwise((*repeat.starts, repeat.stop)))
    words = [tuple(labels[start:stop].tolist()) for start, stop in borders]
    usual, count = Counter(words).most_common(1)[0]
    first = repeat.starts[words.index(usual)]
    if count < LEAST or joins[first + len(usual)] - joins[first] < LEAST:
        return repeat
    behind = {
        start + len(usual): word[len(usual) :]
        for (start, stop), word in zip(borders, words, strict=True)
        if word[: len(usual)] == usual and joins[stop] - joins[start + len(usual)] >= LEAST
    }
    counts = Counter(behind.values())
    kinds = [word for word, count in counts.items() if count >= LEAST]
    others = [place for place, word in behind.items() if word in kinds]
    stop = repeat.stop
    for word in kinds:  # one more may come last
        if stop + len(word) <= right and tuple(labels[stop : stop + len(word)].tolist()) == word:
            others.append(stop)
            stop += len(word)
            break
    return Repeat(tuple(sorted((*repeat.starts, *others))), stop)
