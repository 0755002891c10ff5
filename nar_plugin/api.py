"""The public functions: they compose the stages and hold no logic of their own.

Each takes a model as an `nn.Module`, a transformers config or a model reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from nar_plugin.asked_designs import ask, ask_with_graph, mined, traced, with_content
from nar_plugin.checkpoints.adapters import known_base
from nar_plugin.checkpoints.ranking import most_alike_weights
from nar_plugin.checkpoints.recognition import checkpoint_of
from nar_plugin.errors import NarError, TraceError, in_words
from nar_plugin.index import ArchitectureIndex
from nar_plugin.index.block_search import most_alike_blocks
from nar_plugin.index.ranking import alike, most_alike, under_own_name
from nar_plugin.index.search.limits import with_own_sizes
from nar_plugin.index.stored_designs import stored_design
from nar_plugin.likeness.parts import cut
from nar_plugin.map import DesignMap, map_of
from nar_plugin.mining import MacroGraph
from nar_plugin.opened_indexes import Index, clear_cache, load_index
from nar_plugin.report import (
    Comparison,
    SimilarArchitectures,
    SimilarBlocks,
)
from nar_plugin.report.answers import (
    block_asked,
    hit_of,
    info_of,
    own_sizes,
)
from nar_plugin.report.compare import comparison_of
from nar_plugin.report.distinct import Asked, DistinctDesigns, distinct_designs
from nar_plugin.report.novelty import Novelty
from nar_plugin.report.similar_blocks import notes_of
from nar_plugin.report.weights import SimilarWeights, similar_weights
from nar_plugin.report.wording import name_text, trace_text
from nar_plugin.tracing import ArchitectureGraph

if TYPE_CHECKING:
    from nar_plugin.checkpoints.tensors import Checkpoint

__all__ = [
    "assert_same_design",
    "clear_cache",
    "compare",
    "dedupe",
    "design_map",
    "embed",
    "find_similar",
    "load_index",
    "motifs",
    "novelty",
    "trace",
]

Vector = NDArray[np.float32]


@overload
def find_similar(
    model: Any,
    k: int = 10,
    *,
    at: None = None,
    index: Index = None,
    where: Mapping[str, Any] | None = None,
    example_inputs: Any = None,
    trace: bool = False,
    distinct: str = "backbone",
) -> SimilarArchitectures: ...


@overload
def find_similar(
    model: Any,
    k: int = 10,
    *,
    at: str,
    index: Index = None,
    where: Mapping[str, Any] | None = None,
    example_inputs: Any = None,
    trace: bool = False,
    distinct: str = "backbone",
) -> SimilarBlocks: ...


def find_similar(
    model: Any,
    k: int = 10,
    *,
    at: str | None = None,
    index: Index = None,
    where: Mapping[str, Any] | None = None,
    example_inputs: Any = None,
    trace: bool = False,
    distinct: str = "backbone",
) -> SimilarArchitectures | SimilarBlocks | SimilarWeights:
    """Find the k known architectures that are most like a model, each backbone once.

    With `at`, find the known blocks that are most like one of its modules, each with the designs
    that contain it. Of a checkpoint, find the designs that have its tensors, by their shapes.

    Example:
        ```python
        import timm, nar_plugin
        nar_plugin.find_similar(timm.create_model("resnet50"), k=3)
        nar_plugin.find_similar("transformers:bert", where={"library": "timm"})
        nar_plugin.find_similar("timm:resnet50", at="layer3.1")  # who has this block?
        nar_plugin.find_similar("weights.safetensors")  # what loads these weights?
        ```

    Args:
        model: An nn.Module, a transformers config, or a reference such as `timm:resnet50`; or
            weights alone, as a file or a state_dict (docs/checkpoints.md). The index answers for a
            name that it knows, unless the installed library has another version than the one that
            was traced. So it does in `embed` and `novelty`.
        k: How many, at least 1.
        at: A module, such as `layer3.0`, or `.` for the model as a block. The model is traced, so
            that the inputs of the module are known. Without it, a module of a larger model is
            asked about as a model of its own.
        index: An index, its folder or repository, or None for the one that answers (`load_index`).
        where: Conditions on the hits: `task`, `family`, `library`, `params`, `year` and more
            (`nar_plugin.index.search.where.allowed_rows`); `!timm` leaves timm out, and `mine` in
            `{"params": "<mine"}` is the size of the model.
        example_inputs: What the forward is traced with, when the guess is not right.
        trace: Build and trace the model even if the index knows the name; with `at` it always is.
        distinct: `backbone` makes designs that differ in head or stem one hit, the best of them;
            the others are its `variants`. `graph` makes each distinct graph a hit, and does not
            go with `at`.

    Returns:
        The hits, most alike first. An identical graph comes first, with `exact` set. A hit has the
        first of its names that meets `where`; without `where`, the name that was asked for. With
        `at`, `SimilarBlocks`; of a checkpoint, `SimilarWeights`.

    Raises:
        TraceError: The forward could not be followed, or not within `NAR_TRACE_SECONDS`.
        NarError: `model`, `k`, `where` or `index` is not valid; the text says what to do.
    """
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:  # numpy's too
        raise NarError(f"k is how many architectures to return, at least 1; got {in_words(k)}.")
    found = load_index(index)
    if (checkpoint := checkpoint_of(model)) is not None:
        return _with_weights(checkpoint, int(k), found, where, at)
    if at is not None:
        if _distinct(distinct) != "backbone":
            raise NarError("distinct is of whole designs: with at, a backbone is named once.")
        return _similar_blocks(model, int(k), at, found, where, example_inputs)
    subject, query, macro = ask(model, example_inputs, found, "find_similar", trace)
    where = with_own_sizes(where, own_sizes(query))
    ranked = most_alike(found, subject, int(k), where, distinct=_distinct(distinct))
    if not where:  # which may have asked for another name
        ranked = [under_own_name(found, each, query.name) for each in ranked]
    hits = tuple(hit_of(rank, each, query) for rank, each in enumerate(ranked, start=1))
    designs = partial(stored_design, found)
    unknown = found.unknown_texts(where)
    return SimilarArchitectures(query, info_of(found), hits, macro, designs, unknown)


def _with_weights(
    checkpoint: Checkpoint,
    k: int,
    index: ArchitectureIndex,
    where: Mapping[str, Any] | None,
    at: str | None,
) -> SimilarWeights:
    if at is not None:
        raise NarError(
            f"{checkpoint.source} is a checkpoint: it has tensors and no modules, so at={at!r} "
            "cannot be asked. Without at, find_similar says which designs have its tensors."
        )
    ranked = most_alike_weights(index, checkpoint, k, where)
    base = known_base(index.contents.names, checkpoint.base)
    return similar_weights(checkpoint, ranked, info_of(index), base)


def _similar_blocks(
    model: Any,
    k: int,
    at: str,
    index: ArchitectureIndex,
    where: Mapping[str, Any] | None,
    example_inputs: Any,
) -> SimilarBlocks:
    asked = with_content(traced(model, example_inputs, index, "find_similar"))
    block = cut(asked.graph, at)
    where = with_own_sizes(where, own_sizes(asked.graph))
    found = tuple(most_alike_blocks(index, block, k, where))
    query = block_asked(model, asked, block, at)
    unknown = index.unknown_texts(where)
    notes = (*unknown, *notes_of(query, found, own=index.overlay is not None))
    return SimilarBlocks(query, info_of(index), found, notes)


def embed(model: Any, *, example_inputs: Any = None, index: Index = None) -> Vector:
    """Embed a model as a unit vector. The cosine of two vectors says how alike the designs are.

    Example:
        ```python
        float(nar_plugin.embed("timm:resnet50") @ nar_plugin.embed("timm:resnet101"))
        ```

    Shapes:
        result: float32[512].
    """
    return ask(model, example_inputs, load_index(index), "embed").subject.vector


def trace(model: Any, *, example_inputs: Any = None) -> ArchitectureGraph:
    """Follow a model's forward pass and return it as a canonical graph.

    Example:
        ```python
        nar_plugin.trace("timm:resnet50").fingerprint
        ```

    Raises:
        TraceError: The forward could not be followed.
    """
    return traced(model, example_inputs, None, "trace").graph


def motifs(model: Any, *, example_inputs: Any = None) -> MacroGraph:
    """Find a model's repeated blocks. `.table()` counts them, `.draw()` shows them.

    A name that cannot be built here is read from the index, if that has its graph.

    Example:
        ```python
        nar_plugin.motifs("timm:resnet50").table()[0].label  # 'Bottleneck'
        nar_plugin.motifs(model).draw().save("model.svg")
        ```
    """
    return mined(model, example_inputs, "motifs")


def compare(a: Any, b: Any, *, example_inputs: Any = None, trace: bool = False) -> Comparison:
    """Compare two models: how alike they are, block by block, and what differs.

    The index answers for a name that it knows, as in `find_similar`, with the graph that came with
    it. Of an index without graphs both are built and traced; if a library is not installed, the row
    of the name answers, and nothing is explained.

    Example:
        ```python
        nar_plugin.compare("timm:resnet50", "torchvision:resnet50").identical  # True
        found = nar_plugin.compare("timm:resnet50", "timm:seresnet50")
        found.likeness, found.explanation.verdict.text
        ```
    """
    index = load_index()
    one, other = (
        ask_with_graph(model, example_inputs, index, "compare", trace) for model in (a, b)
    )
    families = len(index.families_of(other.query.design))
    macros = one.macro, other.macro
    likeness = alike(one.subject, other.subject)
    return comparison_of(one.query, other.query, likeness, macros, families)


def assert_same_design(a: Any, b: Any, *, example_inputs: Any = None) -> None:
    """Fail unless two models are one design: a line of a test that notices a changed architecture.

    Sizes of the classifier and of the vocabulary may differ, all other widths not. Both are traced.

    Example:
        ```python
        nar_plugin.assert_same_design("timm:resnet50", "torchvision:resnet50")
        ```

    Raises:
        AssertionError: They differ; the text is the explanation, block by block.
        TraceError: One of the forwards cannot be followed, so that nothing is certain.
    """
    found = compare(a, b, example_inputs=example_inputs, trace=True)
    for query in (found.a, found.b):
        if query.method == "modules" or (query.method == "index" and query.reason):
            raise TraceError(
                f"{name_text(query)} cannot be asserted to be the same design: {trace_text(query)}"
            )
    if not found.same_design:
        raise AssertionError(
            f"{name_text(found.a)} and {name_text(found.b)} are not the same design.\n{found}"
        )


def dedupe(models: Iterable[Any], *, trace: bool = False) -> DistinctDesigns:
    """Group models that are one design, and the designs that differ in head or stem alone.

    For candidates of an architecture search, or a collection. One that cannot be traced is told in
    `refused` and stops nothing. The index answers for a name that it knows, as in `find_similar`.

    Example:
        ```python
        found = nar_plugin.dedupe(["timm:resnet50", "torchvision:resnet50", "timm:resnet18"])
        found.first  # (0, 2)
        ```

    Args:
        models: Modules, configs or references. A generator is read one by one.
        trace: Build and trace each even if the index knows its name.
    """
    index = load_index()
    asked, refused = [], []
    for place, model in enumerate(models):
        try:
            subject, query, _ = ask(model, None, index, "dedupe", trace)
        except NarError as error:
            name = model if issubclass(type(model), str) else type(model).__name__
            refused.append((name, str(error)))
            continue
        backbone = subject.backbone or query.design
        note = trace_text(query)
        name = name_text(query) if query.name else f"{query.class_name} #{place}"
        asked.append(Asked(place, name, query.design, backbone, query.ops, note))
    return distinct_designs(asked, refused)


def design_map(
    models: Iterable[Any] = (), *, example_inputs: Any = None, index: Index = None
) -> DesignMap:
    """Show all designs of an index in the plane, where near ones are alike, and models among them.

    A model that the index does not hold is placed by the designs that are nearest to it.

    Example:
        ```python
        nar_plugin.design_map(["timm:resnet50", model]).save("map.html")
        ```

    Raises:
        NarError: The index came without a map.
    """
    index = load_index(index)
    asked = []
    for model in models:
        subject, query, _ = ask(model, example_inputs, index, "design_map")
        asked.append((name_text(query), query.params, subject))
    return map_of(index, asked)


def novelty(model: Any, *, example_inputs: Any = None, index: Index = None) -> Novelty:
    """Say how far a model is from everything known: 1 minus the score of the best hit.

    Example:
        ```python
        nar_plugin.novelty("timm:resnet50")  # 0.0: it is in the index
        nar_plugin.novelty(model).without_partner  # blocks that the nearest prior art lacks
        ```

    Returns:
        A number from 0 to 1, 0 for a known design. It prints what held-out designs it is more
        novel than, and the nearest prior art.
    """
    return Novelty(find_similar(model, 1, index=index, example_inputs=example_inputs))


def _distinct(text: str) -> str:
    if text not in ("backbone", "graph"):
        raise NarError(f"distinct is 'backbone' or 'graph'; got {in_words(text)}.")
    return text
