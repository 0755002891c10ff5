"""The noisy sample that a diffusion model cleans, or what an autoencoder encodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from torch import Tensor, nn

from .sizes import channels, floats, number, sides

_LATENT_FRAMES = 4
_FRAMES = (9, 17, 16, 8, 1)  # of films: one more than a multiple of the compression, or a multiple
_SAMPLES = 16384
_SIGNAL = 64  # positions of a latent sound
_PIXELS = 64  # an autoencoder's image
_TOKENS = frozenset({"img_ids", "img_shapes", "num_frames"})
_SOUND = ("Audio", "Oobleck", "SAME", "Music", "Vocoder")


class Latent(NamedTuple):
    """One guess at the main input.

    Attributes:
        value: The tensor.
        frames: How many images follow each other in it, 1 for an image.
        height: In positions of the latent grid.
        width: In positions of the latent grid.
    """

    value: Tensor
    frames: int = 1
    height: int = 1
    width: int = 1


def latents(model: nn.Module, config: Mapping[str, Any], names: set[str]) -> Iterator[Latent]:
    """Main inputs that the forward may accept, best first.

    Shapes:
        image (1, channels, height, width), film (1, channels, frames, height, width) or
        (1, frames, channels, height, width), tokens (1, frames x height x width, channels), sound
        (1, channels, positions), vector (1, channels).
    """
    widths = channels(model, config)
    if _codes(names):  # a first layer may see more than the pixels
        widths += [number(config, ("out_channels",), 3)]
    for layout, width in product(_layouts(model, names), dict.fromkeys(widths)):
        yield from layout(config, width, _codes(names))


def _codes(names: set[str]) -> bool:
    """Whether the model codes pixels or samples, instead of cleaning latents at some time."""
    return not any("time" in name for name in names) and "t" not in names


def _layouts(model: Any, names: set[str]) -> list[Any]:
    """Kinds of input in the likely order: as arguments, the class's name and layers suggest."""
    name = type(model).__name__
    kinds = {kind for module in model.modules() for kind in type(module).__mro__}
    if "in_visual_dim" in model.config:
        return [_cells]
    if "r_timestep" in names:
        return [_frames]
    if _TOKENS & names:
        return [_tokens, _image, _film]
    if "n_fft" in model.config:
        return [_samples, _sound]
    if "audio_acoustic_hidden_dim" in model.config:
        return [_timed]
    if nn.Conv1d in kinds and not kinds & {nn.Conv2d, nn.Conv3d}:
        return [_sound, _timed, _tokens, _vector]
    if "1D" in name or (any(word in name for word in _SOUND) and nn.Conv3d not in kinds):
        return [_sound, _timed, _image, _vector]
    if "3D" in name or nn.Conv3d in kinds or "Video" in name or "Motion" in name:
        order = [_frames, _film] if _images_apart(kinds) else [_film, _frames]
        return [*order, _tokens, _image]
    if not kinds & {nn.Conv2d, nn.Conv1d}:
        return [_image, _tokens, _vector, _film] if "2D" in name else [_tokens, _vector, _image]
    return [_image, _film, _tokens, _sound]


def _images_apart(kinds: set[type]) -> bool:
    """Whether the model of a film embeds its images one by one, as CogVideoX and SVD do."""
    return nn.Conv2d in kinds and nn.Conv3d not in kinds


def _image(config: Mapping[str, Any], width: int, codes: bool) -> Iterator[Latent]:
    high, across = sides(config, _PIXELS if codes else 2 * 32)
    yield Latent(floats(1, width, high, across), 1, high, across)


def _film(config: Mapping[str, Any], width: int, codes: bool) -> Iterator[Latent]:
    high, across = sides(config, _PIXELS if codes else 32)
    for frames in _FRAMES if codes else (_length(config), 1):
        yield Latent(floats(1, width, frames, high, across), frames, high, across)


def _frames(config: Mapping[str, Any], width: int, codes: bool) -> Iterator[Latent]:
    for film in _film(config, width, codes):
        yield film._replace(value=film.value.transpose(1, 2))


def _cells(config: Mapping[str, Any], width: int, codes: bool) -> Iterator[Latent]:
    """A film with its channels last, beside them those of the given frames and their mask."""
    high, across = sides(config, 32)
    for channels_ in (2 * width + 1, width):
        yield Latent(floats(1, 4, high, across, channels_), 4, high, across)


def _length(config: Mapping[str, Any]) -> int:
    """Frames of a latent film."""
    frames = number(config, ("sample_frames", "num_frames"))
    step = number(config, ("temporal_compression_ratio",), 1)
    return (frames - 1) // step + 1 if frames else _LATENT_FRAMES


def _tokens(config: Mapping[str, Any], width: int, codes: bool) -> Iterator[Latent]:
    high, across = sides(config, 16)
    yield Latent(floats(1, high * across, width), 1, high, across)


def _sound(config: Mapping[str, Any], width: int, codes: bool) -> Iterator[Latent]:
    length = _SAMPLES if codes else number(config, ("sample_size",), _SIGNAL)
    yield Latent(floats(1, width, length), length)


def _samples(config: Mapping[str, Any], width: int, codes: bool) -> Iterator[Latent]:
    yield Latent(floats(1, _SAMPLES))


def _timed(config: Mapping[str, Any], width: int, codes: bool) -> Iterator[Latent]:
    yield Latent(floats(1, _SIGNAL, width), _SIGNAL)


def _vector(config: Mapping[str, Any], width: int, codes: bool) -> Iterator[Latent]:
    yield Latent(floats(1, width))
