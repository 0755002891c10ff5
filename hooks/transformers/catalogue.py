"""Which (model type, class) pairs transformers lists, with their tasks and families."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

# The auto mappings in the order in which they name a class's task: the particular before the
# general. A mapping that is not here says nothing about the task.
_TASKS = {
    "AUDIO_CLASSIFICATION": "audio-classification",
    "AUDIO_FRAME_CLASSIFICATION": "audio-classification",
    "AUDIO_XVECTOR": "audio-classification",
    "CTC": "automatic-speech-recognition",
    "RNNT": "automatic-speech-recognition",
    "TDT": "automatic-speech-recognition",
    "SPEECH_SEQ_2_SEQ": "automatic-speech-recognition",
    "TEXT_TO_SPECTROGRAM": "text-to-speech",
    "TEXT_TO_WAVEFORM": "text-to-audio",
    "ZERO_SHOT_OBJECT_DETECTION": "zero-shot-object-detection",
    "OBJECT_DETECTION": "object-detection",
    "DEPTH_ESTIMATION": "depth-estimation",
    "KEYPOINT_DETECTION": "keypoint-detection",
    "KEYPOINT_MATCHING": "keypoint-matching",
    "POSE_ESTIMATION": "keypoint-detection",
    "MASK_GENERATION": "mask-generation",
    "SEMANTIC_SEGMENTATION": "image-segmentation",
    "INSTANCE_SEGMENTATION": "image-segmentation",
    "UNIVERSAL_SEGMENTATION": "image-segmentation",
    "IMAGE_SEGMENTATION": "image-segmentation",
    "IMAGE_MATTING": "image-segmentation",
    "IMAGE_TO_IMAGE": "image-to-image",
    "NORMAL_ESTIMATION": "image-to-image",
    "POINTMAP_ESTIMATION": "image-to-image",
    "TEXT_RECOGNITION": "image-to-text",
    "TABLE_RECOGNITION": "image-to-text",
    "VIDEO_CLASSIFICATION": "video-classification",
    "IMAGE_CLASSIFICATION": "image-classification",
    "ZERO_SHOT_IMAGE_CLASSIFICATION": "zero-shot-image-classification",
    "DOCUMENT_QUESTION_ANSWERING": "document-question-answering",
    "VISUAL_QUESTION_ANSWERING": "visual-question-answering",
    "TABLE_QUESTION_ANSWERING": "table-question-answering",
    "QUESTION_ANSWERING": "question-answering",
    "TOKEN_CLASSIFICATION": "token-classification",
    "SEQUENCE_CLASSIFICATION": "text-classification",
    "NEXT_SENTENCE_PREDICTION": "text-classification",
    "MULTIPLE_CHOICE": "multiple-choice",
    "RETRIEVAL": "visual-document-retrieval",
    "DECISION": "text-classification",
    "TIME_SERIES_CLASSIFICATION": "time-series-forecasting",
    "TIME_SERIES_PREDICTION": "time-series-forecasting",
    "TIME_SERIES_REGRESSION": "time-series-forecasting",
    "IMAGE_TEXT_TO_TEXT": "image-text-to-text",
    "MULTIMODAL_LM": "any-to-any",
    "CAUSAL_LM": "text-generation",
    "MASKED_LM": "fill-mask",
    "SEQ_TO_SEQ_CAUSAL_LM": "text2text-generation",
    "MASKED_IMAGE_MODELING": "image-feature-extraction",
    "CAUSAL_IMAGE_MODELING": "unconditional-image-generation",
    "BACKBONE": "image-feature-extraction",
    "IMAGE": "image-feature-extraction",
}
OTHER_TASK = "feature-extraction"

# Model types under the name that timm's and torchvision's plugins use as well.
_FAMILIES = {
    "bit": "resnetv2",
    "convnextv2": "convnext",
    "dinov2": "vit",
    "dinov3_convnext": "convnext",
    "hgnet_v2": "hgnet",
    "ijepa": "vit",
    "mobilenet_v1": "mobilenetv1",
    "mobilenet_v2": "mobilenetv2",
    "mobilevitv2": "mobilevit",
    "poolformer": "metaformer",
    "timm_backbone": "resnet",  # both wrap timm's resnet50 by default
    "timm_wrapper": "resnet",
    "vit_mae": "vit",
    "vit_msn": "vit",
}


class Pair(NamedTuple):
    """A class that transformers' auto classes list for a model type.

    Attributes:
        model_type: Such as `bert`.
        class_name: Such as `BertForMaskedLM`.
        task: In the words of the Hugging Face Hub.
        base: Whether it is what `AutoModel` builds for the type.
    """

    model_type: str
    class_name: str
    task: str
    base: bool

    @property
    def name(self) -> str:
        """The part of the reference behind `transformers:`."""
        return self.model_type if self.base else f"{self.model_type}/{self.class_name}"


@cache
def pairs() -> tuple[Pair, ...]:
    """Every pair of the auto mappings whose class the installed transformers has."""
    import transformers

    mappings = _mappings()
    present = set(dir(transformers))
    bases = {kind: names[0] for kind, names in _entries(mappings["MODEL_MAPPING_NAMES"])}
    tasks: dict[tuple[str, str], str] = {}
    for mapping, task in (
        *_known_tasks(mappings),
        *((it, OTHER_TASK) for it in mappings.values()),
    ):
        for kind, names in _entries(mapping):
            for name in names:
                tasks.setdefault((kind, name), task)
    return tuple(
        Pair(kind, name, task, bases.get(kind) == name)
        for (kind, name), task in sorted(tasks.items())
        if name in present
    )


def family(model_type: str) -> str:
    """The model type, in the words that the three libraries share.

    A text model that is registered by itself (`qwen3_5_text`) is of the family of the whole.
    """
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    whole = model_type.removesuffix("_text")
    name = whole if whole in CONFIG_MAPPING else model_type
    return _FAMILIES.get(name, name.replace("-", "_"))


def _mappings() -> dict[str, Mapping[str, str | tuple[str, ...]]]:
    from transformers.models.auto import modeling_auto

    return {
        name: value
        for name, value in vars(modeling_auto).items()
        if name.startswith("MODEL_") and name.endswith("MAPPING_NAMES")
    }


def _known_tasks(
    mappings: Mapping[str, Mapping[str, str | tuple[str, ...]]],
) -> Iterator[tuple[Mapping[str, str | tuple[str, ...]], str]]:
    for word, task in _TASKS.items():
        mapping = mappings.get(f"MODEL_FOR_{word}_MAPPING_NAMES")
        if mapping is not None:
            yield mapping, task


def _entries(
    mapping: Mapping[str, str | tuple[str, ...]],
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for kind, names in mapping.items():
        yield kind, (names,) if isinstance(names, str) else tuple(names)
