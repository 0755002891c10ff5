"""What torchaudio can build by name: builders, classes and the models of its pipelines."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

# Arguments without a default: values of the documentation's own examples and of the published
# pipelines (an RNN-T over 4,096 sentence pieces and a blank, music of four sources).
_MUSIC = ["drums", "bass", "other", "vocals"]
_ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "Conformer": {
        "input_dim": 80,
        "num_heads": 4,
        "ffn_dim": 128,
        "num_layers": 4,
        "depthwise_conv_kernel_size": 31,
    },
    "DeepSpeech": {"n_feature": 80},
    "Emformer": {
        "input_dim": 512,
        "num_heads": 8,
        "ffn_dim": 2048,
        "num_layers": 20,
        "segment_length": 4,
        "right_context_length": 1,
    },
    "HDemucs": {"sources": _MUSIC},
    "WaveRNN": {"upsample_scales": [5, 5, 11], "n_classes": 256, "hop_length": 275},
    "emformer_rnnt_base": {"num_symbols": 4097},
    "hdemucs_high": {"sources": _MUSIC},
    "hdemucs_low": {"sources": _MUSIC},
    "hdemucs_medium": {"sources": _MUSIC},
}
# Built from whole modules, or from a dozen sizes: the builders beside them say which.
_PARTS = frozenset({"HuBERTPretrainModel", "RNNT", "SquimObjective", "SquimSubjective"})
_TASKS = {
    "conv_tasnet": "audio-to-audio",
    "hdemucs": "audio-to-audio",
    "hubert": "feature-extraction",
    "squim": "audio-classification",
    "tacotron2": "text-to-speech",
    "wav2vec2": "feature-extraction",
    "wavlm": "feature-extraction",
    "wavernn": "text-to-speech",
}
_FAMILIES = ("hubert", "wavlm", "wav2vec2", "hdemucs", "emformer", "squim", "tacotron2", "wavernn")
# Pipelines of wav2vec 2.0 under names that do not say so.
_WAV2VEC2 = ("voxpopuli", "mms")


def builders() -> dict[str, Callable[[], Any]]:
    """Every name with what builds its model without weights."""
    return dict(_of_models()) | dict(_of_pipelines())


def family(name: str) -> str:
    """The design, in the words of transformers' model types where it has it."""
    lower = name.lower().replace("convtasnet", "conv_tasnet")
    if lower.startswith(_WAV2VEC2):
        return "wav2vec2"
    if "griffinlim" in lower or lower.startswith("tacotron2"):
        return "tacotron2"
    for word in _FAMILIES:
        if word in lower:
            return word
    return lower.removesuffix("_base").partition("_base_")[0]


def task(name: str) -> str:
    """In the words of the Hugging Face Hub."""
    if "_ASR_" in name or name == "MMS_FA":
        return "automatic-speech-recognition"
    return _TASKS.get(family(name), "automatic-speech-recognition")


def _of_models() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Functions and classes of `torchaudio.models` that need no more than `_ARGUMENTS`."""
    from torch import nn
    from torchaudio import models

    for name in models.__all__:
        make = getattr(models, name)
        if name in _PARTS or (isinstance(make, type) and not issubclass(make, nn.Module)):
            continue
        given = _ARGUMENTS.get(name, {})
        parameters = inspect.signature(make).parameters.values()
        if all(item.default is not item.empty or item.name in given for item in parameters):
            yield name, partial(make, **given)


def _of_pipelines() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Models of `torchaudio.pipelines`, which publishes each with its sizes."""
    from torchaudio import models, pipelines

    for name in pipelines.__all__:
        bundle = getattr(pipelines, name)
        if isinstance(bundle, type):
            continue
        if hasattr(bundle, "_params"):
            make = models.wavlm_model if bundle._model_type == "WavLM" else models.wav2vec2_model
            yield name, partial(make, **bundle._params)
        elif hasattr(bundle, "_tacotron2_params"):
            yield name, partial(models.Tacotron2, **bundle._tacotron2_params)
        for factory in ("_model_factory_func", "_rnnt_factory_func"):
            if hasattr(bundle, factory):
                yield name, getattr(bundle, factory)
        if name.startswith("SQUIM_"):
            yield name, getattr(models, f"{name.lower()}_base")
