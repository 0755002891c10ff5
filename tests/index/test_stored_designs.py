"""What the index has of a design explains it: nothing is built, and no library is imported."""

import pickle

import numpy as np
import pytest

import nar_plugin
from nar_plugin.index.store.graphs import (
    decode_classes,
    decode_edges,
    encode_classes,
    encode_edges,
)
from nar_plugin.index.stored_designs import stored_design
from nar_plugin.mining import mine

pytest.importorskip("timm")


def test_edges_are_steps_and_reaches():
    edges = np.array([[0, 1], [0, 2], [1, 2], [2, 5]], dtype=np.int32)
    steps, reaches = encode_edges(edges)
    assert (steps.tolist(), reaches.tolist()) == ([1, 1, 0, 3], [1, 2, 1, 3])
    assert decode_edges(steps, reaches).tolist() == edges.tolist()
    assert decode_edges(*encode_edges(edges[:0])).shape == (0, 2)


def test_one_class_for_all_numbers_is_one_line():
    classes = {
        "": "Net",
        "layer1": "Sequential",
        "layer1.0": "Block",
        "layer1.1": "Block",
        "heads.0": "Linear",
        "heads.1": "Identity",
    }
    text = encode_classes(classes)
    assert text.splitlines() == [
        "=Net", "layer1=Sequential", "layer1.*=Block", "heads.0=Linear", "heads.1=Identity"
    ]  # fmt: skip
    paths = ["layer1.0", "layer1.1.conv", "heads.0", "heads.1"]
    assert decode_classes(text, paths) == classes


@pytest.mark.parametrize("name", ["timm:resnet18", "timm:vit_tiny_patch16_224"])
def test_a_stored_design_is_the_traced_one(name):
    index = nar_plugin.load_index()
    (row, _) = index.by_name(name)
    traced = mine(nar_plugin.trace(name))
    stored = stored_design(index, row.fingerprint)
    assert stored.graph.fingerprint == traced.graph.fingerprint == row.fingerprint
    assert stored.graph.paths == traced.graph.paths
    assert (stored.graph.params, stored.graph.flops) == (traced.graph.params, traced.graph.flops)
    assert stored.spans.tolist() == traced.spans.tolist()
    assert [motif.label for motif in stored.motifs] == [motif.label for motif in traced.motifs]


def without_flops(explanation):
    """What an explanation tells, but for the FLOPs of parts, which a trace alone knows."""
    told = explanation.to_dict()
    del told["likeness"]  # of rows it is of vectors in float16
    for row in told["rows"]:
        for side in ("a", "b"):
            if row[side]:
                del row[side]["flops"]
    return told


def test_a_comparison_of_two_names_says_what_a_traced_one_says():
    pair = "timm:resnet50", "timm:seresnet50"
    known, traced = nar_plugin.compare(*pair), nar_plugin.compare(*pair, trace=True)
    assert (known.a.method, traced.a.method) == ("index", "meta")
    assert without_flops(known.explanation) == without_flops(traced.explanation)
    assert known.likeness == pytest.approx(traced.likeness, abs=1e-5)


def test_a_hit_is_explained_where_its_library_is_not_here(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("something was built")

    similar = nar_plugin.find_similar("timm:resnet50", k=1, where={"library": "mmdet"})
    monkeypatch.setattr("nar_plugin.references.as_model", refuse)
    explanation = similar.explain(0)
    assert similar[0].name.startswith("mmdet:")
    told = explanation.to_dict()
    assert (told["a"], told["b"]) == ("timm:resnet50", similar[0].name)
    assert told["verdict"]["kind"] == "same backbone"
    assert "Bottleneck" in str(explanation)


def test_an_unknown_fingerprint_has_no_design():
    assert stored_design(nar_plugin.load_index(), "nar0") is None


def test_an_index_without_graphs_explains_by_building():
    index = nar_plugin.load_index()
    rows, vectors = index.rows()[:200], index.vectors[:200]
    manifest = index.manifest
    few = type(index).from_rows(
        rows,
        vectors,
        manifest.encoder,
        manifest.encoder_sha256,
        tracer=manifest.tracer,
        fingerprint=manifest.fingerprint,
    )
    assert stored_design(few, rows[0].fingerprint) is None
    similar = nar_plugin.find_similar("timm:resnet18", k=1, index=few, where={"library": "timm"})
    assert "timm:" in str(similar.explain(0))


def test_a_pickle_leaves_the_index_behind():
    similar = nar_plugin.find_similar("timm:resnet18", k=1)
    content = pickle.dumps(similar)
    assert len(content) < 1_000_000
    assert pickle.loads(content) == similar
