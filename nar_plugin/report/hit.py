"""One answer: a known architecture and what it has in common with the model asked about."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nar_plugin.mining.macro import MotifCount


@dataclass(frozen=True)
class SharedMotif:
    """A block shape that occurs in both architectures.

    Attributes:
        label: A name for people, such as `Bottleneck`.
        shape: Hash of the block, blind to widths.
        count_query: How often it occurs in the model asked about.
        count_hit: How often it occurs in the known architecture.
        ops: Operations in one block.
    """

    label: str
    shape: str
    count_query: int
    count_hit: int
    ops: int


@dataclass(frozen=True)
class Hit:
    """A known architecture, one for each distinct graph.

    Attributes:
        rank: 1 for the most similar.
        name: A model reference, such as `timm:resnet50`; where a filter on library or licence chose
            the hit, the first of its names that meets it, and where none did and the model's own
            name is among its names, that one.
        names: Every known name of the same graph, `name` among them.
        score: The likeness of the two designs, from 0 to 1 (`nar_plugin.likeness`).
        family: The defining module or model type, such as `resnet`.
        library: Distribution that defines what `name` names.
        task: Such as `image-classification`.
        params: Number of parameters.
        flops: Floating point operations at batch 1.
        fingerprint: Versioned hash of the graph.
        exact: Whether the graph is identical to the query's.
        shared_motifs: The blocks in common, most operations covered first.
        variants: Names of what has its backbone and another head or stem, the most alike first.
        licence: SPDX expression of that library's code; `code_license` is the same.
        url: A page about the architecture, where there is one for `name`.
        overlay: Whether it is one of the user's own models (`nar index add`).
        year: Of the first version of the family's paper, where it is known.
        paper: That paper, such as `arXiv:1512.03385`.
        title: Of that paper.
        weights_license: Of the weights that `name` names, where a source says it.
        build: A line of Python that builds `name`.
        runtimes: Which of vLLM, llama.cpp, MLX and TGI implement the family.
    """

    rank: int
    name: str
    names: tuple[str, ...]
    score: float
    family: str | None
    library: str | None
    task: str | None
    params: int
    flops: int
    fingerprint: str
    exact: bool
    shared_motifs: tuple[SharedMotif, ...] = ()
    variants: tuple[str, ...] = ()
    licence: str | None = None
    url: str | None = None
    overlay: bool = False
    year: int | None = None
    paper: str | None = None
    title: str | None = None
    weights_license: str | None = None
    build: str | None = None
    runtimes: tuple[str, ...] = ()

    @property
    def code_license(self) -> str | None:
        """`licence`, which may differ from that of the weights."""
        return self.licence

    def _repr_html_(self) -> str:
        """Its row as a notebook shows it."""
        from nar_plugin.report.html import hit_html

        return hit_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values under the field names, as `nar find --json` prints them.

        `overlay` is there for the user's own models only.
        """
        fields = asdict(self) | {
            "names": list(self.names),
            "variants": list(self.variants),
            "code_license": self.code_license,
            "runtimes": list(self.runtimes),
            "shared_motifs": [asdict(motif) for motif in self.shared_motifs],
        }
        if not self.overlay:
            del fields["overlay"]
        return fields


def shared_motifs(a: tuple[MotifCount, ...], b: tuple[MotifCount, ...]) -> tuple[SharedMotif, ...]:
    """The blocks of one that the other has too."""
    other = {motif.shape: motif for motif in b}
    return tuple(
        SharedMotif(motif.label, motif.shape, motif.count, other[motif.shape].count, motif.ops)
        for motif in a
        if motif.shape in other
    )
