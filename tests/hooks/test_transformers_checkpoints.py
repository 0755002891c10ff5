"""The tables of real checkpoints: their rows are whole, and the models have the published size."""

import inspect
import re
import sys
from collections import Counter
from typing import Any

import pytest
import torch
from nar_plugin.hooks import transformers as plugin
from nar_plugin.hooks.transformers.checkpoints import (
    Checkpoint,
    checkpoints,
    configuration,
    sources,
)

from nar_plugin.errors import PluginError
from nar_plugin.tracing import trace

transformers = pytest.importorskip("transformers")

_HUB_ID = re.compile(r"([\w-]+/)?[\w-][\w.-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_OPTIONAL = re.compile(r"""getattr\(config, "(\w+)",""")


def built(name: str) -> Any:
    with torch.device("meta"):
        return plugin.nar_build(f"transformers:{name}")


def parameters(name: str) -> int:
    return sum(item.numel() for item in built(name).parameters())


def test_every_row_says_where_its_numbers_can_be_read() -> None:
    for source in sources().values():
        if "package" in source:
            assert set(source) == {"package", "version"}
        else:
            assert set(source) == {"repository", "commit"}
            assert source["repository"].count("/") == 1
            assert _COMMIT.fullmatch(source["commit"])
    for row in checkpoints().values():
        assert row.source in sources()
        assert row.path
        assert (row.params is None) == (row.params_source is None)
        assert row.params is not None or not row.params_checked
        assert row.also_source is None or row.also_source in sources()
        assert (row.also_source is None) == (row.also_path is None)
        assert row.base_source is None or row.base_source in sources()
        assert (row.base_source is None) == (row.base_path is None)
        assert row.base_source is None or row.also_source is not None


def test_a_learned_table_of_positions_has_a_stated_size() -> None:
    learned = [row for row in checkpoints().values() if row.model_type in ("gpt2", "gpt_bigcode")]
    assert learned
    for row in learned:
        if row.source == "gpu_poor":  # states no number of positions
            assert row.also_source is not None, row.name


def test_the_positions_of_a_row_are_built() -> None:
    config = configuration(checkpoints()["gpt2@AI-Sweden/gpt-sw3-20b"])
    assert config.n_positions == 2048
    config = configuration(checkpoints()["gpt2@microsoft/DialoGPT-medium"])
    assert config.n_positions == 1024  # the default


def test_a_repository_of_the_hub_is_named_once() -> None:
    rows = list(checkpoints().values())
    assert all(_HUB_ID.fullmatch(row.hub_id) for row in rows)
    assert Counter(row.hub_id for row in rows).most_common(1)[0][1] == 1


def test_types_and_classes_are_those_of_transformers() -> None:
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    present = set(dir(transformers))
    rows = checkpoints().values()
    assert {row.model_type for row in rows} <= set(CONFIG_MAPPING)
    assert {row.class_name for row in rows} <= present


def _unknown_fields(row: Checkpoint, known: dict[str, set[str]]) -> set[str]:
    """Overrides that the type's configuration neither has nor maps, and that no layer asks for."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    if row.model_type not in known:
        kind = CONFIG_MAPPING[row.model_type]
        known[row.model_type] = {*kind().to_dict(), *kind.attribute_map, "num_labels"}
        known[row.model_type] |= _asked_for(getattr(transformers, row.class_name))
    return set(row.overrides) - known[row.model_type]


def _asked_for(model: type) -> set[str]:
    """Fields that the layers read if the configuration has them, such as Qwen3-MoE's `head_dim`."""
    return set(_OPTIONAL.findall(inspect.getsource(sys.modules[model.__module__])))


@pytest.mark.slow
def test_overrides_are_fields_of_the_configuration() -> None:
    known: dict[str, set[str]] = {}
    unknown = {row.name: _unknown_fields(row, known) for row in checkpoints().values()}
    assert {name: fields for name, fields in unknown.items() if fields} == {}


def test_the_configuration_has_what_the_row_states() -> None:
    row = checkpoints()["t5@google/t5-efficient-small-el16-dl2"]
    config = configuration(row)
    assert (config.num_layers, config.num_decoder_layers) == (16, 2)
    assert config.d_model == 512  # the default, so not in the row
    assert "d_model" not in row.overrides


def test_names_are_listed_with_their_repository() -> None:
    listed = {item.name: item for item in plugin.nar_architectures()}
    item = listed["transformers:bert@google/bert_uncased_L-2_H-128_A-2"]
    assert item.hub_id == "google/bert_uncased_L-2_H-128_A-2"
    assert (item.family, item.task, item.composed) == ("bert", "fill-mask", False)
    assert item.url == "https://huggingface.co/google/bert_uncased_L-2_H-128_A-2"


def test_a_row_named_after_a_resnet_has_that_one() -> None:
    named = [row for row in checkpoints().values() if "detr-resnet-" in row.hub_id]
    assert len(named) == 8
    for row in named:
        depth = row.hub_id.partition("detr-resnet-")[2].partition("-")[0]
        assert configuration(row).backbone_config.backbone == f"resnet{depth}", row.hub_id


def test_rows_of_two_sizes_are_two_designs() -> None:
    """The distilled Blenderbots have 12 decoder layers, the one of 3B has 24 (paddlenlp)."""
    layers = {row.hub_id: configuration(row) for row in checkpoints().values()
              if row.model_type == "blenderbot"}  # fmt: skip
    assert {name: config.decoder_layers for name, config in layers.items()} == {
        "facebook/blenderbot-1B-distill": 12,
        "facebook/blenderbot-3B": 24,
        "facebook/blenderbot-400M-distill": 12,
    }


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("t5@google/t5-efficient-small-nl40", 310_250_000),  # its card
        ("detr@facebook/detr-resnet-101", 60_000_000),  # DETR, arXiv:2005.12872, table 1
        ("roberta@FacebookAI/roberta-large", 355_000_000),  # fairseq's README
        ("clip@openai/clip-vit-large-patch14", 427_616_513),  # mteb's registry
        ("rt_detr@PekingU/rtdetr_r101vd", 76_000_000),  # RT-DETR, arXiv:2304.08069, table 2
        ("mistral@mistralai/Mistral-7B-Instruct-v0.2", 7_241_732_096),  # mteb's registry
        ("siglip@google/siglip-base-patch16-224", 203_155_970),  # mteb's registry
        ("clip@laion/CLIP-ViT-H-14-laion2B-s32B-b79K", 986_110_000),  # open_clip's profile
        ("vit@google/vit-large-patch16-224", 304_326_632),  # torchvision's vit_l_16
        ("swin@microsoft/swin-base-patch4-window7-224", 87_768_224),  # torchvision's swin_b
        ("regnet@facebook/regnet-y-320", 145_046_770),  # torchvision's regnet_y_32gf
        ("qwen2@Qwen/Qwen2.5-0.5B", 494_032_768),  # keras_hub's presets
        ("qwen2@Qwen/Qwen2.5-3B", 3_085_938_688),  # keras_hub's presets
        ("qwen2@Qwen/Qwen2.5-Coder-1.5B", 1_540_000_000),  # its card
        ("llama@meta-llama/Llama-3.2-1B", 1_235_814_400),  # its card
        ("qwen3_moe@Qwen/Qwen3-30B-A3B", 30_530_000_000),  # its card
        ("deberta-v2@microsoft/deberta-v3-large", 435_000_000),  # its card: 304 M and 131 M
    ],
)
def test_size_is_the_published_one(name: str, published: int) -> None:
    assert parameters(name) == pytest.approx(published, rel=0.01)


@pytest.mark.slow
def test_rows_that_say_checked_were() -> None:
    small = [
        row
        for row in checkpoints().values()
        if row.params_checked and row.params is not None and row.params < 500_000_000
    ]
    for row in small[::4]:
        assert parameters(row.name) == pytest.approx(row.params, rel=0.01), row.name


def test_the_model_knows_its_repository() -> None:
    model = built("bert@google/bert_uncased_L-4_H-256_A-4")
    assert type(model).__name__ == "BertForMaskedLM"
    provenance = plugin.nar_provenance(model)
    assert provenance is not None
    assert provenance.hub_id == "google/bert_uncased_L-4_H-256_A-4"


def test_a_checkpoint_traces() -> None:
    graph = trace(built("bert@google/bert_uncased_L-2_H-128_A-2"))
    assert graph.method == "meta"


def test_an_unknown_checkpoint_is_refused_with_the_nearest() -> None:
    with pytest.raises(PluginError, match="bert@google/bert_uncased_L-2_H-128_A-2"):
        built("bert@google/bert_uncased_L-2_H-128_A-3")


@pytest.mark.slow
def test_every_row_is_built() -> None:
    for name in checkpoints():
        assert parameters(name) > 0, name
