"""The OpenMMLab libraries: configs of their wheels, built by mmengine beside the newest torch."""

import importlib.util
import sys

import pytest

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

_LISTED = {  # configs that the wheels hold, at least
    "mmaction": 200,
    "mmdet": 780,
    "mmdet3d": 130,
    "mmocr": 55,
    "mmpose": 400,
    "mmpretrain": 500,
    "mmrotate": 80,
    "mmseg": 650,
    "mmyolo": 120,
}


def _skip_without(library):
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")


@pytest.mark.parametrize("library", _LISTED)
def test_its_configs_are_listed(library):
    _skip_without(library)
    plugin = importlib.import_module(f"nar_plugin.hooks.{library}")
    found = list(plugin.nar_architectures())
    assert len({item.name for item in found}) == len(found) >= _LISTED[library]
    assert {item.licence for item in found} == {"Apache-2.0"}
    assert not any(item.composed for item in found)


@pytest.mark.parametrize(
    ("name", "millions", "family"),
    [
        # The wheel's own resnet/metafile.yml and swin_transformer/metafile.yml.
        ("mmpretrain:resnet50_8xb32_in1k", 25.56, "resnet"),
        ("mmpretrain:swin-tiny_16xb64_in1k", 28.29, "swin_transformer"),
        # Ultralytics' table of YOLOv5.
        ("mmyolo:yolov5_s-v61_syncbn_fast_8xb16-300e_coco", 7.2, "yolov5_head"),
        # Sun et al. 2019, table 1; Xiao et al. 2018, table 3.
        ("mmpose:td-hm_hrnet-w32_8xb64-210e_coco-256x192", 28.5, "hrnet"),
        ("mmpose:td-hm_res50_8xb64-210e_coco-256x192", 34.0, "resnet"),
        # torchvision's faster_rcnn of 91 classes has 41.76 million.
        ("mmdet:faster-rcnn_r50_fpn_1x_coco", 41.75, "faster_rcnn"),
        # Xie et al. 2021, table 1a: encoder and decoder, 3.8 million with ADE20K's 150 classes.
        ("mmseg:segformer_mit-b0_8xb2-160k_ade20k-512x512", 3.8, "segformer_head"),
    ],
)
def test_published_sizes(name, millions, family):
    library = name.partition(":")[0]
    _skip_without(library)
    graph = trace(resolve(name))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, abs=0.06)
    plugin = importlib.import_module(f"nar_plugin.hooks.{library}")
    (listed,) = [item for item in plugin.nar_architectures() if item.name == name]
    assert listed.family == family


@pytest.mark.parametrize(
    "name", ["mmdet:lad_r50-paa-r101_fpn_2xb8_coco_1x", "mmagic:dim_stage1-v16_1xb1-1000k_comp1k"]
)
def test_a_model_whose_eval_returns_nothing(name):
    _skip_without(name.partition(":")[0])
    assert not resolve(name).training


def test_compiled_operators_are_one_operation_each():
    _skip_without("mmdet")
    graph = trace(resolve("mmdet:faster-rcnn_r50-dconv-c3-c5_fpn_1x_coco"))
    assert graph.method == "meta"
    # Of ResNet-50 stages 3 to 5, whose 3 x 3 convolutions are deformable: 4 + 6 + 3.
    assert sum("deform_conv" in op.kind for op in graph.ops) == 13
    assert "mmcv._ext" not in sys.modules


@pytest.mark.parametrize(
    "name",
    [
        "mmdet:grounding_dino_swin-t_pretrain_obj365_goldg_cap4m",
        "mmdet:glip_atss_swin-l_fpn_dyhead_16xb2_ms-2x_funtune_coco",  # fuses words and pictures
    ],
)
def test_detectors_that_read_are_traced_with_their_words(name):
    _skip_without("mmdet")
    graph = trace(resolve(name))
    assert graph.method == "meta"
    assert any("language_model" in path for path in graph.paths)
    assert any("backbone" in path for path in graph.paths)
