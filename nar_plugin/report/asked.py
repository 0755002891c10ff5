"""What was asked, and which index answered."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nar_plugin.mining.macro import MotifCount


@dataclass(frozen=True)
class Query:
    """The model asked about.

    Attributes:
        name: A model reference, when the model says where it came from.
        library: Distribution that defines it, when known.
        params: Number of parameters.
        flops: Floating point operations at batch 1 and the traced input.
        ops: Number of canonical operations.
        fingerprint: Versioned hash of the graph.
        design: As `fingerprint`, blind to the sizes of the classifier and of the vocabulary.
        method: How the graph was obtained: see `ArchitectureGraph`; `index` where it was read from
            the index.
        reason: Why that method was used; of `index` empty, unless the name could not be built here.
        inputs: The inputs of the traced forward, in words.
        unread: How many of the parameters no operation of that forward read.
        class_name: Of the model.
        changed: Whether the model says that it is of that name, and the index knows the name with
            another backbone: somebody has changed the model.
        motifs: Its blocks, most operations covered first.
        family: Always None: a query is asked about, not labelled.
    """

    name: str | None
    library: str | None
    params: int
    flops: int
    ops: int
    fingerprint: str
    design: str
    method: str = "meta"
    reason: str = ""
    inputs: str = ""
    unread: int = 0
    class_name: str = ""
    changed: bool = False
    motifs: tuple[MotifCount, ...] = ()
    family: None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values under the field names."""
        return asdict(self) | {"motifs": [asdict(motif) for motif in self.motifs]}


@dataclass(frozen=True)
class IndexInfo:
    """The index that answered.

    Attributes:
        source: Where it came from: `embedded`, a path or a repository.
        revision: Its commit or version, when it has one.
        architectures: Number of names.
        graphs: Number of distinct graphs.
        encoder: Which encoder made its vectors.
        age: How old it is, such as `3 days old`.
    """

    source: str
    revision: str | None
    architectures: int
    graphs: int
    encoder: str
    age: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values under the field names; without the age, which will be another tomorrow."""
        return {name: value for name, value in asdict(self).items() if name != "age"}
