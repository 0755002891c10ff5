import pytest

from nar_plugin.mining.macro import MotifCount
from nar_plugin.report import Hit, IndexInfo, Query, SharedMotif, SimilarArchitectures


@pytest.fixture(autouse=True)
def _in_this_process(in_this_process):
    pass


@pytest.fixture
def query():
    return Query(
        name="timm:resnet50",
        library="timm",
        params=25_557_032,
        flops=8_178_000_000,
        ops=174,
        fingerprint="nar1:0123456789abcdef",
        design="nar1:fedcba9876543210",
        inputs="1 image of 3x224x224",
        motifs=(MotifCount("shape-a", "Bottleneck", 12, 9),),
    )


@pytest.fixture
def index_info():
    return IndexInfo(
        "embedded", "2026.11.21", architectures=1461, graphs=1203, encoder="gnn-1", age="3 days old"
    )


@pytest.fixture
def make_hit():
    def make(**changes):
        values = {
            "rank": 1,
            "name": "timm:resnet101",
            "names": ("timm:resnet101",),
            "score": 0.98765,
            "family": "resnet",
            "library": "timm",
            "task": "image-classification",
            "params": 44_549_160,
            "flops": 15_600_000_000,
            "fingerprint": "nar1:00ff",
            "exact": False,
            "shared_motifs": (SharedMotif("Bottleneck", "shape-a", 12, 29, 9),),
            "licence": "Apache-2.0",
            "url": "https://huggingface.co/timm",
        }
        return Hit(**(values | changes))

    return make


@pytest.fixture
def similar(query, index_info, make_hit):
    same = ("timm:resnet50", "torchvision:resnet50", "timm:resnet50.a1_in1k", "timm:resnet50.a2")
    hits = (
        make_hit(name=same[0], names=same, score=1.0, exact=True, params=25_557_032),
        make_hit(rank=2),
        make_hit(
            rank=3,
            name="transformers:deformable_detr/DeformableDetrForObjectDetection",
            names=("transformers:deformable_detr/DeformableDetrForObjectDetection",),
            score=0.6123,
            family="deformable_detr",
            task="zero-shot-object-detection",
            shared_motifs=(
                SharedMotif("DeformableDetrConvEncoderLayer", "shape-b", 12, 6, 34),
                SharedMotif("Bottleneck", "shape-a", 12, 29, 9),
                SharedMotif("third", "shape-c", 1, 1, 3),
            ),
        ),
    )
    return SimilarArchitectures(query=query, index=index_info, hits=hits)
