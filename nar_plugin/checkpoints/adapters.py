"""Low-rank adapters: two narrow matrices for each layer that they change.

Hu et al. 2021, arXiv 2106.09685. peft writes `lora_A` [rank, in] and `lora_B` [out, rank]; kohya
and diffusers `lora_down` and `lora_up`. From a pair follow the sides of the layer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from nar_plugin.checkpoints.tensors import Checkpoint, Tensor

_DOWN = re.compile(r"^(.*?)[._]?lora[._](?:A|down|embedding_A)(?:\..*)?$")
_UP = re.compile(r"^(.*?)[._]?lora[._](?:B|up|embedding_B)(?:\..*)?$")
_OF_ADAPTERS = re.compile(r"lora|alpha|dora|magnitude", re.IGNORECASE)
_LEAST = 0.5  # share of the tensors of an adapter that are one half of a pair


def adapted(checkpoint: Checkpoint) -> Checkpoint:
    """An adapter with the layers that it changes in the place of its pairs; others as they are."""
    down: dict[str, Tensor] = {}
    up: dict[str, Tensor] = {}
    for tensor in checkpoint.tensors:
        if found := _DOWN.match(tensor.name):
            down[found[1]] = tensor
        elif found := _UP.match(tensor.name):
            up[found[1]] = tensor
    pairs = [name for name in down if name in up]
    layers = [layer for name in pairs if (layer := _layer(name, down[name], up[name]))]
    if not layers or len(down) + len(up) < _LEAST * len(checkpoint.tensors):
        return checkpoint
    rest = [each for each in checkpoint.tensors if not _OF_ADAPTERS.search(each.name)]
    return replace(checkpoint, tensors=(*layers, *rest), adapter=True)


def _layer(name: str, down: Tensor, up: Tensor) -> Tensor | None:
    """The layer of a pair; None where the two do not fit."""
    if len(down.shape) < 2 or len(up.shape) < 2:
        return None
    if down.shape[0] == up.shape[1]:
        return Tensor(name, (up.shape[0], *down.shape[1:]))
    return None


def known_base(names: Iterable[str], base: str) -> str:
    """The name that an index has for a base model of the Hub; empty where it has none."""
    ending = f"@{base}"
    return next((name for name in names if base and name.endswith((ending, f"hub:{base}"))), "")
