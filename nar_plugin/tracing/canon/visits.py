"""How many tokens the experts have that a loop visits one by one.

In a trace nobody knows what a router chose. Who asks `torch.where(chosen == expert)` is told of
one token, and `x[chosen == expert]` is all tokens. In truth the experts together get each token
once for each of its choices, so each visit has its share of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import torch

from nar_plugin.tracing.record.record import Record
from nar_plugin.tracing.vocabulary import LOOKUPS

_ASSIGNMENTS = frozenset({"index_put", "_index_put_impl"})
_CHOICES = frozenset({"topk", "argmax"})
_TO_CHOICES = frozenset({"any", "eq", "bitwise_and", "logical_and", "index", "sum", "gt", "max"})
_BOTH_KNOWN = 2  # places that pick the weight of a choice: which token, which of its choices
_FARTHEST = 6  # calls between a mask and the choice that it is made of


class _Visit(NamedTuple):
    """A visit of an expert.

    Attributes:
        choice: The call that chose experts, or gave the weights of choices.
        choices: How many there are, of all tokens together.
        rows: Tokens that the expert has in the trace.
        inside: The calls that were made for it.
    """

    choice: int
    choices: int
    rows: int
    inside: set[int]


def rows_visited(
    records: list[Record], is_product: Callable[[Record], bool]
) -> dict[int, Fraction]:
    """By how much the rows of each record inside an expert are too few or too many.

    Args:
        records: The recorded calls.
        is_product: Whether a call counts FLOPs. The last one before the weights of choices is the
            router's layer, which tells as many experts apart as there are.
    """
    visits: dict[int, list[_Visit]] = defaultdict(list)
    for record in records:
        for visit in _visits(records, record, is_product):
            visits[visit.choice].append(visit)
    return {
        item: Fraction(visit.choices, len(each) * visit.rows)
        for choice, each in visits.items()
        for visit in each
        for item in visit.inside
        if item > choice
    }


def _visits(
    records: list[Record], record: Record, is_product: Callable[[Record], bool]
) -> list[_Visit]:
    """What a call that adds an expert's results up says of the visit."""
    name = record.name.rstrip("_")
    if name == "index_add":
        places = [record.args[2]]
    elif name in _ASSIGNMENTS:
        places = [item for item in record.args[1] if item is not None]
    else:
        return []
    if len(places) != 1:
        return []
    if _is_one_row(places[0]):
        return _of_one_token(records, record, is_product)
    return _of_a_mask(records, record, places[0])


def _of_one_token(
    records: list[Record], record: Record, is_product: Callable[[Record], bool]
) -> list[_Visit]:
    """Visits for `torch.where`: the expert's result is weighted with what its token chose it by."""
    inside, gathered = _behind(records, record.sources[-1])
    found = []
    for weights in gathered:
        table, place = weights.args[0], weights.sources[0]
        if _are_fewer(records, place, table.shape[1], is_product):
            found.append(_Visit(place, table.shape[0] * table.shape[1], 1, inside))
    return found


def _of_a_mask(records: list[Record], record: Record, mask: torch.Tensor) -> list[_Visit]:
    """The visit for a mask of tokens, made of the choice of experts."""
    if mask.dtype != torch.bool or not mask.is_meta:
        return []
    choice = _chosen(records, record.sources[1])
    if choice is None:
        return []
    out = records[choice].out
    chosen = out[-1] if isinstance(out, tuple | list) else out
    inside, _ = _behind(records, record.sources[-1])
    return [_Visit(choice, chosen.numel(), mask.numel(), inside)]


def _chosen(records: list[Record], place: int) -> int | None:
    """The choice that a mask is made of."""
    for _ in range(_FARTHEST):
        if place < 0:
            return None
        name = records[place].name
        if name in _CHOICES:
            return place
        if name not in _TO_CHOICES:
            return None
        place = records[place].sources[0]
    return None


def _behind(records: list[Record], last: int) -> tuple[set[int], list[Record]]:
    """What led to a record from the rows that were picked, and where weights were picked."""
    inside: set[int] = set()
    weights: list[Record] = []
    todo = [last]
    while todo:
        place = todo.pop()
        if place < 0 or place in inside:
            continue
        record = records[place]
        if record.name not in LOOKUPS:
            inside.add(place)
            todo += record.sources
        elif record.name == "index" and _known_rows(record.args[1]) == _BOTH_KNOWN:
            weights.append(record)
    return inside, weights


def _known_rows(places: Any) -> int:
    """How many places are one row each; 0 where some are more."""
    known = [_is_one_row(item) for item in places if item is not None]
    return len(known) if all(known) else 0


def _are_fewer(
    records: list[Record], place: int, choices: int, is_product: Callable[[Record], bool]
) -> bool:
    """Whether a token has fewer weights than its router told experts apart."""
    while place >= 0 and not is_product(records[place]):
        place = max(records[place].sources, default=-1)
    told = records[place].out if place >= 0 else None
    return isinstance(told, torch.Tensor) and choices < told.shape[-1]


def _is_one_row(index: Any) -> bool:
    return isinstance(index, torch.Tensor) and not index.is_meta and index.numel() == 1
