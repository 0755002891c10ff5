"""What transformers' plugin reads from transformers' models, and how it builds them."""

import importlib
import sys
from typing import Any

import pytest
import torch
from nar_plugin.hooks import transformers as plugin
from torch import nn

from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.tracing import trace

transformers = pytest.importorskip("transformers")


_OF_SOME_TYPES = {
    f"transformers:{name}"
    for name in ("bert", "clip", "clip_text_model", "clip_vision_model", "bark", "patchtst")
} | {"transformers:ernie4_5_vl_moe", "transformers:sam2_video", "transformers:ernie4_5_vl_moe_text"}


@pytest.fixture(scope="module")
def listed() -> dict[str, NamedArchitecture]:
    return {item.name: item for item in plugin.nar_architectures()}


def built(name: str) -> Any:
    with torch.device("meta"):
        model = plugin.nar_build(name)
    assert isinstance(model, nn.Module)
    return model


def first_guess(name: str) -> dict[str, Any]:
    guesses = plugin.nar_example_inputs(built(name))
    assert guesses is not None
    return dict(next(iter(guesses)).kwargs)


def test_names_are_of_a_type_or_of_a_type_and_a_class(listed: dict[str, NamedArchitecture]) -> None:
    assert len(listed) == len(list(plugin.nar_architectures()))
    assert {"transformers:bert", "transformers:bert/BertForMaskedLM"} <= set(listed)
    assert "transformers:bert/BertModel" not in listed
    assert all(name.count("/") <= 1 and name.count(":") == 1 for name in listed)


@pytest.mark.parametrize(
    ("alone", "pair"),
    [
        ("BertModel", "bert"),
        ("BertForMaskedLM", "bert/BertForMaskedLM"),
        ("T5EncoderModel", "t5/T5EncoderModel"),
        ("Gemma3ForCausalLM", "gemma3_text/Gemma3ForCausalLM"),
    ],
)
def test_a_class_alone_is_that_of_its_own_type(alone: str, pair: str) -> None:
    model, other = built(f"transformers:{alone}"), built(f"transformers:{pair}")
    assert type(model).__name__ == type(other).__name__
    assert model.config.to_dict() == other.config.to_dict()


def test_what_is_no_model_of_transformers_is_no_class_alone() -> None:
    for name in ("AutoModel", "PreTrainedModel", "BertTokenizerFast", "BertConfig", "BertModl"):
        with pytest.raises(PluginError, match="no architecture named"):
            built(f"transformers:{name}")


@pytest.mark.parametrize(
    ("name", "family", "task"),
    [
        ("clipseg/CLIPSegForImageSegmentation", "clipseg", "image-segmentation"),
        ("xlnet/XLNetForQuestionAnswering", "xlnet", "question-answering"),
        ("bert", "bert", "feature-extraction"),
        ("bert/BertForMaskedLM", "bert", "fill-mask"),
        ("llama/LlamaForCausalLM", "llama", "text-generation"),
        ("vit", "vit", "image-feature-extraction"),
        ("convnextv2/ConvNextV2ForImageClassification", "convnext", "image-classification"),
        ("whisper/WhisperForConditionalGeneration", "whisper", "automatic-speech-recognition"),
        ("detr/DetrForObjectDetection", "detr", "object-detection"),
        ("qwen3_5_text", "qwen3_5", "feature-extraction"),
    ],
)
def test_family_and_task(
    listed: dict[str, NamedArchitecture], name: str, family: str, task: str
) -> None:
    found = listed[f"transformers:{name}"]
    assert (found.family, found.task, found.licence) == (family, task, "Apache-2.0")


def test_every_public_model_with_a_forward_is_listed(listed: dict[str, NamedArchitecture]) -> None:
    """The package's own exports of some modules, against the list."""
    classes = {name.rpartition("/")[2] for name in listed}
    bases = {type(built(name)).__name__ for name in listed if name in _OF_SOME_TYPES}
    for module in ("bert", "clip", "bark", "patchtst", "ernie4_5_vl_moe", "sam2_video"):
        source = importlib.import_module(f"transformers.models.{module}.modeling_{module}")
        for name in source.__all__:
            owner = getattr(source, name)
            if not issubclass(owner, transformers.PreTrainedModel):
                continue
            abstract = owner.forward is nn.Module.forward and not name.endswith("Model")
            old = name.startswith("Ernie4_5_VL_Moe")  # deprecated for Ernie4_5_VLMoe...
            if not abstract and not old and not name.endswith("PreTrainedModel"):
                assert name in classes | bases, name
            if old or name.endswith("PreTrainedModel"):
                assert name not in classes | bases, name


def test_a_class_is_named_by_a_type_that_can_be_looked_up(
    listed: dict[str, NamedArchitecture],
) -> None:
    """`fine_acoustics` is what Bark's part calls itself; no auto class knows it."""
    assert "transformers:clip_text_model/CLIPTextModelWithProjection" in listed
    assert "transformers:bark/BarkFineModel" in listed
    provenance = plugin.nar_provenance(built("transformers:bark/BarkFineModel"))
    assert provenance is not None
    assert provenance.name == "transformers:bark/BarkFineModel"


@pytest.mark.parametrize(
    "name",
    [
        "bert",
        "bert/BertForMultipleChoice",
        "gpt2/GPT2LMHeadModel",
        "t5/T5ForSequenceClassification",
        "esm",  # its default has no vocabulary
        "layoutlm",
        "tapas",
        "vit",
        "segformer/SegformerForSemanticSegmentation",
        "detr/DetrForObjectDetection",
        "sam",
        "clip",
        "llava",
        "qwen2_vl",
        "videomae/VideoMAEForPreTraining",
        "whisper",
        "wav2vec2",
        "encodec",
        "patchtst/PatchTSTForRegression",
        "informer",
        "decision_transformer",
        "vision-encoder-decoder/VisionEncoderDecoderModel",
        "bark/BarkFineModel",
        "gemma4_vision",
        "luke/LukeForEntitySpanClassification",
        "minicpm_ocr_vision",
        "rag/RagModel",
        "sam2_video",
        "speecht5/SpeechT5ForSpeechToSpeech",
        "visual_bert/VisualBertForQuestionAnswering",
        "xclip_vision_model/XCLIPVisionModel",
    ],
)
def test_a_model_is_built_without_weights_and_traced(name: str) -> None:
    model = built(f"transformers:{name}")
    assert all(parameter.is_meta for parameter in model.parameters())
    graph = trace(model)
    assert (len(graph) > 0, graph.method) == (True, "meta")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("blip/BlipForQuestionAnswering", "text_decoder"),  # only the loss reads it
        ("csm", "codec_model.encoder"),
        ("diffusion_gemma", "encoder.vision_tower"),
        ("diffusion_gemma/DiffusionGemmaDecoderModel", "layers.0.self_attn"),
        ("edgetam_video", "memory_attention"),
        ("ernie4_5_vl_moe_text/Ernie4_5_VLMoeTextModel", "layers.1.mlp.vision_moe"),
        ("gemma4_assistant/Gemma4AssistantForCausalLM", "model.layers.0.self_attn"),
        ("granite4_vision", "spatial_projectors"),
        ("hy_v4_vl", "vision_tower"),
        ("instructblip_qformer/InstructBlipQFormerModel", "encoder.layer.0.crossattention"),
        ("llama4@meta-llama/Llama-4-Scout-17B-16E-Instruct", "vision_model"),
        ("moshi/MoshiForConditionalGeneration", "depth_decoder"),
        ("muse_spark", "audio_tower"),
        ("neomme", "patch_embeddings"),
        ("omniasr", "audio_tower"),
        (
            "prompt_depth_anything/PromptDepthAnythingForDepthEstimation",
            "neck.fusion_stage.layers.0.prompt_depth_layer",
        ),
        ("qwen3_asr/Qwen3ASRForTokenClassification", "model.audio_tower"),
        ("sam2_video", "memory_attention"),
        ("shieldgemma2/Gemma3ForConditionalGeneration", "model.vision_tower"),
        ("vibevoice", "model.audio_tower"),
        (
            "visual_bert/VisualBertForMultipleChoice",
            "visual_bert.embeddings.visual_projection",
        ),
        ("vitpose/VitPoseForPoseEstimation", "backbone.encoder.layer.11"),
        ("whisper/WhisperForCausalLM", "model.decoder.layers.0.encoder_attn"),
    ],
)
def test_a_part_that_few_inputs_reach_is_traced(name: str, part: str) -> None:
    graph = trace(built(f"transformers:{name}"))
    assert graph.method == "meta"
    assert any(path.startswith(part) for path in graph.paths)


def test_tokens_are_real_ordinary_and_uncached() -> None:
    given = first_guess("transformers:bert/BertForMaskedLM")
    ids = given["input_ids"]
    assert ids.shape == (1, 64)
    assert ids.device.type == "cpu"
    assert len(ids.unique()) > 1
    assert 0 not in ids  # BERT's padding
    assert set(first_guess("transformers:gpt2")) == {"input_ids", "use_cache"}
    assert first_guess("transformers:gpt2")["use_cache"] is False


def test_the_text_holds_a_place_for_each_token_of_the_image() -> None:
    model = built("transformers:llava")
    given = first_guess("transformers:llava")
    config = model.config.vision_config
    patches = (config.image_size // config.patch_size) ** 2
    places = given["input_ids"] == model.config.image_token_id
    assert places.sum() == patches
    assert given["pixel_values"].is_meta


def test_the_text_model_of_a_composite_takes_the_inner_configuration() -> None:
    model = built("transformers:llama4/Llama4ForCausalLM")
    assert model.config.model_type == "llama4_text"


def test_a_head_that_any_language_model_may_wear() -> None:
    model = built("transformers:qwen2/JevForDecision")
    assert type(model.model).__name__ == "Qwen2Model"
    assert model.proj.in_features == model.model.config.hidden_size


def test_paddings_and_positions_have_their_values_again() -> None:
    """Mimi pads by buffers; as in `MimiConv1d`, a kernel of 7 and a stride of 1 pad 6."""
    model = built("transformers:mimi")
    first = model.encoder.encoder_seanet.layers[0]
    assert (int(first.kernel_size), int(first.padding_total)) == (7, 6)
    assert all(parameter.is_meta for parameter in model.parameters())
    positions = built("transformers:bert").embeddings.position_ids
    assert positions[0].tolist() == list(range(512))


def test_where_a_model_came_from() -> None:
    config = transformers.BertConfig(num_hidden_layers=1, name_or_path="google/bert_uncased")
    with torch.device("meta"):
        model = transformers.BertForMaskedLM(config)
    provenance = plugin.nar_provenance(model)
    assert provenance is not None
    assert provenance.name == "transformers:bert/BertForMaskedLM"
    assert provenance.hub_id == "google/bert_uncased"


def test_a_class_outside_the_auto_classes_is_built() -> None:
    assert type(built("transformers:clip/CLIPTextModelWithProjection")).__name__ == (
        "CLIPTextModelWithProjection"
    )


def test_other_models_are_left_to_other_plugins() -> None:
    plain = torch.nn.Conv2d(3, 8, 3)
    assert plugin.nar_provenance(plain) is None
    assert plugin.nar_example_inputs(plain) is None
    assert plugin.nar_build("timm:resnet18") is None


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("transformers:brt", "transformers:bert"),
        ("transformers:bert/BertForMaskedLm", "transformers:bert/BertForMaskedLM"),
        ("transformers:trocr", "transformers:trocr/TrOCRForCausalLM"),  # has no base class
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(name: str, near: str) -> None:
    with pytest.raises(PluginError, match=near):
        plugin.nar_build(name)


def test_a_default_that_cannot_be_built_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which defaults are incomplete changes with each release, so this one is made so."""

    def refuse(*_: Any, **__: Any) -> None:
        raise ValueError("layers of no kind")

    monkeypatch.setattr(transformers.BertConfig, "__init__", refuse)
    words = r"cannot build transformers:bert/BertForMaskedLM from its default configuration: "
    with pytest.raises(PluginError, match=words + r"layers of no kind\nGive a complete one: `nar"):
        built("transformers:bert/BertForMaskedLM")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert list(plugin.nar_architectures()) == []
    with pytest.raises(PluginError, match=r"pip install nar-plugin\[transformers\]"):
        plugin.nar_build("transformers:bert")
