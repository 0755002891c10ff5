"""The main job on three models: one of timm, one of transformers, one typed in by hand."""

import timm
import torch
from torch import nn
from transformers import AutoModel, BertConfig

import nar_plugin


class TinyResNet(nn.Module):
    """A residual network as a person writes it: a stem, three stages, a classifier."""

    def __init__(self) -> None:
        """Build sixteen basic blocks."""
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=2, padding=1),
        )
        widths = [(64, 64), *[(64, 64)] * 3, (64, 128), *[(128, 128)] * 4, (128, 256)]
        self.blocks = nn.Sequential(*(Residual(a, b) for a, b in widths))
        self.head = nn.Linear(256, 100)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Images [N, 3, H, W] to logits [N, 100]."""
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


class Residual(nn.Module):
    """Two 3x3 convolutions and a shortcut."""

    def __init__(self, wide_in: int, wide_out: int) -> None:
        """Halve the resolution when the width grows."""
        super().__init__()
        stride = 1 if wide_in == wide_out else 2
        self.conv1 = nn.Conv2d(wide_in, wide_out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(wide_out)
        self.conv2 = nn.Conv2d(wide_out, wide_out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(wide_out)
        self.shortcut = nn.Sequential()
        if stride == 2:
            self.shortcut = nn.Sequential(
                nn.Conv2d(wide_in, wide_out, 1, stride, bias=False), nn.BatchNorm2d(wide_out)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Keep the shape, or halve the resolution."""
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


def main() -> None:
    """Ask about each model."""
    print("\ntimm.create_model('resnet50').find_similar(k=5)\n")
    print(timm.create_model("resnet50").find_similar(k=5))
    print("\nAutoModel.from_config(BertConfig()).find_similar(k=5)\n")
    print(nar_plugin.find_similar(AutoModel.from_config(BertConfig()), k=5))
    print("\nTinyResNet().find_similar(k=5), a class of this script\n")
    print(nar_plugin.find_similar(TinyResNet(), k=5))


if __name__ == "__main__":
    main()
