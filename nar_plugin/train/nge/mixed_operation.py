"""An edge of a supernet: all operations at once, weighted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor, nn


class MixedOperation(nn.Module):
    """Eq. 11: the sum of all operations, each times its probability.

    As in the search of DARTS, batch norms have no weights of their own and pools are followed by
    one, so that no operation makes up for its probability by its scale.

    Args:
        names: Of the operations.
        make: From a name to the operation.
        width: Channels of the images.

    Shapes:
        images: float32[n, width, h, w]; chances: float32[operations].
    """

    def __init__(self, names: Sequence[str], make: Callable[[str], nn.Module], width: int) -> None:
        super().__init__()
        self.operations = nn.ModuleList(
            nn.Sequential(make(name), nn.BatchNorm2d(width, affine=False))
            if "pool" in name
            else make(name)
            for name in names
        )

    def forward(self, images: Tensor, chances: Tensor) -> Tensor:
        """The weighted sum."""
        weighted: list[Tensor] = [
            chance * operation(images)
            for chance, operation in zip(chances, self.operations, strict=True)
        ]
        return sum(weighted[1:], weighted[0])
