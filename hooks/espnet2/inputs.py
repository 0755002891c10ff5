"""What the networks of ESPnet eat, by the names of the arguments of their forward."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    import torch
    from torch import nn

_FRAMES, _TOKENS, _EACH = 105, 20, 5  # as many as all tokens, and the one of the end, together


def guesses(model: nn.Module) -> list[ExampleInputs]:
    """For each way to read `input`: features, a spectrum, a recording or tokens."""
    import torch

    sound = torch.empty(1, _FRAMES, 80, device="meta")
    spectrum = torch.empty(1, _FRAMES, 257, device="meta")
    wide = torch.empty(1, _FRAMES, 481, device="meta", dtype=torch.complex64)
    recordings = torch.empty(1, 16_000, device="meta"), torch.empty(1, 1, 16_000, device="meta")
    tokens = torch.arange(_TOKENS).view(1, -1) % 50
    hidden = torch.empty(1, _FRAMES, 256, device="meta")
    read = inspect.signature(model.forward).parameters
    found = []
    for given in (sound, spectrum, spectrum.to(torch.complex64), wide, *recordings, hidden, tokens):
        known = _named(given)
        needed = [name for name, item in read.items() if item.default is item.empty]
        if all(name in known for name in needed if name not in ("args", "kwargs")):
            kwargs = {name: known[name] for name in needed if name in known}
            found.append(ExampleInputs((), kwargs))
    return found


def _named(given: torch.Tensor) -> dict[str, Any]:
    import torch

    tokens = torch.arange(_TOKENS).view(1, -1) % 50
    count, frames = torch.tensor([_TOKENS]), torch.tensor([_FRAMES])
    hidden = torch.empty(1, _FRAMES, 256, device="meta")
    feats = torch.empty(1, _FRAMES, 80, device="meta")
    per_token = torch.empty(1, _TOKENS + 1, 1, device="meta")
    durations = torch.full((1, _TOKENS + 1), _EACH)
    known: dict[str, Any] = dict.fromkeys(("input", "xs_pad", "x"), given)
    known |= dict.fromkeys(
        ("ilens", "input_lengths", "feat_lengths"), torch.tensor([given.shape[1]])
    )
    known |= dict.fromkeys(("hs_pad", "enc_outputs"), hidden)
    lengths = ("hlens", "enc_outputs_lengths", "feats_lengths", "discrete_feats_lengths")
    known |= dict.fromkeys(lengths, frames)
    known |= dict.fromkeys(("ys_in_pad", "labels", "text"), tokens)
    known |= {f"{name}_lengths": count + 1 for name in ("durations", "pitch", "energy")}
    return known | {
        "ys_in_lens": count,
        "text_lengths": count,
        "hidden": None,
        "feats": feats,
        "discrete_feats": torch.arange(_FRAMES).view(1, -1) % 50,
        "durations": durations,
        "pitch": per_token,
        "energy": per_token,
        "input_aux": given,
        "ilens_aux": torch.tensor([given.shape[1]]),
        "padding_mask": None,
    }
