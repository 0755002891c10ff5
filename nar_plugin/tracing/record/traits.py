"""What the recorder asks of an operator once and remembers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from nar_plugin.tracing.foreign.quantized_calls import QUANTIZED
from nar_plugin.tracing.graph import Op
from nar_plugin.tracing.record.fast_paths import FAST_PATHS
from nar_plugin.tracing.record.nested import NESTED
from nar_plugin.tracing.record.opaque import named_after
from nar_plugin.tracing.record.stand_ins import GUARDS, STAND_INS
from nar_plugin.tracing.vocabulary import (
    BOOKKEEPING,
    EMBEDDINGS,
    LOOKUPS,
    OVERWRITES,
    SCATTERS,
)

_INSTEAD = {**NESTED, **FAST_PATHS}
_FACTORS = {"mm": (0, 1), "addmm": (1, 2), "convolution": (0, 1)}


class Trait(NamedTuple):
    """What is known of an operator."""

    bookkeeping: bool
    moved: int  # which tensor's values the result of bookkeeping holds
    overwrites: bool  # leaves nothing of what its target held
    part: Callable[..., Any] | None  # makes the view that this call writes into a copy
    allocates: bool  # makes a tensor to be written to
    outs: tuple[str, ...]  # the names of the arguments that are given with `out=`
    without_outs: Any  # the same operator without them
    writes: tuple[int, ...]  # positions of the arguments that are written to
    view: bool
    reshapes: bool  # gives a tensor another shape in place
    random: bool
    stand_in: Callable[..., Any] | None
    as_float: Callable[..., Any] | None  # does what a quantized kernel stands for
    instead: Callable[..., Any] | None  # does in other calls what the recorder cannot follow
    guard: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None
    reduction: str  # `all` or `any`
    opaque: Op | None  # stands for an operator of a user's own library
    composite: bool  # made of others; autograd takes it apart, inference mode does not
    looks_up: bool  # picks rows of a table
    sorts: bool  # its last result holds the places in sorted order
    lists: bool  # takes lists of tensors
    factors: tuple[int, int] | None  # positions that every kernel but meta's wants of one dtype


@functools.cache
def trait_of(func: Any) -> Trait:
    """The trait of an operator."""
    schema = func._schema
    name = func.name().split("::")[1].split(".")[0]
    writes = tuple(
        position
        for position, argument in enumerate(schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    )
    outs = tuple(
        str(argument.name)
        for argument in schema.arguments
        if argument.kwarg_only and argument.alias_info is not None and argument.alias_info.is_write
    )
    view = not writes and any(item.alias_info is not None for item in schema.returns)
    return Trait(
        bookkeeping=name.rstrip("_") in BOOKKEEPING,
        moved=int(name == "copy"),
        overwrites=name.rstrip("_") in OVERWRITES and bool(writes),
        part=getattr(torch.ops.aten, SCATTERS[name]) if name in SCATTERS else None,
        allocates=name.removeprefix("new_").startswith(("empty", "zeros")),
        outs=outs,
        without_outs=_without(func, outs) if outs else None,
        writes=writes,
        view=view,
        reshapes=torch.Tag.inplace_view in func.tags,
        random=torch.Tag.nondeterministic_seeded in func.tags,
        stand_in=STAND_INS.get(name),
        as_float=QUANTIZED.get(func.name().split(".")[0]),
        instead=_INSTEAD.get(func.name().split(".")[0]),
        guard=GUARDS.get(name),
        reduction={"all": "all", "_is_all_true": "all", "any": "any"}.get(name, ""),
        opaque=named_after(func),
        composite=_is_composite(func),
        looks_up=name in LOOKUPS or name in EMBEDDINGS,
        sorts=name in ("sort", "argsort"),
        factors=_FACTORS.get(name),
        lists=any(_is_list(str(argument.type)) for argument in schema.arguments),
    )


def _without(func: Any, outs: tuple[str, ...]) -> Any:
    """The overload of an operator that has all its arguments but those of `out=`; None if none."""
    wanted = [_typed(item) for item in func._schema.arguments if item.name not in outs]
    packet = func._overloadpacket
    overloads = [getattr(packet, name) for name in packet.overloads()]
    alike = (other for other in overloads if [*map(_typed, other._schema.arguments)] == wanted)
    return next(alike, None)


def _typed(argument: Any) -> tuple[str, str]:
    return str(argument.name), str(argument.type)


def _is_list(kind: str) -> bool:
    return kind.startswith("List[") and "Tensor" in kind


def _is_composite(func: Any) -> bool:
    return torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd")
