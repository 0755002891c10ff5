"""SimilarWeights: the known designs that have the tensors of a checkpoint, by their shapes only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from nar_plugin.report.answer import Answer
from nar_plugin.report.asked import IndexInfo, Query
from nar_plugin.report.hit import Hit
from nar_plugin.visible_text import clean, counted, params_text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nar_plugin.checkpoints.parameters import Shape
    from nar_plugin.checkpoints.ranking import Explained
    from nar_plugin.checkpoints.tensors import Checkpoint

BY_SHAPES = "By tensor shapes only: a checkpoint has no forward, and names of tensors do not rank."
NAMES = 3  # names of tensors that stand for those of their shape
POOR = 0.8  # score below which a design is not what the file was saved from


@dataclass(frozen=True)
class AskedWeights:
    """The checkpoint asked about.

    Attributes:
        name: The path, or what else was given.
        form: Such as `safetensors`.
        tensors: How many it has, without packing, indices and masks.
        params: How many numbers they hold.
        packing: How they were packed, such as `GPTQ or AWQ`; empty where they were not.
        adapter: Whether it holds low-rank updates of another model's layers.
        base: The base model that an adapter names.
        said: What the file says of its own architecture; it does not rank.
    """

    name: str
    form: str
    tensors: int
    params: int
    packing: str = ""
    adapter: bool = False
    base: str = ""
    said: str = ""

    def __str__(self) -> str:
        """Such as `weights.safetensors, 102 tensors, 11.7M numbers`."""
        kind = "an adapter of layers with " if self.adapter else ""
        packed = f", packed as {self.packing}" if self.packing else ""
        size = f"{counted(self.tensors, 'tensor')}, {kind}{params_text(self.params)} numbers"
        return clean(f"{self.name} ({self.form}), {size}{packed}")


@dataclass(frozen=True)
class Tensors:
    """Tensors of one shape.

    Attributes:
        shape: Their sides; in the design's order where the file has them, else sorted.
        count: How many.
        names: Some of their names in the file, as text; none of what the file lacks.
    """

    shape: tuple[int, ...]
    count: int
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Such as `12 of [768, 3072] (h.0.mlp.c_fc.weight, ...)`."""
        sides = f"{self.count} of {list(self.shape)}"
        names = ", ".join(clean(name) for name in self.names[:NAMES])
        more = ", ..." if self.count > NAMES else ""
        return f"{sides} ({names}{more})" if names else sides


@dataclass(frozen=True)
class WeightsHit(Hit):
    """A known design that explains a checkpoint.

    Attributes:
        explained: How many tensors of the file it explains.
        tensors: Of how many.
        loads: Classes or lines of Python that load such weights, one for each library.
        left_over: Tensors of the file that the design lacks.
        missing: Parameters of the design that the file lacks.
        resized: Layers with other classes or another vocabulary: the file's shape and the design's.
        direct: Tensors that are parameters of no layer, such as positions and tokens; that the
            design has these follows from how many numbers it has.
    """

    explained: int = 0
    tensors: int = 0
    loads: tuple[str, ...] = ()
    left_over: tuple[Tensors, ...] = ()
    missing: tuple[Tensors, ...] = ()
    resized: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()
    direct: tuple[Tensors, ...] = ()


@dataclass(frozen=True, repr=False)
class SimilarWeights(Answer[WeightsHit]):
    """The known designs whose parameters have the shapes of a checkpoint's tensors.

        ```python
        similar = nar_plugin.find_similar("weights.safetensors")
        similar[0].loads, similar[0].explained, similar[0].left_over
        ```

    Attributes:
        query: The checkpoint asked about.
        index: The index that answered.
        hits: The designs, the best first. `variants` of a hit are designs that no shape tells from
            it.
        notes: What stands above the table.
    """

    query: AskedWeights
    index: IndexInfo = field()  # type: ignore[assignment]
    hits: tuple[WeightsHit, ...]
    notes: tuple[str, ...] = ()

    def __rich__(self) -> RenderableType:
        """The table as rich prints it."""
        from nar_plugin.report.weights.table import weights_table

        return weights_table(self)

    def to_dict(self) -> dict[str, Any]:
        """What `nar find --json` prints."""
        return {
            "query": asdict(self.query),
            "index": self.index.to_dict(),
            "hits": [hit.to_dict() for hit in self.hits],
            "notes": list(self.notes),
        }


def similar_weights(
    checkpoint: Checkpoint, found: Iterable[Explained], index: IndexInfo, known_base: str = ""
) -> SimilarWeights:
    """The answer about a checkpoint.

    Args:
        checkpoint: What was asked.
        found: The designs, best first.
        index: The index that answered.
        known_base: The name that the index has for the base model of an adapter.
    """
    from nar_plugin.checkpoints.parameters import sorted_shape

    query = AskedWeights(
        name=checkpoint.source,
        form=checkpoint.form,
        tensors=len(checkpoint.tensors),
        params=checkpoint.elements,
        packing=checkpoint.packing,
        adapter=checkpoint.adapter,
        base=checkpoint.base,
        said=checkpoint.said,
    )
    by_shape: dict[Shape, list[tuple[str, tuple[int, ...]]]] = {}
    for tensor in checkpoint.tensors:
        by_shape.setdefault(sorted_shape(tensor.shape), []).append((tensor.name, tensor.shape))
    hits = tuple(_hit(rank, each, query, by_shape) for rank, each in enumerate(found, start=1))
    notes = _notes(query, hits, known_base)
    near = tuple(hit for hit in hits if hit.score >= POOR)
    if near and not query.adapter and len(near) < len(hits):
        hits, notes = near, (*notes, f"Other designs score below {POOR} and are left out.")
    return SimilarWeights(query, index, hits, notes)


def _hit(
    rank: int,
    found: Explained,
    query: AskedWeights,
    by_shape: Mapping[Shape, list[tuple[str, tuple[int, ...]]]],
) -> WeightsHit:
    from nar_plugin.index.ranking import Ranked
    from nar_plugin.index.search.searcher import Match
    from nar_plugin.report.answers import hit_of

    match = found.match
    asked = Query(query.name, None, query.params, 0, 0, "", "", method="shapes")
    ranked = Ranked(Match(found.row, min(match.score, 1.0), found.overlay), found.others)
    plain = vars(hit_of(rank, ranked, asked)) | {"exact": match.exact and not match.resized}

    def told(counts: Mapping[Shape, int], named: bool = True) -> tuple[Tensors, ...]:
        ordered = sorted(counts.items(), key=lambda item: (-len(item[0]), -item[1], item[0]))
        held = {shape: by_shape.get(shape, []) if named else [] for shape, _ in ordered}
        return tuple(
            Tensors(
                held[shape][0][1] if held[shape] else shape,
                count,
                tuple(name for name, _ in held[shape][:NAMES]) if len(held[shape]) == count else (),
            )
            for shape, count in ordered
        )

    return WeightsHit(
        **plain,
        explained=match.explained,
        tensors=query.tensors,
        loads=found.loads,
        left_over=told(match.left),
        missing=told(match.missing, named=False),
        resized=match.resized,
        direct=told(match.direct),
    )


def _notes(query: AskedWeights, hits: tuple[WeightsHit, ...], known_base: str) -> tuple[str, ...]:
    notes = [BY_SHAPES]
    if query.adapter:
        notes.append("An adapter: ranked are designs that have the layers that it changes.")
    if query.base:
        known = f", which the index knows as {clean(known_base)}" if known_base else ""
        notes.append(f"Its adapter_config.json names the base {clean(query.base)}{known}.")
    if query.said:
        notes.append(f"The file calls its architecture {clean(query.said)}; that does not rank.")
    if hits and hits[0].score < POOR:
        notes.append(f"No known design has these tensors: every score is below {POOR}.")
    return tuple(notes)
