"""A small design as a file of each format, made by torch's own exporters."""

import warnings

import torch
from torch import nn


class Small(nn.Module):
    """A convolution with a batch norm, attention over its places, a norm and a head."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=2, bias=False)
        self.bn = nn.BatchNorm2d(8)
        self.qkv = nn.Linear(8, 24)
        self.norm = nn.LayerNorm(8)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = torch.relu(self.bn(self.conv(x))).flatten(2).transpose(1, 2)
        q, k, v = self.qkv(x).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4)
        made = nn.functional.scaled_dot_product_attention(q, k, v)
        x = self.norm(x + made.transpose(1, 2).flatten(2))
        return self.head(nn.functional.gelu(x).mean(1))


KINDS = ("pt2", "core.pt2", "pt", "onnx")


def small():
    torch.manual_seed(0)
    model = Small().eval()
    with torch.no_grad():
        for tensor in model.state_dict().values():
            if tensor.is_floating_point():
                tensor += torch.rand_like(tensor)  # as trained: no two are equal
    return model, (torch.rand(1, 3, 16, 16),)


def write(folder, kind):
    """The path of the small design, written as this kind of file."""
    model, inputs = small()
    path = folder / f"small.{kind}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "pt":
            torch.jit.save(torch.jit.trace(model, inputs), path)
        elif kind == "onnx":
            torch.onnx.export(model, inputs, str(path), dynamo=False, opset_version=17)
        else:
            program = torch.export.export(model, inputs)
            program = program.run_decompositions() if kind == "core.pt2" else program
            torch.export.save(program, path)
    return path
