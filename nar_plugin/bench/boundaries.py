"""How well mined motifs meet the blocks that models declare: boundary F1 and depths."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from statistics import fmean, median

from nar_plugin.bench.depths import depths_found
from nar_plugin.bench.stacks import Outline, Stack, outline, stacks
from nar_plugin.mining import Repeat, mine, repeated_blocks
from nar_plugin.mining.order import in_order, mining_order, places
from nar_plugin.references import resolve
from nar_plugin.tracing import trace
from nar_plugin.tracing.graph import ArchitectureGraph

LARGE = 1000  # operations from which on the size of a macro graph counts
TOLERANCE = 2  # operations between a declared and a mined beginning that count as met


@dataclass(frozen=True)
class Agreement:
    """Mined repeats against declared stacks, after the best cyclic shift of the model.

    Attributes:
        model: Its reference.
        ops: Operations of its graph.
        nodes: Nodes of its macro graph.
        shift: Operations by which all mined beginnings were moved.
        f1: Of block beginnings, over the declared stacks. What lies outside every stack is not
            counted: libraries do not say which blocks heads and necks are made of.
        f1_everywhere: The same with the beginnings outside counted as wrong.
        depths: For each stack its container, its depth, and whether a repeat has that depth.
        stated: Share of the stacks whose depth a configuration states; None without any.
    """

    model: str
    ops: int
    nodes: int
    shift: int
    f1: float
    f1_everywhere: float
    depths: tuple[tuple[str, int, bool], ...]
    stated: float | None


@dataclass(frozen=True)
class Summary:
    """The figures over several models.

    Attributes:
        models: How many declare stacks.
        f1: Mean of their `Agreement.f1`.
        f1_everywhere: Mean of their `Agreement.f1_everywhere`.
        stacks: How many stacks they declare together.
        depths: Share of the stacks whose depth a repeat has.
        stated: Share of the stacks whose depth a configuration states, where there is one.
        large: How many models have over 1,000 operations.
        macro_size: Median of nodes by operations among these; None without any.
    """

    models: int
    f1: float
    f1_everywhere: float
    stacks: int
    depths: float
    stated: float | None
    large: int
    macro_size: float | None


def model_lists() -> dict[str, list[str]]:
    """The models that the figures are taken on, by the names of the lists.

    What the mining was written and its weights searched on is `development`, which holds earlier
    held-out lists too. The others were drawn by a seeded random choice, none of their models
    looked at before its first figure was taken: `held_out` and `fresh` with mining 4, on whose
    failures later versions were chosen, and `untouched` with mining 7. `held_out` has one name for
    each of 125 families of transformers and diffusers, and 35 names of timm, of whose families the
    first list has another name. `fresh` has one name for each of 188 families of transformers,
    diffusers, timm and torchvision that were in no list. `untouched` has one name for each of 160
    families of these four, of another topology than all names of the other lists, and for ten model
    types that came with transformers 5.24.
    """
    path = resources.files("nar_plugin.bench") / "motif_models.json"
    lists: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    return lists


def measure(reference: str) -> Agreement | None:
    """Trace and mine one model, and compare; None for a model that declares no stack of blocks."""
    model = resolve(reference).eval()
    return agreement(reference, trace(model), outline(model))


def summary(results: Sequence[Agreement]) -> Summary:
    """Means over models, and shares over their stacks."""
    depths = [found for result in results for _, _, found in result.depths]
    stated = [
        (result.stated, len(result.depths)) for result in results if result.stated is not None
    ]
    sizes = [result.nodes / result.ops for result in results if result.ops > LARGE]
    return Summary(
        len(results),
        fmean(result.f1 for result in results),
        fmean(result.f1_everywhere for result in results),
        len(depths),
        fmean(depths),
        sum(share * count for share, count in stated) / sum(count for _, count in stated)
        if stated
        else None,
        len(sizes),
        median(sizes) if sizes else None,
    )


def agreement(reference: str, graph: ArchitectureGraph, form: Outline) -> Agreement | None:
    """Compare what is mined in a trace with what the traced model declares.

    Which blocks there are is read from the forward as it ran; where they begin, in the order in
    which the graph is cut.
    """
    place = places(mining_order(graph))
    declared = [stack.placed(place) for stack in stacks(graph, form)]
    if not declared:
        return None
    found = repeated_blocks(in_order(graph))
    shift = best_shift(declared, found)
    moved = [_moved(repeat, shift) for repeat in found]
    begins = [start for stack in declared for start in stack.starts]
    mined = [start for repeat in moved for start in repeat.starts]
    inside = [start for start in mined if any(_holds(stack, start) for stack in declared)]
    known = [form.states(len(stack.starts)) for stack in declared]
    return Agreement(
        reference,
        len(graph),
        len(mine(graph)),
        shift,
        boundary_f1(begins, inside),
        boundary_f1(begins, mined),
        tuple(
            (stack.name, len(stack.starts), met)
            for stack, met in zip(declared, depths_found(declared, found, len(graph)), strict=True)
        ),
        sum(known) / len(known) if form.depths else None,
    )


def best_shift(declared: Sequence[Stack], found: Sequence[Repeat]) -> int:
    """The one shift, by less than a block, that brings most beginnings together."""
    begins = [start for stack in declared for start in stack.starts]
    mined = [start for repeat in found for start in repeat.starts]
    sizes = [
        stop - start
        for stack in declared
        for start, stop in zip(stack.starts, (*stack.starts[1:], stack.stop), strict=True)
    ]
    reach = int(median(sizes)) - 1
    shifts = sorted(range(-reach, reach + 1), key=abs)
    return max(
        shifts,
        key=lambda shift: boundary_f1(begins, [start + shift for start in mined]),
    )


def boundary_f1(expected: Sequence[int], found: Sequence[int]) -> float:
    """F1 of positions that are met one to one within `TOLERANCE` operations."""
    left, right, met = sorted(expected), sorted(found), 0
    place = 0
    for position in left:
        while place < len(right) and right[place] < position - TOLERANCE:
            place += 1
        if place < len(right) and right[place] <= position + TOLERANCE:
            met += 1
            place += 1
    return 2 * met / (len(left) + len(right)) if left or right else 1.0


def _holds(stack: Stack, position: int) -> bool:
    return stack.starts[0] - TOLERANCE <= position < stack.stop - TOLERANCE


def _moved(repeat: Repeat, shift: int) -> Repeat:
    return Repeat(tuple(start + shift for start in repeat.starts), repeat.stop + shift)
