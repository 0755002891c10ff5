"""What transformers' plugin reads from transformers' models, and how it builds them."""

import importlib

import pytest
import torch
from nar_plugin.hooks import transformers as plugin
from torch import nn

from nar_plugin.errors import PluginError
from nar_plugin.tracing import trace

_OF_SOME_TYPES = {"bert", "clip", "clip_text_model", "clip_vision_model", "bark", "patchtst"}
_OF_SOME_TYPES |= {"ernie4_5_vl_moe", "ernie4_5_vl_moe_text", "sam2_video"}


@pytest.fixture(autouse=True)
def transformers(installed):
    return installed("transformers")


def built(name):
    with torch.device("meta"):
        model = plugin.nar_build(name)
    assert isinstance(model, nn.Module)
    return model


def first_guess(name):
    return next(iter(plugin.nar_example_inputs(built(name)))).kwargs


def test_names_are_of_a_type_or_of_a_type_and_a_class(listed):
    items = listed("transformers")
    assert {"bert", "bert/BertForMaskedLM"} <= set(items)
    assert "bert/BertModel" not in items
    assert all((name.count("/") <= 1, name.count(":")) == (True, 0) for name in items)


@pytest.mark.parametrize(
    ("alone", "pair"),
    [
        ("BertModel", "bert"),
        ("BertForMaskedLM", "bert/BertForMaskedLM"),
        ("T5EncoderModel", "t5/T5EncoderModel"),
        ("Gemma3ForCausalLM", "gemma3_text/Gemma3ForCausalLM"),
    ],
)
def test_a_class_alone_is_that_of_its_own_type(alone, pair):
    model, other = built(f"transformers:{alone}"), built(f"transformers:{pair}")
    assert type(model).__name__ == type(other).__name__
    assert model.config.to_dict() == other.config.to_dict()


def test_what_is_no_model_of_transformers_is_no_class_alone():
    for name in ("AutoModel", "PreTrainedModel", "BertTokenizerFast", "BertConfig", "BertModl"):
        with pytest.raises(PluginError, match="no architecture named"):
            built(f"transformers:{name}")


def test_every_public_model_with_a_forward_is_listed(transformers, listed):
    """The package's own exports of some modules, against the list."""
    names = listed("transformers")
    classes = {name.rpartition("/")[2] for name in names}
    bases = {type(built(f"transformers:{name}")).__name__ for name in _OF_SOME_TYPES & set(names)}
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


def test_a_class_is_named_by_a_type_that_can_be_looked_up(listed):
    names = {"clip_text_model/CLIPTextModelWithProjection", "bark/BarkFineModel"}
    assert names <= set(listed("transformers"))


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
def test_a_part_that_few_inputs_reach_is_traced(name, part):
    graph = trace(built(f"transformers:{name}"))
    assert graph.method == "meta"
    assert any(path.startswith(part) for path in graph.paths)


def test_tokens_are_real_ordinary_and_uncached():
    given = first_guess("transformers:bert/BertForMaskedLM")
    ids = given["input_ids"]
    assert ids.shape == (1, 64)
    assert ids.device.type == "cpu"
    assert len(ids.unique()) > 1
    assert 0 not in ids  # BERT's padding
    assert set(first_guess("transformers:gpt2")) == {"input_ids", "use_cache"}
    assert first_guess("transformers:gpt2")["use_cache"] is False


def test_the_text_holds_a_place_for_each_token_of_the_image():
    model = built("transformers:llava")
    given = first_guess("transformers:llava")
    config = model.config.vision_config
    patches = (config.image_size // config.patch_size) ** 2
    places = given["input_ids"] == model.config.image_token_id
    assert places.sum() == patches
    assert given["pixel_values"].is_meta


def test_the_text_model_of_a_composite_takes_the_inner_configuration():
    model = built("transformers:llama4/Llama4ForCausalLM")
    assert model.config.model_type == "llama4_text"


def test_a_head_that_any_language_model_may_wear():
    model = built("transformers:qwen2/JevForDecision")
    assert type(model.model).__name__ == "Qwen2Model"
    assert model.proj.in_features == model.model.config.hidden_size


def test_paddings_and_positions_have_their_values_again():
    """Mimi pads by buffers; as in `MimiConv1d`, a kernel of 7 and a stride of 1 pad 6."""
    model = built("transformers:mimi")
    first = model.encoder.encoder_seanet.layers[0]
    assert (int(first.kernel_size), int(first.padding_total)) == (7, 6)
    assert all(parameter.is_meta for parameter in model.parameters())
    positions = built("transformers:bert").embeddings.position_ids
    assert positions[0].tolist() == list(range(512))


def test_where_a_model_came_from(transformers):
    config = transformers.BertConfig(num_hidden_layers=1, name_or_path="google/bert_uncased")
    with torch.device("meta"):
        model = transformers.BertForMaskedLM(config)
    provenance = plugin.nar_provenance(model)
    assert provenance.name == "transformers:bert/BertForMaskedLM"
    assert provenance.hub_id == "google/bert_uncased"


def test_a_class_outside_the_auto_classes_is_built():
    assert type(built("transformers:clip/CLIPTextModelWithProjection")).__name__ == (
        "CLIPTextModelWithProjection"
    )


def test_a_default_that_cannot_be_built_says_why(monkeypatch, transformers):
    """Which defaults are incomplete changes with each release, so this one is made so."""

    def refuse(*_, **__):
        raise ValueError("layers of no kind")

    monkeypatch.setattr(transformers.BertConfig, "__init__", refuse)
    words = r"cannot build transformers:bert/BertForMaskedLM from its default configuration: "
    with pytest.raises(PluginError, match=words + r"layers of no kind\nGive a complete one: `nar"):
        built("transformers:bert/BertForMaskedLM")
