"""What an image, a video or a sound adds to the inputs of a model of transformers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Media:
    """The arguments of one medium, and the places that the text must hold for it.

    Attributes:
        kwargs: Arguments of the forward.
        tokens: How often the medium's placeholder stands in the token ids.
        kind: `image`, `video` or `audio`.
    """

    kwargs: Mapping[str, Any]
    tokens: int = 0
    kind: str = "image"


def floats(*shape: int) -> Tensor:
    """A float tensor on the meta device."""
    return torch.empty(*shape, device="meta")
