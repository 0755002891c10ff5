"""SpeechBrain: networks for speech, each with an example in its docstring."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from nar_plugin.catalogue import Catalogue, Entry

from ._shared import class_catalogue, docstring_examples, torchaudio_import

_TASKS = {
    "diffwave": "text-to-speech",
    "hifigan": "text-to-speech",
    "fastspeech2": "text-to-speech",
    "tacotron2": "text-to-speech",
    "mstacotron2": "text-to-speech",
    "conv_tasnet": "audio-to-audio",
    "dual_path": "audio-to-audio",
    "resepformer": "audio-to-audio",
    "segan_model": "audio-to-audio",
    "metricgan": "audio-to-audio",
    "metricgan_u": "audio-to-audio",
    "enhanceresnet": "audio-to-audio",
    "ecapa_tdnn": "audio-classification",
    "xvector": "audio-classification",
    "resnet": "audio-classification",
    "cnn14": "audio-classification",
    "beats": "audio-classification",
    "crdnn": "automatic-speech-recognition",
    "contextnet": "automatic-speech-recognition",
    "transformerasr": "automatic-speech-recognition",
    "conformer": "automatic-speech-recognition",
    "rnnlm": "text-generation",
    "transformerlm": "text-generation",
}

_LAYERS = """losses loss schedulers activations normalization pooling dropout linear embedding
containers utils CNN quantisers q_normalization q_pooling q_linear c_normalization c_linear
fairseq_wav2vec kmeans""".split()


def _entries() -> Mapping[str, Entry]:
    torchaudio_import.import_torchaudio()
    classes = (
        item
        for package in ("speechbrain.lobes.models", "speechbrain.nnet")
        for item in class_catalogue.classes_below(package, skip=_LAYERS)
    )
    found: Mapping[str, Entry] = docstring_examples.entries(classes, task=_task)
    return found


def _task(owner: type) -> str:
    return _TASKS.get(owner.__module__.rpartition(".")[2].lower(), "feature-extraction")


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="speechbrain",
    distribution="speechbrain",
    licence="Apache-2.0",
    url="https://github.com/speechbrain/speechbrain",
    entries=_entries,
    inputs=partial(docstring_examples.inputs, package="speechbrain"),
).hooks()
