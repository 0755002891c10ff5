"""ENAS (Pham et al., ICML 2018), the macro space as D-VAE lists it: six layers and their skips.

A structure is a row such as `[[1], [4, 0], [5, 0, 0], [0, 1, 1, 1], ...]`: of each layer the
operation, then for each earlier vertex whether it is skipped to; vertex 0 is the stem. A layer
always takes the result of the layer before it. As in ENAS, an operation is a 1x1 convolution and
then the operation itself; its result is concatenated with the skips and mapped back by a 1x1
convolution where there are skips. All layers have one width and keep the positions.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .._shared.expressions import evaluate
from .operations import average_pool, conv_bn, image_stem, separable

OPERATIONS = ("conv3", "sep3", "conv5", "sep5", "avg3", "max3")


def parsed(text: str) -> list[tuple[str, tuple[int, ...]]]:
    """The operation of each layer, and the vertices that skip to it.

    Example:
        ```python
        parsed("[[1], [4, 1]]")  # [('sep3', ()), ('avg3', (0,))]
        ```

    Raises:
        ValueError: It is no structure.
    """
    try:
        rows = evaluate(text, {})
    except (ValueError, SyntaxError, KeyError, TypeError) as error:
        problem = "" if isinstance(error, KeyError) else f": {error}"
        raise ValueError(
            f"expected a list of layers such as [[1], [4, 0]], got {text[:60]!r}{problem}"
        ) from error
    found = []
    for number, row in enumerate(rows if isinstance(rows, list) else ()):
        if not isinstance(row, list) or len(row) != number + 1:
            raise ValueError(f"layer {number} is {row!r}, where {number + 1} numbers are expected")
        name, skips = row[0], row[1:]
        if name not in range(len(OPERATIONS)) or not set(skips) <= {0, 1}:
            raise ValueError(f"layer {number} is {row!r}: an operation from 0 to 5, then 0 or 1")
        found.append((OPERATIONS[name], tuple(place for place, on in enumerate(skips) if on)))
    if not found:
        raise ValueError(f"expected a list of layers, got {text[:60]!r}")
    return found


class Layer(nn.Module):
    """An operation on the layer before, and what is skipped to it.

    Shapes:
        vertices: float32[n, width, h, w] each; result: the same.
    """

    def __init__(self, name: str, skips: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.operation = nn.Sequential(conv_bn(width, width, 1), _operation(name, width))
        self.skips = skips
        self.merge = conv_bn((1 + len(skips)) * width, width, 1) if skips else nn.Identity()

    def forward(self, vertices: list[Tensor]) -> Tensor:
        """The next vertex."""
        own = self.operation(vertices[-1])
        if not self.skips:
            return own  # type: ignore[no-any-return]
        merged: Tensor = self.merge(torch.cat([*(vertices[v] for v in self.skips), own], dim=1))
        return merged


class EnasNetwork(nn.Module):
    """The network of a structure.

    Args:
        text: A row of D-VAE's list.
        width: Channels of each layer.
        classes: Of the classifier.

    Shapes:
        images: float32[n, 3, h, w]; result: float32[n, classes].
    """

    def __init__(self, text: str, width: int = 36, classes: int = 10) -> None:
        super().__init__()
        self.cell_text = text
        self.stem = image_stem(width)
        self.layers = nn.ModuleList(Layer(name, skips, width) for name, skips in parsed(text))
        self.classifier = nn.Linear(width, classes)

    def forward(self, images: Tensor) -> Tensor:
        """The logits."""
        vertices = [self.stem(images)]
        for layer in self.layers:
            vertices.append(layer(vertices))
        logits: Tensor = self.classifier(vertices[-1].mean(dim=(2, 3)))
        return logits


def network(text: str) -> EnasNetwork:
    """The network of a structure, as D-VAE's list has it.

    Raises:
        ValueError: It is no structure.
    """
    return EnasNetwork(text)


def _operation(name: str, width: int) -> nn.Module:
    if name == "max3":
        return nn.MaxPool2d(3, 1, 1)
    if name == "avg3":
        return average_pool()
    kernel = int(name[-1])
    if name.startswith("sep"):
        return separable(width, kernel, 1, 1, True)
    return conv_bn(width, width, kernel)
