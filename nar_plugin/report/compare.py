"""Comparison: two models side by side, the answer to `compare`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from nar_plugin.report.hit import SharedMotif
from nar_plugin.report.query import Query

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, repr=False)
class Comparison:
    """How alike two models are.

    Attributes:
        similarity: Cosine similarity of the embeddings; 1 is the most similar.
        identical: Whether the graphs are equal, all widths included.
        same_design: Whether they differ at most in the sizes of classifier and vocabulary.
        shared_motifs: The blocks in common; `count_query` counts in `a`, `count_hit` in `b`.
        a: The first model.
        b: The second model.
    """

    similarity: float
    identical: bool
    same_design: bool
    shared_motifs: tuple[SharedMotif, ...]
    a: Query
    b: Query

    @property
    def same_blocks(self) -> float:
        """How far both are made of the same blocks, widths aside: the less of two shares.

        Of the operations of each of the two, the part that lies in blocks which the other has.
        """
        blocks = self.shared_motifs
        of_a = sum(block.count_query * block.ops for block in blocks) / max(self.a.ops, 1)
        of_b = sum(block.count_hit * block.ops for block in blocks) / max(self.b.ops, 1)
        return min(of_a, of_b)

    def __repr__(self) -> str:
        """The tables as plain text, as wide as the terminal."""
        from nar_plugin.report.terminal import plain_text

        return plain_text(self)

    def __rich__(self) -> RenderableType:
        """The tables as rich prints them."""
        from nar_plugin.report.side_by_side import comparison_table

        return comparison_table(self)

    def to_dict(self) -> dict[str, Any]:
        """What `nar compare --json` prints."""
        return {
            "similarity": self.similarity,
            "identical": self.identical,
            "same_design": self.same_design,
            "same_blocks": self.same_blocks,
            "shared_motifs": [asdict(motif) for motif in self.shared_motifs],
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
        }
