"""The encoder on disk: encoder.json and safetensors, and one cached instance for each device."""

from __future__ import annotations

import hashlib
import json
import threading
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn
from torch.overrides import TorchFunctionMode

from nar_plugin.encoder.config import (
    CONFIG,
    LABELS,
    WEIGHTS,
    check_versions,
    encoder_config,
    kind_of,
    versions,
)
from nar_plugin.encoder.graph_encoder import GraphEncoder, encoder_class
from nar_plugin.errors import IndexIncompatible, IndexUnavailable
from nar_plugin.regular_files import is_regular, open_regular
from nar_plugin.tracing.fingerprint import FINGERPRINT_VERSION

Encoder = TypeVar("Encoder", bound=GraphEncoder)

_VECTORS, _SCALE = "vectors.weight", "vectors.scale"
_LARGEST = 127  # of the 8-bit numbers that a label's vector is stored in

_lock = threading.Lock()
_cached: dict[tuple[Path, str], GraphEncoder] = {}


def save_encoder(encoder: GraphEncoder, folder: Path, **facts: Any) -> None:
    """Write an encoder, vectors of labels in 8 bits and the rest in half precision, with facts.

    Args:
        encoder: The encoder.
        folder: An existing folder.
        **facts: What else the config should say: recipe, data, figures.
    """
    save_file(_packed(encoder), folder / WEIGHTS)
    read = {f"{what}_version": version for what, version in versions(encoder.kind).items()}
    config = {
        **({} if encoder.kind == LABELS else {"kind": encoder.kind}),
        "encoder": encoder.config,
        **read,
        "fingerprint_version": FINGERPRINT_VERSION,
        "sha256": _sha256(folder / WEIGHTS),
        **facts,
    }
    (folder / CONFIG).write_text(json.dumps(config, indent=1) + "\n")


def load_encoder(folder: Path, device: str = "cpu") -> GraphEncoder:
    """The encoder of a folder, loaded once for each device and then shared between threads.

    Raises:
        IndexUnavailable: A file is missing or does not have the sha256 that the config states.
        IndexIncompatible: The encoder was made for other labels or motifs.
    """
    key = (folder.resolve(), device)
    with _lock:
        if key not in _cached:
            _cached[key] = read_encoder(folder).to(torch.device(device))
        return _cached[key]


def read_encoder(folder: Path) -> GraphEncoder:
    """The encoder of a folder, read anew, of whatever kind it is.

    Raises:
        IndexUnavailable: A file is missing or does not have the sha256 that the config states.
        IndexIncompatible: The encoder was made for other labels or motifs, or is none.
    """
    return read_as(folder, encoder_class(kind_of(encoder_config(folder))))


def read_as(folder: Path, made: type[Encoder]) -> Encoder:
    """As `read_encoder`, of a kind that is known.

    Args:
        folder: As `save_encoder` wrote it.
        made: The class to make.

    Raises:
        IndexUnavailable: See `read_encoder`.
        IndexIncompatible: See `read_encoder`; or it is of another kind.
    """
    config = encoder_config(folder)
    weights = folder / WEIGHTS
    if not is_regular(weights) or _sha256(weights) != config["sha256"]:
        raise IndexUnavailable(
            f"{weights} is missing or does not have the sha256 that {CONFIG} states. "
            "Reinstall nar-plugin if it came with that; else fetch it or train it again."
        )
    check_versions(folder)
    if kind_of(config) != made.kind:
        raise IndexIncompatible(
            f"The encoder in {folder} is of the kind {kind_of(config)!r}; {made.__name__} reads "
            f"those of the kind {made.kind!r}."
        )
    try:
        state = load_file(weights)
        # On meta, since the config is not believed: memory is taken by the file alone.
        with torch.device("meta"), _Unfilled():
            encoder = made(**config["encoder"])
        encoder.load_state_dict(_unpacked(state), assign=True)
    except (
        TypeError,
        ValueError,
        KeyError,
        ArithmeticError,
        RuntimeError,
        SafetensorError,
    ) as error:
        raise IndexIncompatible(
            f"{weights} is not the encoder that {CONFIG} describes: {str(error)[:300]}. Train it "
            "again with `nar dev train`."
        ) from error
    return encoder.eval().requires_grad_(False)


class _Unfilled(TorchFunctionMode):
    """Lets initialisations pass: filling a meta tensor imports torch's compiler, for a second."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__module__", None) == nn.init.__name__:
            return (*args, *(kwargs or {}).values())[0]
        return func(*args, **kwargs or {})


def _packed(encoder: GraphEncoder) -> dict[str, torch.Tensor]:
    """The encoder's tensors as they are stored."""
    numbers = dict(encoder.named_parameters()).keys()
    state = encoder.state_dict()
    packed = {
        name: value.half().contiguous() if name in numbers else value.contiguous()
        for name, value in state.items()
        if name != _VECTORS
    }
    if _VECTORS not in state:
        return packed
    scale = state[_VECTORS].abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / _LARGEST
    packed[_VECTORS] = (state[_VECTORS] / scale).round().to(torch.int8)
    packed[_SCALE] = scale.half()
    return packed


def _unpacked(packed: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors as the encoder holds them: every float is a float32."""
    state = {
        name: value.float() if value.is_floating_point() else value
        for name, value in packed.items()
    }
    if _VECTORS in state:
        state[_VECTORS] = state[_VECTORS].float() * state.pop(_SCALE)
    return state


def clear_encoders() -> None:
    """Forget every cached encoder."""
    with _lock:
        _cached.clear()


def _sha256(path: Path) -> str:
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
