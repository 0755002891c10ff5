"""The main job with the index that ships: what a person asks and what comes back."""

import importlib.util
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from expected import EXPECTED
from models import ConvNet, NanoGPT, UNet
from torch import nn

import nar_plugin
from nar_plugin.errors import IndexIncompatible, IndexUnavailable, NarError, TraceError
from nar_plugin.index.stored_designs import stored_design

PRODUCTS = {"attention", "conv", "gru", "linear", "lstm", "matmul", "rnn"}

timm = pytest.importorskip("timm")
torchvision = pytest.importorskip("torchvision")
transformers = pytest.importorskip("transformers")


def meta(build):
    with torch.device("meta"):
        return build()


def families(similar):
    return [hit.family for hit in similar]


def test_resnet50_finds_resnets():
    similar = nar_plugin.find_similar(meta(lambda: timm.create_model("resnet50")), k=10)
    first = similar[0]
    assert (first.rank, first.exact, first.score) == (1, True, 1.0)
    assert {"timm:resnet50", "torchvision:resnet50"} <= set(first.names)
    assert set(families(similar[:5])) == {"resnet"}
    assert [hit.rank for hit in similar] == list(range(1, 11))
    assert len({hit.fingerprint for hit in similar}) == 10
    scores = [hit.score for hit in similar]
    assert scores == sorted(scores, reverse=True)
    assert first.shared_motifs[0].label == "Bottleneck"
    assert first.shared_motifs[0].count_query == first.shared_motifs[0].count_hit == 12


def test_bert_finds_encoders():
    similar = nar_plugin.find_similar("transformers:bert", k=8)
    assert "transformers:bert" in similar[0].names
    assert similar[0].exact
    decoders = {"gpt2", "llama", "mistral", "opt"}
    assert not decoders & set(families(similar))


def test_vit_finds_vits():
    similar = nar_plugin.find_similar("timm:vit_base_patch16_224", k=8)
    assert set(families(similar)) <= set(EXPECTED["vit"]["families"])


def test_nanogpt_by_hand_finds_decoders():
    similar = nar_plugin.find_similar(NanoGPT(layers=12, heads=12, width=768), k=10)
    wanted = EXPECTED["nanogpt"]
    assert families(similar[:2]) == wanted["first"]
    assert similar[0].score > wanted["score"]
    assert set(families(similar)) == set(wanted["families"])


def _with(model, old, new):
    """The model with other layers in place of some."""
    for name, child in model.named_children():
        if isinstance(child, old):
            setattr(model, name, new(child))
        else:
            _with(child, old, new)
    return model


def _vit():
    return timm.create_model("vit_small_patch16_224")


def _grouped(norm):
    return nn.GroupNorm(8, norm.num_features)


@pytest.mark.parametrize(
    ("build", "old", "new", "wanted"),
    [
        (torchvision.models.resnet50, nn.ReLU, lambda _: nn.GELU(), "resnet"),
        (torchvision.models.resnet50, nn.BatchNorm2d, lambda _: nn.Identity(), "resnet"),
        (_vit, nn.LayerNorm, lambda norm: nn.RMSNorm(norm.normalized_shape), "vit"),
        (torchvision.models.convnext_tiny, nn.GELU, lambda _: nn.Mish(), "convnext"),
        (torchvision.models.densenet121, nn.BatchNorm2d, _grouped, "densenet"),
    ],
)
def test_another_activation_or_norm_does_not_hide_a_design(build, old, new, wanted):
    model = meta(lambda: _with(build(), old, new))
    assert families(nar_plugin.find_similar(model, k=3)).count(wanted) >= 2


def test_a_default_device_changes_no_hit():
    nar_plugin.clear_cache()
    with torch.device("meta"):
        inside = nar_plugin.find_similar("timm:resnet18", k=3)
    assert inside.to_dict() == nar_plugin.find_similar("timm:resnet18", k=3).to_dict()


def test_a_unet_by_hand_gets_an_answer():
    similar = nar_plugin.find_similar(UNet(), k=5)
    assert len(similar) == 5
    assert not any(hit.exact for hit in similar)


def test_the_attached_method_is_the_function():
    model = ConvNet()
    inputs = torch.empty(1, 3, 32, 32)
    assert (
        model.find_similar(k=3, example_inputs=inputs).to_dict()
        == nar_plugin.find_similar(model, k=3, example_inputs=inputs).to_dict()
    )


@pytest.mark.parametrize("name", ["resnet18", "resnet50", "vit_tiny_patch16_224"])
def test_other_classes_are_the_same_design(name):
    timm = pytest.importorskip("timm")
    model = meta(lambda: timm.create_model(name, num_classes=10))
    best = nar_plugin.find_similar(model, k=1)[0]
    assert f"timm:{name}" in best.names
    assert not best.exact
    assert best.score > EXPECTED["other_classes"]["score"]


def test_heads_do_not_fill_an_answer():
    index = nar_plugin.load_index()
    similar = nar_plugin.find_similar("timm:resnet50", k=10)
    designs = [index.by_fingerprint(hit.fingerprint).design for hit in similar]
    assert len(set(designs)) == len(similar) == 10
    # Every row of a few: when all are asked for, there are as many as there are designs.
    few = {"library": "torchvision", "family": "resnet"}
    rows = [match.row.design for match in index.search(index.vectors[0], 1000, few)]
    assert len(nar_plugin.find_similar("timm:resnet50", 1000, where=few)) == len(set(rows))


def test_graphs_of_many_names_stand_before_others():
    """So that of equal scores the best known design comes first."""
    counts = [len(row.names) for row in nar_plugin.load_index().rows()]
    assert counts == sorted(counts, reverse=True)


def test_another_vocabulary_is_the_same_design():
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(vocab_size=5000, bos_token_id=0, eos_token_id=0)
    best = nar_plugin.find_similar(config, k=1)[0]
    wanted = EXPECTED["other_vocabulary"]
    assert best.family in wanted["first"]
    assert best.score > wanted["score"]


@pytest.mark.parametrize("reference", ["timm:resnet18", "transformers:distilbert"])
def test_provenance_labels_and_never_ranks(reference):
    from nar_plugin.references import resolve

    known, disguised = resolve(reference), resolve(reference)
    for number, module in enumerate(disguised.modules()):
        cls = type(module)
        if not cls.__module__.startswith("torch."):
            module.__class__ = type(f"Anonymous{number}", (cls,), {"__module__": "elsewhere"})
    for name in ("pretrained_cfg", "default_cfg"):
        disguised.__dict__.pop(name, None)
    if hasattr(disguised, "config"):
        disguised.config._name_or_path = ""
        disguised.config.architectures = None
    inputs = torch.empty(1, 3, 224, 224) if "timm" in reference else torch.arange(64)[None]
    one = nar_plugin.find_similar(known, example_inputs=inputs).to_dict()["hits"]
    other = nar_plugin.find_similar(disguised, example_inputs=inputs).to_dict()["hits"]

    def ranked(hits):
        return [(hit["score"], hit["fingerprint"], hit["exact"]) for hit in hits]

    assert ranked(one) == ranked(other)
    assert [hit["name"] for hit in one[1:]] == [hit["name"] for hit in other[1:]]


def test_an_identical_hit_has_the_name_that_was_asked_for():
    (hit,) = nar_plugin.find_similar("torchvision:resnet50", k=1)
    assert (hit.name, hit.library, hit.licence) == (
        "torchvision:resnet50", "torchvision", "BSD-3-Clause"
    )  # fmt: skip
    assert (hit.build, hit.weights_license) == (None, None)  # what is known is of timm's name
    assert (hit.year, hit.paper) == (2015, "arXiv:1512.03385")
    (hit,) = nar_plugin.find_similar("torchvision:resnet50", k=1, where={"library": "timm"})
    assert (hit.name, hit.library) == ("timm:resnet50", "timm")


def test_embedding():
    vector = nar_plugin.embed("timm:resnet18")
    assert vector.shape == (512,)
    assert vector.dtype == np.float32
    assert abs(float(vector @ vector) - 1) < 1e-5


def test_compare():
    twins = nar_plugin.compare("timm:resnet50", "torchvision:resnet50")
    assert twins.identical
    assert twins.same_design
    assert twins.likeness == 1
    strangers = nar_plugin.compare("timm:resnet50", "transformers:bert")
    assert not strangers.identical
    assert strangers.likeness < 0.3


def test_candidates_of_a_search_are_deduplicated():
    def net(width, head, act=nn.ReLU):
        block = [nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), act()]
        body = nn.Sequential(nn.Conv2d(3, width, 3), *block, *block, *block)
        return nn.Sequential(body, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, head))

    found = nar_plugin.dedupe([net(8, 10), net(8, 5), net(16, 10), "no:such", net(8, 10, nn.SiLU)])
    assert [design.places for design in found.designs] == [(0, 1), (2,), (4,)]
    assert [name for name, _ in found.refused] == ["no:such"]


def test_a_changed_design_fails_with_its_explanation():
    with torch.device("meta"):
        plain, gated = (timm.create_model(name) for name in ("resnet18", "seresnet18"))
        other = timm.create_model("resnet18", num_classes=10)
    nar_plugin.assert_same_design(plain, other)
    with pytest.raises(AssertionError, match="with a squeeze-and-excitation gate"):
        nar_plugin.assert_same_design(plain, gated)


def test_a_forward_that_was_not_followed_proves_nothing():
    class Stuck(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x):
            raise RuntimeError("never")

    with pytest.raises(TraceError, match="cannot be asserted"):
        nar_plugin.assert_same_design(Stuck(), Stuck())


def test_novelty():
    assert nar_plugin.novelty("timm:resnet50") == 0.0
    assert 0 < nar_plugin.novelty(UNet()) <= 2


def test_where_conditions():
    similar = nar_plugin.find_similar("timm:resnet50", k=5, where={"library": "transformers"})
    assert all(any(name.startswith("transformers:") for name in hit.names) for hit in similar)
    small = nar_plugin.find_similar("timm:resnet50", k=5, where={"params": "<5M"})
    assert all(hit.params < 5_000_000 for hit in small)


def test_where_compares_with_the_model_and_names_what_no_row_has():
    own = nar_plugin.find_similar("timm:resnet18", k=1).query.params
    smaller = nar_plugin.find_similar("timm:resnet18", k=3, where={"params": "<mine"})
    assert len(smaller) == 3 and all(hit.params < own for hit in smaller)
    block = nar_plugin.find_similar("timm:resnet18", 1, at="layer1.0", where={"params": "<mine"})
    assert all("resnet34" not in each.name for each in block[0].occurrences)
    for at in (None, "layer1.0"):
        found = nar_plugin.find_similar("timm:resnet18", 1, at=at, where={"library": ["tim"]})
        assert "library 'tim'; did you mean 'timm'?" in found.notes[0]
        assert found.to_dict()["notes"][0] == found.notes[0]


def test_a_changed_model_is_not_headed_as_the_stock_one():
    model = meta(lambda: timm.create_model("resnet50", num_classes=10))
    assert not nar_plugin.find_similar(model, k=1).query.changed  # another head is no change
    model.layer3 = model.layer3[:2]
    query = nar_plugin.find_similar(model, k=1).query
    assert query.changed and query.name.startswith("timm:resnet50")
    assert "resnet50.a1_in1k as changed here" in str(nar_plugin.find_similar(model, k=1))


def test_every_name_is_a_reference_and_the_rows_are_sound():
    index = nar_plugin.load_index()
    rows = index.rows()
    info = index.info()
    assert info["names"] == sum(len(row.names) for row in rows) >= 2000
    assert info["graphs"] == len(rows) == len({row.fingerprint for row in rows})
    for row in rows:
        assert all(name.partition(":")[0] and name.partition(":")[2] for name in row.names)
        if not row.flops:  # nothing says how full a sparse matrix is: a product with one has none
            kinds = {op.kind for op in stored_design(index, row.fingerprint).graph.ops}
            assert PRODUCTS & kinds <= {"matmul"}, row.name
        assert row.params > 0
        assert row.motifs


def test_json_has_the_fields_of_the_contract():
    document = nar_plugin.find_similar("timm:resnet18", k=1).to_dict()
    json.dumps(document)
    assert set(document) == {"query", "index", "hits", "notes"}
    assert {"source", "revision", "architectures", "graphs", "encoder"} == set(document["index"])
    assert set(document["hits"][0]) == set(
        "rank name names score family library task params flops fingerprint exact shared_motifs "
        "variants licence url year paper title weights_license build runtimes code_license".split()
    )


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (3, "int"),
        (torch.nn.Linear, "class|Linear"),
        ("timm:resnet5O", "resnet50"),
        ("resnet50", "timm:resnet50"),
        ("google/bert", "hub:google/bert"),
        ("nowhere:thing", "nowhere"),
    ],
    ids=str,
)
def test_what_is_no_model_is_refused_with_a_hint(model, message):
    with pytest.raises(NarError, match=message):
        nar_plugin.find_similar(model)


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "3"])
def test_k_is_a_positive_whole_number(k):
    with pytest.raises(NarError, match="k is how many"):
        nar_plugin.find_similar("timm:resnet18", k)


def test_refused_inputs_repeat_the_models_message():
    with pytest.raises(TraceError, match=r"(?s)ConvNet.*float32\[1, 5, 32, 32\].*channel"):
        nar_plugin.find_similar(ConvNet(), example_inputs=torch.empty(1, 5, 32, 32))


def test_an_index_of_another_encoder_is_refused(tmp_path):
    index = nar_plugin.load_index()
    from nar_plugin.index import ArchitectureIndex

    other = ArchitectureIndex.from_rows(
        index.rows()[:3],
        index.vectors[:3],
        "another",
        "0" * 64,
        tracer="1",
        fingerprint="nar1",
    )
    with pytest.raises(IndexIncompatible, match="another"):
        nar_plugin.find_similar("timm:resnet18", index=other)


def test_an_index_of_another_type():
    with pytest.raises(NarError, match="index of type int, expected an ArchitectureIndex"):
        nar_plugin.find_similar("timm:resnet18", index=3)


def test_a_folder_without_an_index(tmp_path):
    with pytest.raises(IndexUnavailable, match="manifest"):
        nar_plugin.find_similar("timm:resnet18", index=tmp_path)


def test_clear_cache_releases_the_index():
    import weakref

    index = weakref.ref(nar_plugin.load_index())
    nar_plugin.clear_cache()
    import gc

    gc.collect()
    assert index() is None
    assert len(nar_plugin.load_index()) > 0


def test_a_model_that_computes_nothing_resembles_nothing():
    for model in (nn.Identity(), nn.Sequential(nn.Dropout())):
        assert len(nar_plugin.trace(model)) == 0
        with pytest.raises(TraceError, match="has nothing to compare"):
            nar_plugin.find_similar(model)


@pytest.fixture
def elsewhere():
    """An index of two designs whose library is not here, and the vector of each."""
    from nar_plugin.index import ArchitectureIndex

    whole = nar_plugin.load_index()
    resnet, bert = (whole.by_name(name) for name in ("timm:resnet50", "transformers:bert"))
    rows = [
        replace(resnet[0], name="nowhere:net", names=("nowhere:net", "nowhere:other")),
        replace(bert[0], name="nowhere:text", names=("nowhere:text",)),
    ]
    manifest = whole.manifest
    return ArchitectureIndex.from_rows(
        rows,
        np.stack([resnet[1], bert[1]]),
        manifest.encoder,
        manifest.encoder_sha256,
        tracer=manifest.tracer,
        fingerprint=manifest.fingerprint,
    )


def test_a_name_whose_library_is_not_installed_is_read_from_the_index(elsewhere):
    found = nar_plugin.find_similar("nowhere:other", k=2, index=elsewhere)
    assert [hit.name for hit in found] == ["nowhere:other", "nowhere:text"]
    assert (found[0].exact, found[0].score) == (True, 1.0)
    assert found[0].shared_motifs[0].count_query == found[0].shared_motifs[0].count_hit
    query = found.query
    assert (query.name, query.method, query.ops) == ("nowhere:other", "index", 174)
    assert "Read from the index, since it was not built here" in str(found)
    assert nar_plugin.novelty("nowhere:net", index=elsewhere) == 0.0
    own = nar_plugin.embed("timm:resnet50")
    assert nar_plugin.embed("nowhere:net", index=elsewhere) @ own == pytest.approx(1, abs=1e-3)
    with pytest.raises(NarError):
        nar_plugin.find_similar("nowhere:third", index=elsewhere)
    with pytest.raises(NarError):  # inputs are for a forward
        nar_plugin.find_similar("nowhere:net", index=elsewhere, example_inputs=torch.ones(1))


@pytest.mark.parametrize("name", ["timm:resnet50", "timm:resnet18.a1_in1k", "timm:vgg11"])
def test_a_row_finds_what_a_trace_of_its_name_finds(name):
    timm = pytest.importorskip("timm")
    if nar_plugin.load_index().manifest.versions["timm"] != timm.__version__:
        pytest.skip("the index was made with another timm")
    known, traced = (nar_plugin.find_similar(name, trace=trace) for trace in (False, True))
    assert (known.query.method, traced.query.method) == ("index", "meta")
    for field in ("fingerprint", "design", "ops", "params", "flops", "library"):
        assert getattr(known.query, field) == getattr(traced.query, field)
    assert [hit.name for hit in known] == [hit.name for hit in traced]
    scores = [hit.score for hit in traced]
    assert [hit.score for hit in known] == pytest.approx(scores, abs=1e-3)
    for mine, other in zip(known, traced, strict=True):
        assert len(mine.shared_motifs) == len(other.shared_motifs)
    assert "from the index" in str(known)
    assert "from the index" not in str(traced)


def test_hits_that_cannot_be_built_can_be_compared():
    pytest.importorskip("timm")
    name = "mmcls:resnet50_8xb32_in1k"
    if importlib.util.find_spec("mmcls"):
        pytest.skip("mmcls is installed")
    found = nar_plugin.compare("timm:resnet50", name)
    assert found.b.method == "index"
    assert found.b.params == 25_557_032
    assert found.likeness > 0.8
    assert found.shared_motifs


def test_a_path_is_named_as_it_was_given(tmp_path):
    pytest.importorskip("transformers")
    (tmp_path / "config.json").write_text('{"model_type": "bert", "num_hidden_layers": 2}')
    assert nar_plugin.find_similar(tmp_path, k=1).query.name == str(tmp_path)
