"""How well one known design explains the tensors of a file, and what is left over on either side.

A file may spell a design otherwise than its graph: query, key and value in one layer or in three,
experts packed or one by one, a patch kernel as a matrix, other classes, another vocabulary. Each
rule explains what the ones before it left.
"""

from __future__ import annotations

from collections.abc import Mapping

from nar_plugin.checkpoints.account import Account, Counts, Match, Need, Weigh
from nar_plugin.checkpoints.compositions import (
    best_way,
    by_rest,
    compositions,
    one_expert,
    one_side_off,
)
from nar_plugin.checkpoints.parameters import Shape, elements

MOST_RESIZED = 2  # layers with other classes or words, of as many sides: one at each end
MOST_TIED = 2  # how often such a layer occurs: words come in and go out by one matrix
LEAST_EQUAL = 64  # numbers from which on tensors of as many numbers are one in another form


def match(
    have: Counts,
    tied: Counts,
    needs: Mapping[Shape, Need],
    params: int,
    weigh: Weigh,
    adapter: bool = False,
) -> Match:
    """Explain a file's tensors by a design.

    Args:
        have: By shape, how many tensors the file has.
        tied: By shape, how many of these share the numbers of another.
        needs: By shape, what the design's operations need.
        params: How many parameters the design has.
        weigh: How much a tensor of a shape tells.
        adapter: Whether the file has a few layers only, so that nothing is missing.
    """
    both = Account(have, needs, weigh)
    _unpack_experts(both)
    _join_layers(both)
    _split_layers(both)
    _reshape(both)
    if adapter:
        return both.part()
    _resize(both, params, tied)
    return both.result(params, tied)


def _unpack_experts(both: Account) -> None:
    """Explain packed matrices of experts by one for each, or by one for each gate and value."""
    packs = [shape for shape in both.open if both.needs[shape].packed]
    if not packs:
        return
    parts = by_rest(both.left)
    for shape in packs:
        packed = both.needs[shape].packed
        one = one_expert(shape, packed)
        if one is None:
            continue
        ways = [(one,), *compositions(one, parts)]
        if found := best_way(ways, both.left.__getitem__, both.open[shape], packed):
            pieces, count = found
            both.explain({p: n * packed * count for p, n in pieces.items()}, {shape: count})
    both.drop_empty()


def _join_layers(both: Account) -> None:
    """Explain one layer of the design by the two or three of the file that are as wide.

    One of them at least must be left over. The others may have explained a layer of their own
    shape, which is missing then: a file that lacks one matrix lacks that one alone.
    """
    if not (both.open and both.left):
        return
    parts = by_rest(both.left)

    def had(piece: Shape) -> int:
        return both.left[piece] + both.used[piece]

    for shape in sorted(both.open, key=elements, reverse=True):
        ways = list(compositions(shape, parts))
        while found := best_way(ways, both.left.__getitem__, both.open[shape]):
            pieces, count = found
            both.explain({p: n * count for p, n in pieces.items()}, {shape: count})
        ways = [way for way in ways if any(both.left[piece] for piece in way)]
        if found := best_way(ways, had, min(both.open[shape], 1)):
            pieces, _ = found
            freed = {piece: max(n - both.left[piece], 0) for piece, n in pieces.items()}
            both.explain(_negative(freed), _negative(freed))
            both.explain(pieces, {shape: 1})
        if len(shape) == 1 and shape[0] % 3 == 0:  # a bias that the key alone lacks
            third = (shape[0] // 3,)
            if count := min(both.left[third] // 2, both.open[shape]):
                both.explain({third: 2 * count}, {shape: count})
    both.drop_empty()


def _split_layers(both: Account) -> None:
    """Explain one layer of the file by the two or three of the design that are as wide.

    One of them at least must be open. The others may have been explained by tensors of the
    file that are left over then.
    """
    if not (both.open and both.left):
        return
    parts = by_rest(both.needs)

    def had(piece: Shape) -> int:
        return both.open[piece] + both.used[piece]

    for shape in sorted(both.left, key=elements, reverse=True):
        ways = [way for way in compositions(shape, parts) if any(both.open[piece] for piece in way)]
        if found := best_way(ways, had, both.left[shape]):
            pieces, most = found
            opened = max(both.open[piece] // n for piece, n in pieces.items())
            count = min(most, opened)
            if not count:
                continue
            freed = {p: max(n * count - both.open[p], 0) for p, n in pieces.items()}
            both.explain(_negative(freed), _negative(freed))
            both.explain({shape: count}, {p: n * count for p, n in pieces.items()})
    both.drop_empty()


def _reshape(both: Account) -> None:
    """Explain a tensor by one of as many numbers, such as a kernel of patches by a matrix."""
    if not (both.open and both.left):
        return
    by_size: dict[int, list[Shape]] = {}
    for shape in both.open:
        by_size.setdefault(elements(shape), []).append(shape)
    for shape in list(both.left):
        size = elements(shape)
        for other in by_size.get(size, ()) if size > LEAST_EQUAL else ():
            count = min(both.left[shape], both.open[other])
            if count > 0:
                both.explain({shape: count}, {other: count})
    both.drop_empty()


def _resize(both: Account, params: int, tied: Counts) -> None:
    """Explain a layer of classes or words by one that differs in a single side.

    Such a layer occurs once, or twice if its weights are tied. Of several, the one after which
    the file has as much left over as the design has parameters that no operation shows: a table
    of positions may differ from a head in one side as well.
    """
    hidden = params - both.sizes(tied)[0]
    few = by_rest(shape for shape, count in both.left.items() if count <= MOST_TIED)
    for shape in sorted(both.open, key=elements, reverse=True):
        need = both.needs[shape]
        alike = {theirs for _, theirs in both.resized if len(theirs) == len(shape)}
        if need.least > MOST_TIED or len(alike) >= MOST_RESIZED:
            continue
        least, most = both.open[shape], need.most - both.used[shape]
        others = [o for o in one_side_off(shape, few) if least <= both.left[o] <= most]
        if others:
            loose = both.loose() - hidden
            other = min(others, key=lambda each: abs(loose - elements(each) * both.left[each]))
            both.resize(other, shape, tied)
    both.drop_empty()
    _exchange(both, hidden, tied)


def _exchange(both: Account, hidden: int, tied: Counts) -> None:
    """Resize a layer that a table took, and leave the table over.

    A head of two classes has the shape of a table of two kinds of tokens, which no operation
    may show. In a file with other classes the table looks like the head.
    """
    too_much = both.loose() - hidden  # is left over: what the design hides explains the rest
    if too_much <= 0:
        return
    single = by_rest(
        shape for shape, count in both.used.items() if count == both.needs[shape].least == 1
    )
    for other in [shape for shape, count in both.left.items() if count == 1]:
        taken = [
            shape
            for shape in one_side_off(other, single)
            if elements(other) - elements(shape) >= too_much
        ]
        if taken:
            shape = max(taken, key=elements)
            both.explain({shape: -1}, {shape: -1})
            both.resize(other, shape, tied)
            break
    both.drop_empty()


def _negative(counts: Counts) -> dict[Shape, int]:
    return {shape: -count for shape, count in counts.items() if count}
