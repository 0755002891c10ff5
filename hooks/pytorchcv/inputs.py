"""What pytorchcv's models eat: mostly one image, of the size that the model was made for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from nar_plugin.hookspecs import ExampleInputs

from .._shared.layers import floats

_SIZE = (224, 224)  # of models that say nothing and take any
_VIDEO = (64, 64)  # multiples of 8 that leave room for the windows of the attention
_FLOW = (128, 128)  # a pyramid of four levels over an eighth of it
_FRAMES = 3
_STEPS = 128
_SAMPLES = 16000


def guesses(model: nn.Module, name: str) -> list[ExampleInputs]:
    """Inputs for a model whose class pytorchcv calls `name`, best guess first."""
    special = _SPECIAL.get(name)
    if special is not None:
        return [special(model)]
    size: Any = getattr(model, "in_size", None)
    if not isinstance(size, tuple | list) or len(size) != 2:
        size = _SIZE
    return [ExampleInputs((floats(1, channels, *size),)) for channels in _channels(model)]


def _channels(model: nn.Module) -> list[int]:
    """Of the first convolution; where pixels were folded into channels before it, 3."""
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            found = module.in_channels
            return [found] if found in (1, 3, 4) else [found, 3]
    return [3]


def _first(model: nn.Module, kind: type[nn.Module]) -> Any:
    return next(module for module in model.modules() if isinstance(module, kind))


def _speech(model: Any) -> ExampleInputs:
    """A waveform or a spectrogram, with its length."""
    if model.from_audio:
        return ExampleInputs((floats(1, _SAMPLES), torch.tensor([_SAMPLES])))
    return ExampleInputs((floats(1, model.in_size, _STEPS), torch.tensor([_STEPS])))


def _two_images(model: Any) -> ExampleInputs:
    return ExampleInputs((floats(1, 3, *_FLOW), floats(1, 3, *_FLOW)))


def _voca(model: Any) -> ExampleInputs:
    """A window of speech features, and who speaks."""
    features = _first(model, nn.Conv2d).in_channels - model.base_persons
    window = model.encoder.audio_window_size
    return ExampleInputs((floats(1, 1, window, features), torch.tensor([0])))


def _voice_puppetry(model: Any) -> ExampleInputs:
    """Some windows of speech features, and who speaks."""
    features = _first(model, nn.Conv2d).in_channels
    attention = model.encoder.seq_len
    window = 2 ** sum(isinstance(part, nn.Conv2d) for part in model.encoder.conv_branch.modules())
    return ExampleInputs((floats(1, attention, window, features), torch.tensor([0])))


def _visemes(model: Any) -> ExampleInputs:
    """As many windows of speech features as the second stage looks at, and the face at rest."""
    rnn = model.stage1_rnn
    faces = _first(model.lm_branch, nn.Linear).in_features - rnn.hidden_size
    windows = model.stage2_window_size // 2 + 1
    return ExampleInputs(
        (floats(windows, model.audio_window_size, rnn.input_size), floats(windows, faces))
    )


def _flow_completion(model: Any) -> ExampleInputs:
    """Optical flow with holes, and the holes."""
    shape = (_FRAMES, 2, *_VIDEO)
    return ExampleInputs((floats(1, *shape), floats(1, _FRAMES, 1, *_VIDEO)))


def _image_propagation(model: Any) -> ExampleInputs:
    """Frames, masks, flow there and back, and how pixels are taken over."""
    flows = floats(_FRAMES - 1, 4, *_VIDEO)
    frames, masks = floats(_FRAMES, 3, *_VIDEO), floats(_FRAMES, 1, *_VIDEO)
    return ExampleInputs((frames, masks, flows, "nearest"))


def _inpainting(model: Any) -> ExampleInputs:
    """Masked frames, their two masks, flow there and back, and how many frames are neighbours."""
    frames, masks = floats(1, _FRAMES, 3, *_VIDEO), floats(1, _FRAMES, 1, *_VIDEO)
    return ExampleInputs((frames, masks, masks, floats(1, _FRAMES - 1, 4, *_VIDEO), _FRAMES))


_SPECIAL: dict[str, Callable[[Any], ExampleInputs]] = {
    "Jasper": _speech,
    "NvpAttExp": _voice_puppetry,
    "PPImagePropagation": _image_propagation,
    "PPRecurrentFlowComplete": _flow_completion,
    "ProPainter": _inpainting,
    "RAFT": _two_images,
    "VOCA": _voca,
    "VisemeNet": _visemes,
}
