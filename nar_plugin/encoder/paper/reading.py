"""How the paper's encoder reads a graph: where it is cut, and the sizes of its networks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

Splitting = Literal["motifs", "sequence", "nodes", "count", "random"]
Operations = Literal["one-hot", "learned"]
_MOST, _DEEPEST = 1 << 16, 16  # of sizes, and of layers and steps


@dataclass(frozen=True)
class Reading:
    """What the encoder must know of its training to read a graph; the defaults are `paper`'s.

    Attributes:
        layers: Graph convolutions of each network (Table 5: 3).
        width: Of every layer and of the embedding (Table 5: 512).
        splitting: How graphs are cut: at the blocks of `nar_plugin.mining`; at the repeated
            subsequences of the encoded sequence (section 3.2); or as in the rows of Table 2.
        steps: s of Eq. 2, for `sequence`; left open. A motif holds its operations' neighbours up to
            s steps away (section 3.3).
        longest: Most operations of a subsequence; left open.
        piece: Operations in a piece when cut by node number; left open.
        pieces: Pieces of a graph when cut by motif number; left open.
        sizes: Fewest and most operations in a piece when cut at random; left open.
        both_ways: Whether convolutions read edges both ways; left open (the authors do not).
        operations: One-hot kinds, or learned vectors for them (Operation Embeddings, ICCVW 2021).
    """

    layers: int = 3
    width: int = 512
    splitting: Splitting = "motifs"
    steps: int = 1
    longest: int = 8
    piece: int = 10
    pieces: int = 10
    sizes: tuple[int, int] = (5, 10)
    both_ways: bool = True
    operations: Operations = "one-hot"

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Reading:
        """From the fields of a file, which are not believed.

        Raises:
            ValueError: One is out of bounds.
            TypeError: One is not known.
        """
        made = cls(**{**fields, "sizes": tuple(fields.get("sizes", cls.sizes))})
        low, high = made.sizes
        numbers = (made.layers, made.width, made.steps, made.longest, made.piece, made.pieces)
        for number in (*numbers, low, high):
            if not isinstance(number, int) or not 0 < number <= _MOST:
                raise ValueError(f"{number!r} is no size from 1 to {_MOST}")
        if made.layers > _DEEPEST or made.steps > _DEEPEST or low > high:
            raise ValueError(f"more than {_DEEPEST} layers or steps, or sizes {made.sizes}")
        if made.splitting not in get_args(Splitting) or made.operations not in get_args(Operations):
            raise ValueError(f"splitting {made.splitting!r}, operations {made.operations!r}")
        return made
