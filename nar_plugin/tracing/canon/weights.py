"""Which calls compute a weight from weights alone.

Plain arithmetic on parameters is a weight wherever it goes. Other calls may be more: learned
queries pass through layers as tokens do. They are part of a weight where all that they lead to is
one: the matrix of a product with the data, the kernel or the bias of a layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch

from nar_plugin.tracing.canon.call import tensors_among
from nar_plugin.tracing.graph import Op
from nar_plugin.tracing.record.record import CONST, DATA, Move, Record, name_of
from nar_plugin.tracing.vocabulary import LAYERS

_MATRIX = 2  # dimensions
FIRST_WEIGHT = {  # of the tensors that a layer reads; those after it are weights too
    "convolution": 1,
    "_convolution": 1,
    "linear": 1,
    "native_batch_norm": 1,
    "native_group_norm": 1,
    "native_layer_norm": 1,
    "_fused_rms_norm": 1,
    "_prelu_kernel": 1,
}
_PRODUCTS = frozenset({"mm", "addmm", "mv", "addmv", "bmm", "baddbmm", "matmul"})


def calls_inside_weights(records: list[Record], moves: Mapping[int, Move]) -> set[int]:
    """The calls on parameters whose results serve as weights alone, by their places.

    Args:
        records: The recorded calls.
        moves: The calls that only moved values, by identity of the result.
    """
    learned = _of_weights(records)
    if not learned:
        return set()
    serves: dict[int, bool] = {}  # whether a result is a weight to all that read it
    for place in range(len(records) - 1, -1, -1):
        for source, is_weight in _readings(records, place, learned, moves):
            mine = serves.get(place, False) if place in learned else is_weight
            serves[source] = serves.get(source, True) and mine
    return {place for place in learned if serves.get(place)}


def _of_weights(records: list[Record]) -> set[int]:
    """The calls that read parameters and constants alone, or what was computed from them."""
    found: set[int] = set()
    for place, record in enumerate(records):
        known = all(source in found if source >= 0 else source != DATA for source in record.sources)
        if known and max(record.sources, default=CONST) > CONST and not isinstance(record.func, Op):
            found.add(place)
    return found


def _readings(
    records: list[Record], call: int, learned: set[int], moves: Mapping[int, Move]
) -> Iterator[tuple[int, bool]]:
    """The results of weights that a call reads, each with whether it is a weight to the call."""
    record = records[call]
    if learned.isdisjoint(record.sources):
        return
    tensors = tensors_among(record)
    whole = isinstance(record.func, Op) or len(tensors) != len(record.sources)
    for place, source in enumerate(record.sources):
        if source in learned:
            spread = place == len(record.sources) - 1 and _plain_name(records[source]) not in LAYERS
            yield source, not whole and _is_weight(record, place, tensors[place], moves, spread)


def _plain_name(record: Record) -> str:
    """Of the operator, in its plain form."""
    return record.name.rstrip("_")


def _is_weight(
    record: Record, place: int, tensor: torch.Tensor, moves: Mapping[int, Move], spread: bool
) -> bool:
    """Whether one of the tensors of a call is the weight or the bias of a layer."""
    if _plain_name(record) in _PRODUCTS:
        one = is_one_matrix(tensor) and is_one_matrix(unmoved(tensor, moves))
        return one and (tensor.dim() <= _MATRIX or _was_a_matrix(tensor, moves, spread))
    return place >= FIRST_WEIGHT.get(_plain_name(record), len(record.sources))


def _was_a_matrix(tensor: torch.Tensor, moves: Mapping[int, Move], spread: bool) -> bool:
    """Whether an operand of a batched product is a matrix that was given more dimensions.

    Queries of one sample and one head are one matrix as well, but the forward says that they are
    of a batch.

    Args:
        tensor: The operand.
        moves: The calls that only moved values.
        spread: Whether `expand` counts as the `unsqueeze` of `einsum` does: for a right factor
            that no layer made, as `linear` has it whose weight is an inverse.
    """
    giving = ("unsqueeze", "expand") if spread else ("unsqueeze",)
    while (move := moves.get(id(tensor))) is not None:
        tensor = move.args[0]
        if name_of(move.func) in giving and tensor.dim() <= _MATRIX:
            return True
    return False


def is_one_matrix(tensor: torch.Tensor) -> bool:
    """Whether an operand holds one matrix, and not one for each head or sample."""
    return tensor.dim() <= _MATRIX or tensor.shape[0] == 1 or tensor.stride(0) == 0


def unmoved(tensor: torch.Tensor, moves: Mapping[int, Move]) -> torch.Tensor:
    """A tensor as it was computed, before views and copies."""
    while (move := moves.get(id(tensor))) is not None:
        tensor = move.args[0]
    return tensor
