"""The part of an OpenMMLab config that says which design it is, of configs that its wheels hold."""

import pytest
from nar_plugin.hooks import mmdet3d, mmflow, mmpose, mmpretrain

RAFT = {"type": "RAFT"}
ESTIMATOR = {"type": "BottomupPoseEstimator", "backbone": {"type": "CSPDarknet"}}


@pytest.mark.parametrize(
    ("plugin", "model", "design"),
    [
        (mmflow, {**RAFT, "decoder": {"type": "RAFTDecoder"}}, None),
        (mmflow, {**RAFT, "decoder": {"type": "GMADecoder"}}, "GMADecoder"),
        (mmflow, {"type": "FlowNet2"}, None),
        (mmpose, {**ESTIMATOR, "head": {"type": "RTMOHead"}}, "RTMOHead"),
        (mmpose, {**ESTIMATOR, "head": {"type": "DEKRHead"}}, "DEKRHead"),
        (mmpose, {**ESTIMATOR, "head": {"type": "CIDHead"}}, "CIDHead"),
        (
            mmpose,
            {**ESTIMATOR, "head": {"type": "AssociativeEmbeddingHead"}},
            "AssociativeEmbeddingHead",
        ),
        (mmpose, {**ESTIMATOR, "head": {"type": "EDPoseHead"}}, "EDPoseHead"),
        (mmpose, {"type": "TopdownPoseEstimator", "head": {"type": "RTMCCHead"}}, "RTMCCHead"),
        (mmpose, {"type": "TopdownPoseEstimator", "head": {"type": "RTMWHead"}}, "RTMWHead"),
        (mmpose, {"type": "TopdownPoseEstimator", "head": {"type": "HeatmapHead"}}, None),
        (mmpose, {"type": "PoseLifter"}, None),
        (
            mmdet3d,
            {"type": "EncoderDecoder3D", "decode_head": {"type": "PAConvHead"}},
            "PAConvHead",
        ),
        (mmdet3d, {"type": "FCOSMono3D", "bbox_head": {"type": "FCOSMono3DHead"}}, None),
        (mmdet3d, {"type": "FCOSMono3D", "bbox_head": {"type": "PGDHead"}}, "PGDHead"),
        (
            mmdet3d,
            {"type": "VoxelNet", "middle_encoder": {"type": "SparseEncoder"}},
            "SparseEncoder",
        ),
        (
            mmdet3d,
            {"type": "MVXFasterRCNN", "pts_middle_encoder": {"type": "PointPillarsScatter"}},
            "PointPillarsScatter",
        ),
        (
            mmdet3d,
            {
                "type": "MVXFasterRCNN",
                "pts_middle_encoder": {"type": "PointPillarsScatter"},
                "pts_bbox_head": {"type": "ShapeAwareHead"},
            },
            "ShapeAwareHead",
        ),
        (mmdet3d, {"type": "MVXFasterRCNN", "img_backbone": {"type": "ResNet"}}, None),
    ],
)
def test_the_part_that_holds_the_design(plugin, model, design):
    assert plugin._design(model) == design


@pytest.mark.parametrize(
    ("model", "task"),
    [
        ({"type": "ImageClassifier", "head": {"type": "LinearClsHead"}}, "image-classification"),
        ({"type": "ImageClassifier", "head": None}, "image-feature-extraction"),
        ({"type": "ImageClassifier"}, "image-feature-extraction"),
    ],
)
def test_a_classifier_without_its_head_gives_features(model, task):
    assert mmpretrain._task("eva02/eva02-base-p14_headless.py", model) == task
