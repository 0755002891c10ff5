"""What is known of a file of weights: names, shapes and types of its tensors, and no value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

MOST = 250_000  # tensors of a checkpoint; one of 671 billion parameters has 92,000
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor of a file.

    Attributes:
        name: As the file has it; shown, and read where packing is undone, but it never ranks.
        shape: Its sides; of packed numbers whose sides are unknown, how many there are.
        dtype: Such as `float16`, or the file's own word for it.
        tied: Whether its numbers are those of a tensor before it.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str = "float32"
    tied: bool = False

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        return prod(self.shape)


@dataclass(frozen=True)
class Checkpoint:
    """The tensors of a file of weights, in the order of the file.

    Attributes:
        source: What it is called in an answer, such as the path that was given.
        form: Such as `safetensors`.
        tensors: Its tensors.
        sides: By name, the sides that the file notes for numbers that it packs (bitsandbytes).
        packing: How numbers were packed, such as `GPTQ`; empty where they were not.
        adapter: Whether it holds low-rank updates of another model's layers.
        base: The base model that an adapter names, as text.
        said: What the file says of itself, such as GGUF's architecture; as text.
    """

    source: str
    form: str
    tensors: tuple[Tensor, ...]
    sides: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    packing: str = ""
    adapter: bool = False
    base: str = ""
    said: str = ""

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        return sum(tensor.elements for tensor in self.tensors if not tensor.tied)
