"""What the tasks of ESPnet offer as encoder, decoder and so on, and the sizes of its recipes."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Entry

from .._shared import torchaudio_import
from .._shared.class_catalogue import arguments

if TYPE_CHECKING:
    from torch import nn

# Choices whose classes are networks; the others are losses, features and normalisations.
_CHOICES = (
    "codec decoder deliberationencoder discriminator encoder extractor lm separator synthesizer tts"
).split()
_LEFT_OUT = frozenset(
    # Nothing is learned in them.
    "IdentityEncoder NullDecoder NullEncoder STFTDecoder STFTEncoder "
    # They need fairseq, longformer, whisper, a compiler, or a checkpoint.
    "BeatsEncoder FairSeqWav2Vec2Encoder FairseqAVHubertEncoder FairseqHubertEncoder "
    "FairseqHubertPretrainEncoder LongformerEncoder OpenAIWhisperDecoder OpenAIWhisperEncoder "
    "RWKVDecoder S4Decoder TorchAudioHuBERTPretrainEncoder "
    # Their defaults do not fit together, or their inputs are more than sounds and tokens.
    "Encodec JETS JointText2Wav TransformerDiscreteSynthesizer VITS iNeuBe".split()
)
_TASKS = {
    "asvspoof": "audio-classification",
    "cls": "audio-classification",
    "diar": "voice-activity-detection",
    "enh": "audio-to-audio",
    "enh_tse": "audio-to-audio",
    "gan_codec": "audio-to-audio",
    "gan_svs": "text-to-audio",
    "gan_tts": "text-to-speech",
    "lid": "audio-classification",
    "lm": "text-generation",
    "s2st": "audio-to-audio",
    "spk": "audio-classification",
    "svs": "text-to-audio",
    "tts": "text-to-speech",
    "tts2": "text-to-speech",
}
_VALUES: dict[str, Any] = {
    "vocab_size": 500,  # pieces of words
    "encoder_output_size": 256,
    "input_size": 80,  # bands of a mel spectrogram
    "input_dim": 257,  # bands of a spectrum of 512 samples
    "output_dim": 80,
    "idim": 78,  # phonemes
    "odim": 80,
    "num_spk": 2,
}

_SPECIAL = {"BSRNNSeparator": {"input_dim": 481}, "DPTNetSeparator": {"input_dim": 256}}


def read() -> Mapping[str, Entry]:
    """One entry for each network, by the task, the choice and the name that ESPnet gives it."""
    torchaudio_import.import_torchaudio()
    found: dict[type, tuple[str, Entry]] = {}
    for task, choice, name, owner in _offered():
        given = arguments(owner, _VALUES, _SPECIAL.get(owner.__name__, {}))
        if given is not None and owner not in found:
            family = str(owner.__module__).rpartition(".")[2]
            kind = _TASKS.get(task, "automatic-speech-recognition")
            build: Any = partial(owner, **given)
            if choice == "codec":
                build = partial(_generator, build)
            found[owner] = f"{task}/{choice}/{name}", Entry(build, family, kind)
    return dict(found.values())


def _offered() -> Iterator[tuple[str, str, str, type]]:
    from espnet2 import tasks

    for item in pkgutil.iter_modules(tasks.__path__):
        try:
            module = importlib.import_module(f"{tasks.__name__}.{item.name}")
        except ImportError:  # needs an optional dependency
            continue
        for choices in vars(module).values():
            if type(choices).__name__ == "ClassChoices" and choices.name in _CHOICES:
                for name, owner in choices.classes.items():
                    if isinstance(owner, type) and owner.__name__ not in _LEFT_OUT:
                        yield item.name, choices.name, name, owner


def _generator(build: Callable[[], Any]) -> nn.Module:
    """What codes and decodes, without the discriminators of its training."""
    network: nn.Module = build().generator
    return network
