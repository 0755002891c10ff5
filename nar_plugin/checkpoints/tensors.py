"""What is known of a file of weights: names, shapes and types of its tensors, and no value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor of a file.

    Attributes:
        name: As the file has it; shown, and read where packing is undone, but it never ranks.
        shape: Its sides; of packed numbers whose sides are unknown, their count alone.
        dtype: Such as `float16`, or the file's own word for it.
        counted: Whether `shape` is only a count of numbers.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str = "float32"
    counted: bool = False

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
        tensors: Tied tensors once.
        tied: How many names were dropped because they share another's numbers.
        packing: How numbers were packed, such as `GPTQ`; empty where they were not.
        adapter: Whether it holds low-rank updates of another model's layers.
        base: The base model that an adapter names, as text.
        said: What the file says of itself, such as GGUF's architecture; as text.
    """

    source: str
    form: str
    tensors: tuple[Tensor, ...]
    tied: int = 0
    packing: str = ""
    adapter: bool = False
    base: str = ""
    said: str = ""

    def with_tensors(self, tensors: list[Tensor], **fields: Any) -> Checkpoint:
        """The same file with other tensors."""
        return replace(self, tensors=tuple(tensors), **fields)

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        return sum(tensor.elements for tensor in self.tensors)
