"""Operators that take functions: `torch.cond`, scans and maps, flex attention, Triton kernels.

They reach a dispatch mode as a whole, with the mode itself set aside.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch._higher_order_ops.associative_scan
import torch._higher_order_ops.utils
from torch.utils import _pytree as tree

from nar_plugin.tracing.foreign.triton_kernels import launched
from nar_plugin.tracing.graph import Op


class Unfollowed(Exception):
    """A forward does what no recorder here can follow, whatever its inputs are."""


def run(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of one higher-order call, its operations recorded.

    Args:
        recorder: The recorder that was set aside for this call.
        func: The `torch._ops.HigherOrderOperator`.
        args: Its arguments.
        kwargs: Its keyword arguments.

    Raises:
        Unfollowed: Nothing is known about this operator.
    """
    rule = _RULES.get(func.name())
    if rule is None:
        raise Unfollowed(f"nar-plugin does not know the higher-order operator {func.name()}")
    return rule(recorder, args, kwargs)


def _cond(recorder: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The branch that is taken when the condition holds."""
    _, branch, _, *operands = args
    with recorder:
        return branch(*(operands[0] if operands else ()))


def _while_loop(recorder: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """One round of the body."""
    _, body, carried, *extra = args
    with recorder:
        return body(*carried, *(extra[0] if extra else ()))


def _scan(recorder: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The loop that `scan` stands for: a step for each slice, whose results are stacked."""
    combine, first, inputs, *extra = args
    carried, stacked = list(first), []
    with recorder:
        for place in range(inputs[0].shape[0]):
            slices = [item[place] for item in inputs]
            made = combine(*carried, *slices, *(extra[0] if extra else ()))
            carried = list(made[: len(first)])
            stacked.append(made[len(first) :])
        return [*carried, *(torch.stack(items) for items in zip(*stacked, strict=True))]


def _map(recorder: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The function on all slices at once, as on a batch; one by one where torch cannot do so."""
    function, inputs, *extra = args
    fixed = extra[0] if extra else ()
    calls = len(recorder.records)
    with recorder:
        recorder.in_pieces = True  # below autograd, a product of matrices is still a whole
        try:
            dims = (0,) * len(inputs) + (None,) * len(fixed)
            return torch.vmap(function, in_dims=dims)(*inputs, *fixed)
        except Exception:  # such as a choice by a value
            del recorder.records[calls:]
        finally:
            recorder.in_pieces = False
        slices = ([item[place] for item in inputs] for place in _places(inputs))
        return _stacked([function(*row, *fixed) for row in slices])


def _places(inputs: Any) -> range:
    return range(inputs[0].shape[0])


def _associative_scan(recorder: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """As `_one_by_one`."""
    combine, inputs, *extra = args
    with recorder:
        return _one_by_one(combine, inputs, additional_inputs=extra[0] if extra else ())


def _one_by_one(combine: Any, leaves: Any, dim: int = 0, additional_inputs: Any = ()) -> Any:
    """What a parallel scan computes, as the recurrence that it stands for.

    torch joins neighbours in rounds, of which there are more the longer the sequence is.
    """
    parts = [item.split(1, dim) for item in leaves]
    sums = [[part[0] for part in parts]]
    for place in range(1, len(parts[0])):
        slices = [part[place] for part in parts]
        made = combine(*sums[-1], *slices, *additional_inputs)
        sums.append(tree.tree_leaves(made))
    return [torch.cat(items, dim) for items in zip(*sums, strict=True)]


@contextmanager
def uncompiled() -> Iterator[None]:
    """Inside the block torch compiles none of these operators, and scans go step by step.

    Torch compiles a scan, a map or a loop when it is called, which imports dynamo and takes
    seconds.
    """
    before = [(home, name, getattr(home, name)) for home, name in _PATCHED if hasattr(home, name)]
    for home, name, _ in before:
        setattr(home, name, _PATCHED[home, name])
    try:
        yield
    finally:
        for home, name, function in before:
            setattr(home, name, function)


def _called(function: Any, args: Any, kwargs: Any = None) -> Any:
    """The function that torch would compile, or the loop that it stands for.

    Torch gives the results of a scan the form of the step's results while it compiles.
    """
    loop = _LOOPS.get(function.__name__, function)
    return loop(*args, **(kwargs or {}))


def _scan_of_trees(combine: Any, first: Any, inputs: Any) -> Any:
    """As `_scan`, of a step that gives states and results as a pair of any trees."""
    carried: Any = first
    rows: list[Any] = []
    for place in _places(inputs):
        slices = [item[place] for item in inputs]
        carried, row = combine(*tree.tree_leaves(carried), *slices)
        rows.append(row)
    return carried, _stacked(rows)


def _associative_scan_of_trees(combine: Any, leaves: Any) -> Any:
    return tree.tree_unflatten(_one_by_one(combine, leaves), combine.keywords["spec"])


def _stacked(rows: Any) -> Any:
    return tree.tree_map(lambda *items: torch.stack(items), *rows)


_LOOPS: dict[str, Any] = {  # by the name of what torch would compile
    "run_flattened_scan": _scan_of_trees,
    "run_flattened_associative_scan": _associative_scan_of_trees,
}


_PATCHED: dict[tuple[Any, str], Any] = {
    (sys.modules["torch._higher_order_ops.utils"], "_hop_compile_and_call"): _called,
    (
        sys.modules["torch._higher_order_ops.associative_scan"],
        "generic_associative_scan",
    ): _one_by_one,
}


def _flex_attention(recorder: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Dong et al. 2024, arXiv 2412.05496: attention with a mask or a bias given as a function."""
    query, key, value = args[:3]  # (batch, heads, length, width)
    attention = Op(
        "attention",
        (
            ("bias", False),
            ("heads", int(query.shape[1])),
            ("value_width", int(value.shape[-1])),
            ("width", int(query.shape[-1])),
        ),
    )
    lengths = query.shape[:-1]
    out = recorder.blank((*lengths, value.shape[-1]))
    rest = [recorder.blank(lengths) for _ in range(2)]
    flops = 2 * query.numel() * key.shape[-2] + 2 * out.numel() * key.shape[-2]
    recorder.emit(attention, [query, key, value], (out, *rest), flops=flops)
    return out, *rest


def _triton(recorder: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A kernel behind `torch.library.wrap_triton` writes into its arguments."""
    from torch._higher_order_ops.triton_kernel_wrap import kernel_side_table

    kernel = kernel_side_table.get_kernel(kwargs["kernel_idx"])
    numbers = kernel_side_table.get_constant_args(kwargs["constant_args_idx"])
    with recorder:
        launched(recorder, kernel, {**numbers, **kwargs["kwargs"]})


_RULES: dict[str, Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]] = {
    "cond": _cond,
    "while_loop": _while_loop,
    "scan": _scan,
    "map_impl": _map,
    "associative_scan": _associative_scan,
    "flex_attention": _flex_attention,
    "triton_kernel_wrapper_mutation": _triton,
}
