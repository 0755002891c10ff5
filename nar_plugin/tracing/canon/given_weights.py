"""Inputs that are weights, as in functional programs and in captured ones.

Nobody says which inputs of `forward(x, w1, b1, ...)` are weights. One that is used as nothing else
is one: as the kernel or bias of a layer, the weight of a norm, the table of a look-up. Where the
forward reads no parameter at all, so are the matrix on the right of a product and what is added to
or multiplied with each channel or position.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import torch

from nar_plugin.tracing.canon.call import tensors_among
from nar_plugin.tracing.canon.weights import FIRST_WEIGHT, is_one_matrix, unmoved
from nar_plugin.tracing.graph import Op
from nar_plugin.tracing.record.record import CONST, DATA, PARAM, Move, Record
from nar_plugin.tracing.vocabulary import ARITHMETIC, EMBEDDINGS, LAYERS

_MATRIX = 2  # dimensions
_RIGHT = {"mm": 1, "bmm": 1, "matmul": 1, "addmm": 2, "baddbmm": 2}  # the matrix of a product
_BIASED = frozenset({"addmm", "baddbmm", "addmv"})
_ROWS = frozenset({"index", "index_select"})
_VECTORS = {"mv": 0, "addmv": 1}  # where the matrix is that meets a vector


def find_given_weights(
    records: list[Record],
    moves: Mapping[int, Move],
    data: Iterable[torch.Tensor],
    returned: Iterable[torch.Tensor],
) -> list[torch.Tensor]:
    """The inputs that are weights; the records say from now on that they are parameters.

    Args:
        records: The recorded calls.
        moves: The calls that only moved values, by identity of the result.
        data: The inputs.
        returned: The tensors that the forward returned, which are no weights.
    """
    inputs = {id(tensor): tensor for tensor in data}
    if len(inputs) < 2 and not any(record.name in EMBEDDINGS for record in records):
        return []
    search = _Search(records, moves, inputs)
    search.reject(search.root(tensor) for tensor in returned)
    search.run()
    found = [inputs[key] for key in search.used if key not in search.data]
    for record in records if found else ():
        for place, root in search.roots_read(record):
            if root in search.used and root not in search.data:
                record.sources[place] = PARAM
    return found


class _Search:
    """Rejects inputs that are used as data, until no other is.

    Attributes:
        data: The ids of those that are no weights.
        used: The ids of those that are the weight of a layer somewhere.
    """

    def __init__(
        self,
        records: list[Record],
        moves: Mapping[int, Move],
        inputs: Mapping[int, torch.Tensor],
    ) -> None:
        self.data: set[int] = set()
        self.used: dict[int, None] = {}
        self._records = records
        self._moves = moves
        self._inputs = inputs
        self._alone = not any(PARAM in record.sources for record in records)

    def root(self, tensor: torch.Tensor) -> int:
        """The id of the input that a tensor is a view or a copy of; 0 where it is of none."""
        whole = id(unmoved(tensor, self._moves))
        return whole if whole in self._inputs else 0

    def roots_read(self, record: Record) -> Iterator[tuple[int, int]]:
        """The places at which a call reads inputs, with their ids."""
        tensors = tensors_among(record)
        if DATA in record.sources and len(tensors) == len(record.sources):
            for place, source in enumerate(record.sources):
                if source == DATA:
                    yield place, self.root(tensors[place])

    def reject(self, roots: Iterable[int]) -> None:
        """Note that inputs are data."""
        self.data.update(root for root in roots if root)

    def run(self) -> None:
        """Go through the calls until no further input turns out to be data."""
        known = -1
        while known < len(self.data):
            known = len(self.data)
            self.used.clear()
            self._pass()
            shapes = {self._inputs[key].shape for key in self.data}
            twins = [key for key in self.used if self._inputs[key].shape in shapes]
            self.reject(key for key in twins if self._inputs[key].dim() == _MATRIX)

    def _pass(self) -> None:
        of_weights: dict[int, set[int]] = {}  # the inputs that results were computed from alone
        for place, record in enumerate(self._records):
            read = self._operands(record, of_weights)
            if not any(read):
                continue
            whole = isinstance(record.func, Op)
            name = "" if whole else record.name.rstrip("_")
            pairs = zip(read, record.sources, strict=True)
            alone = all(roots or source in (PARAM, CONST) for roots, source in pairs)
            if alone and not whole and name not in LAYERS and name not in _VECTORS:
                of_weights[place] = set().union(*read)
                continue
            for operand, roots in enumerate(read):
                if whole or not self._is_weight(record, name, operand):
                    self.reject(roots)
                else:
                    self.used.update(dict.fromkeys(roots))

    def _operands(self, record: Record, of_weights: Mapping[int, set[int]]) -> list[set[int]]:
        """For each operand the inputs that it is made of, where it is made of weights alone."""
        roots = dict(self.roots_read(record))
        read: list[set[int]] = []
        for place, source in enumerate(record.sources):
            root = roots.get(place, 0)
            own = {root} if root and root not in self.data else set()
            read.append(own if source == DATA else of_weights.get(source, set()) - self.data)
        return read

    def _is_weight(self, record: Record, name: str, place: int) -> bool:
        """Whether an operand of a layer, or of arithmetic with data, is a weight of it."""
        tensor = tensors_among(record)[place]
        if name in EMBEDDINGS:
            return place == 0
        if place >= FIRST_WEIGHT.get(name, len(record.sources)):
            return True
        if not self._alone:
            return False
        whole = unmoved(tensor, self._moves)
        if name in _RIGHT:
            if place != _RIGHT[name]:
                return name in _BIASED and place == 0 and whole.dim() == 1
            one = whole.dim() == _MATRIX or (whole.dim() > _MATRIX and whole.shape[0] > 1)
            return one and is_one_matrix(tensor)
        if name in _VECTORS:
            return place == _VECTORS[name] or (name in _BIASED and place == 0)
        if name in _ROWS:
            return place == 0 and whole.dim() == _MATRIX
        return name in ARITHMETIC and _is_of_channels(tensor, whole, record.out)


def _is_of_channels(tensor: torch.Tensor, whole: torch.Tensor, out: torch.Tensor) -> bool:
    """Whether an operand has a number for each channel, or for each channel of each position."""
    if whole.numel() == 1:
        return True
    if whole.dim() == 1:
        wide = [size for size in tensor.shape if size > 1]
        return out.dim() > 1 and wide == [whole.numel()]
    return whole.dim() == _MATRIX < out.dim() and tensor.shape[-2:] == out.shape[-2:]
