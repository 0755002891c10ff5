"""Arrays of numpy and bytes that a forward writes into: the user's are as they were."""

from array import array

import numpy as np
import pytest
import torch
from torch import nn

from nar_plugin.tracing import trace
from nar_plugin.tracing.twin.twin import Twin


class Kept:
    def __init__(self, counts):
        self.counts = counts


class Counting(nn.Module):
    """Counts its calls in what it holds, and once more in an alias."""

    def __init__(self, counts, held):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.held = held(counts)
        self.alias = counts

    def counts(self):
        held = self.held
        if isinstance(held, Kept):
            return held.counts
        return held["counts"] if isinstance(held, dict) else held[0]

    def forward(self, x):
        counts = self.counts()
        before = self.alias[0]
        counts[0] += 1
        assert self.alias is counts
        return self.layer(x) if self.alias[0] == before + 1 else x


ARRAYS = {
    "integers": lambda: np.zeros(3, dtype=np.int64),
    "floats": lambda: np.full((3,), 0.5, dtype=np.float32),
    "objects": lambda: np.array([1, "two", None], dtype=object),
    "a masked array": lambda: np.ma.masked_array([1, 2, 3], [False, True, False]),
    "a slice": lambda: np.arange(9)[::3],
    "bytes": lambda: bytearray(b"abc"),
    "an array": lambda: array("d", [1.0, 2.0]),
}
HOLDERS = {
    "list": lambda counts: [counts],
    "tuple": lambda counts: (counts,),
    "dict": lambda counts: {"counts": counts},
    "object": Kept,
}


@pytest.mark.parametrize("held", HOLDERS.values(), ids=HOLDERS)
@pytest.mark.parametrize("build", ARRAYS.values(), ids=ARRAYS)
def test_an_array_that_the_forward_writes_into(build, held):
    counts = build()
    model = Counting(counts, held)
    graph = trace(model, torch.ones(1, 4))
    assert graph.method == "meta"
    assert [op.kind for op in graph.ops] == ["linear"]
    assert list(counts) == list(build())
    assert model.alias is counts
    assert model.counts() is counts


def test_a_mask_is_copied_with_its_array():
    counts = np.ma.masked_array([1, 2], [False, True])

    class Masks(nn.Linear):
        def forward(self, x):
            self.counts[0] = np.ma.masked
            return super().forward(x)

    model = Masks(4, 4)
    model.counts = counts
    trace(model, torch.ones(1, 4))
    assert counts.mask.tolist() == [False, True]


def test_an_array_in_the_attribute_itself():
    class Direct(nn.Linear):
        def forward(self, x):
            self.counts[0] += 1
            return super().forward(x)

    model = Direct(4, 4)
    model.counts = np.zeros(2)
    trace(model)
    assert model.counts.tolist() == [0, 0]


def test_a_mapped_file_is_not_written_to(tmp_path):
    path = tmp_path / "counts"
    np.arange(6, dtype=np.int32).tofile(path)
    counts = np.memmap(path, np.int32, mode="r+", shape=(3, 2), order="F")
    before = counts.tolist()

    class Mapped(nn.Linear):
        def forward(self, x):
            assert self.counts.tolist() == before
            self.counts[0] += 1
            return super().forward(x)

    model = Mapped(4, 4)
    model.counts = counts
    assert trace(model, torch.ones(1, 4)).method == "meta"
    counts.flush()
    assert counts.tolist() == before
    assert np.fromfile(path, np.int32).tolist() == [0, 1, 2, 3, 4, 5]


def test_an_array_that_nobody_can_write_to_is_shared():
    model = nn.Linear(2, 2)
    model.table = np.arange(4)
    model.table.flags.writeable = False
    assert Twin(model, lambda path, forward: forward).model.table is model.table


def test_the_order_of_a_copy_is_that_of_the_array():
    model = nn.Linear(2, 2)
    model.table = np.asfortranarray(np.ones((3, 4)))
    assert Twin(model, lambda path, forward: forward).model.table.flags.f_contiguous
