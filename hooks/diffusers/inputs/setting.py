"""What a rule about one argument of a diffusion model may look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

from .latents import Latent
from .sizes import number

_WORDS = 77  # of CLIP's text encoder


@dataclass(frozen=True)
class Setting:
    """One guess at the main input and the text, which the other arguments must go with.

    Attributes:
        model: The model.
        config: Its configuration.
        names: All arguments of its forward.
        required: Those without a default.
        latent: The main input.
        width: Of the embedded text.
    """

    model: nn.Module
    config: Mapping[str, Any]
    names: frozenset[str]
    required: frozenset[str]
    latent: Latent
    width: int

    def number(self, *names: str, default: int = 0) -> int:
        """The first integer that the configuration has under one of these names."""
        found: int = number(self.config, names, default)
        return found

    @property
    def words(self) -> int:
        """Tokens of the text."""
        return self.number("text_len", "max_text_seq_length", default=_WORDS)

    @property
    def grid(self) -> tuple[int, int, int]:
        """Tokens over time, height and width, after the image was cut into patches."""
        patch = self.config.get("patch_size", 1)
        if isinstance(patch, list | tuple) and len(patch) == 3:
            time, high, across = (int(size) for size in patch)
        else:
            high = across = self.number("patch_size", default=1)
            time = self.number("patch_size_t", default=1)
        latent = self.latent
        return latent.frames // time, latent.height // high, latent.width // across

    @property
    def tokens(self) -> int:
        """Tokens of the latent, which may have been cut into patches before it is given."""
        return self.latent.value.shape[1] if self.latent.value.dim() == 3 else _product(self.grid)


Rule = Callable[[Setting], Any]


def _product(sizes: tuple[int, ...]) -> int:
    result = 1
    for size in sizes:
        result *= size
    return result
