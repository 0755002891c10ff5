"""Labels from facts: the reviewed table, the operators, the task."""

import json
from pathlib import Path

import pytest

pytest.importorskip("tqdm")

from nar_plugin.train.corpus import fact_labels as facts
from nar_plugin.train.corpus.corpus import read_names


def test_libraries_words_for_one_family_are_one_word():
    assert facts.family_of("timm", "vision_transformer") == facts.family_of("transformers", "vit")
    assert facts.family_of("timm", "vision_transformer")[0] == "vit"
    assert facts.family_of("mmpretrain", "VisionTransformer")[0] == "vit"
    assert facts.family_of("somewhere", "Never-Heard.Of") == ("never_heard_of", None)


@pytest.mark.parametrize(
    ("work", "attention", "convolutional", "expected"),
    [
        ({"conv": 60, "matmul": 40}, True, False, "cnn-block"),
        ({"conv": 50, "matmul": 50}, False, False, "cnn-block"),
        ({"conv": 10, "matmul": 80, "attention": 10}, True, False, "attention-block"),
        ({"conv": 10, "matmul": 90}, False, False, "other-block"),
        ({"conv": 10, "matmul": 90}, False, True, "cnn-block"),
        ({"conv": 10, "matmul": 90}, True, True, "attention-block"),
        ({"conv": 10, "matmul": 30, "lstm": 60}, False, True, "other-block"),
        ({"lstm": 100}, False, False, "other-block"),
        ({}, False, False, "other-block"),
    ],
)
def test_the_coarse_label_is_what_carries_most_flops(work, attention, convolutional, expected):
    assert facts.coarse_of(work, attention, convolutional) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("litgpt", "gemma", "litgpt:Gemma-2-2b"), ("transformers", "gemma2")),
        (("litgpt", "phi", "litgpt:phi-4"), ("transformers", "phi3")),
        (("litgpt", "mistral", "litgpt:Mixtral-8x7B-v0.1"), ("transformers", "mixtral")),
        (("mmpose", "dekr_head"), ("super-gradients", "dekr_hrnet")),
        (("mmpose", "rtmcc_head"), ("mmpose", "rtmw_head")),
        (("speechbrain", "rnn", "speechbrain:GRUCell"), ("neuralforecast", "gru")),
    ],
)
def test_one_design_in_two_libraries_has_one_family_and_one_parent(one, other):
    assert facts.family_of(*one) == facts.family_of(*other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hubert", "wav2vec2"),
        ("data2vec-vision", "beit"),
        ("metaclip_2", "clip"),
        ("xlm-roberta", "roberta"),
        ("flaubert", "xlm"),
        ("dinov2", "vit"),
    ],
)
def test_what_differs_in_training_alone_is_one_family(one, other):
    assert facts.family_of("transformers", one) == facts.family_of("transformers", other)


def test_a_row_gets_its_labels():
    name = "transformers:marian/MarianMTModel"
    row = {"library": "transformers", "defined_in": "marian", "name": name}
    row |= {"task": "text2text-generation", "work": json.dumps({"matmul": 5})}
    found = facts.labelled(row, attention=True)
    assert (found["task"], found["coarse"]) == ("translation", "attention-block")
    assert found["family"] == "marian"
    assert facts.labelled({**row, "name": "x:roberta-base"}, attention=True)["hint"] == "roberta"


@pytest.mark.parametrize(
    ("library", "defined_in", "name", "family"),
    [
        ("timm", "byobnet", "timm:repvgg_b2g4.rvgg_in1k", "repvgg"),
        ("timm", "eva", "timm:vit_small_plus_patch16_dinov3.lvd1689m", "dinov3_vit"),
        ("timm", "eva", "timm:eva02_tiny_patch14_224", "eva"),
        ("timm", "resnet", "timm:ecaresnext26t_32x4d", "ecanet"),
        ("timm", "resnet", "timm:seresnext101_32x4d", "senet"),
        ("timm", "resnet", "timm:resnet50", "resnet"),
        ("timm-3d", "efficientnet", "timm_3d:mobilenetv2_140", "mobilenetv2"),
        ("torchvision", "resnet", "torchvision:resnext101_64x4d", "resnext"),
        ("geffnet", "gen_efficientnet", "geffnet:mixnet_m", "mixnet"),
        ("mmrazor", "resnet", "mmrazor:resnext_of_a_config", "resnet"),  # names of configs say less
        ("litgpt", "gemma", "litgpt:Gemma-2-2b", "gemma2"),
        ("litgpt", "gemma", "litgpt:Gemma-2b", "gemma"),
        ("litgpt", "phi", "litgpt:Phi-3.5-mini-instruct", "phi3"),
        ("litgpt", "phi", "litgpt:phi-4", "phi3"),
        ("litgpt", "phi", "litgpt:phi-2", "phi"),
        ("litgpt", "mistral", "litgpt:Mixtral-8x7B-v0.1", "mixtral"),
        ("litgpt", "qwen_3_2507_thinking_instruct", "litgpt:Qwen3-4B-Instruct-2507", "qwen3"),
        (
            "litgpt",
            "qwen_3_2507_thinking_instruct",
            "litgpt:Qwen3-30B-A3B-Instruct-2507",
            "qwen3_moe",
        ),
        ("litgpt", "stablecode", "litgpt:stable-code-3b", "stablelm"),
        ("litgpt", "stablecode", "litgpt:stablecode-instruct-alpha-3b", "gpt_neox"),
        ("litgpt", "stablelm", "litgpt:stablelm-base-alpha-7b", "gpt_neox"),
        ("litgpt", "stablelm", "litgpt:stablelm-zephyr-3b", "stablelm"),
        ("speechbrain", "rnn", "speechbrain:SLiGRU", "light_gru"),
        ("speechbrain", "rnn", "speechbrain:QuasiRNNLayer", "quasi_rnn"),
        ("speechbrain", "rnn", "speechbrain:AttentionalRNNDecoder", "rnn"),
        ("tsai", "rnnplus", "tsai:LSTMPlus", "lstm"),
        ("pretrainedmodels", "torchvision_models", "pretrainedmodels:vgg16_bn", "vgg"),
        ("robustbench", "dm_wide_resnet", "robustbench:cifar10/Linf/X_R18_ddpm", "resnetv2"),
        ("robustbench", "dm_wide_resnet", "robustbench:cifar10/Linf/X_70_16", "wide_resnet"),
        ("mmpose", "vision_transformer", "mmpose:td-hm_ViTPose-base_8xb64", "vitpose"),
        ("ultralytics", "yolov8", "ultralytics:yolov8l-worldv2", "yolo_world"),
        ("timm", "deit", "timm:deit_base_patch16_224.fb_in1k", "vit"),  # "identical" (DeiT, sec. 3)
        ("timm", "deit", "timm:deit_base_distilled_patch16_224", "deit"),
        ("transformers", "esm", "transformers:esm/EsmForProteinFolding", "esmfold"),
        ("transformers", "esm", "transformers:esm/EsmModel", "esm"),
        ("tsai", "rnn_fcn", "tsai:LSTM_FCN", "rnn_fcn"),
    ],
)
def test_a_module_of_several_designs_is_told_apart_by_the_constructor(
    library, defined_in, name, family
):
    assert facts.family_of(library, defined_in, name)[0] == family


@pytest.mark.parametrize(
    ("defined_in", "name", "said", "task"),
    [
        ("dpr", "transformers:dpr/DPRReader", "feature-extraction", "question-answering"),
        ("mbart", "transformers:mbart/MBartForConditionalGeneration", "fill-mask", "translation"),
        ("mbart", "transformers:mbart/MBartForCausalLM", "text-generation", "text-generation"),
        (
            "lxmert",
            "transformers:lxmert/LxmertForQuestionAnswering",
            "question-answering",
            "visual-question-answering",
        ),
        ("bart", "transformers:bart/BartForConditionalGeneration", "fill-mask", "fill-mask"),
        ("pegasus", "transformers:pegasus", "text2text-generation", "feature-extraction"),
        (
            "pegasus",
            "transformers:pegasus/PegasusForConditionalGeneration",
            "text2text-generation",
            "summarization",
        ),
    ],
)
def test_a_class_may_have_a_task_of_its_own(defined_in, name, said, task):
    row = {"library": "transformers", "defined_in": defined_in, "name": name}
    row |= {"task": said, "work": None}
    assert facts.labelled(row, attention=True)["task"] == task


def test_what_codes_images_as_videos_of_one_frame_is_of_images():
    row = {"library": "diffusers", "defined_in": "autoencoder_kl_qwenimage"}
    row |= {"name": "diffusers:AutoencoderKLQwenImage", "task": "video-to-video", "work": None}
    assert facts.labelled(row, attention=True)["task"] == "image-to-image"


def test_no_word_stands_for_two_families():
    tables = facts._tables()
    families = set(tables["aliases"].values())
    assert all(family == word or word not in families for word, family in tables["aliases"].items())
    for child, parent in tables["parents"].items():
        seen = {child}
        while parent is not None:
            assert parent not in seen, f"{child} descends from itself"
            seen.add(parent)
            parent = tables["parents"].get(parent)


def test_the_labels_of_the_committed_corpus_are_those_of_the_table():
    import nar_plugin

    folder = Path(nar_plugin.__file__).parent / "data" / "corpus"
    if not (folder / "names.parquet").is_file():
        pytest.skip("the corpus is not part of the wheel")
    for row in read_names(folder):
        family = facts.family_of(row["library"], row["defined_in"], row["name"])
        assert (row["family"], row["parent"]) == family, row["name"]
        assert facts.labelled(row, attention=True)["task"] == row["task"], row["name"]
