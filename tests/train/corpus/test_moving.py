"""A corpus moves to another vocabulary: what is traced as before stays, and is not traced."""

from dataclasses import replace

import pytest

from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.tracing.vocabulary import VOCABULARY_VERSION

pytest.importorskip("tqdm")
pytest.importorskip("timm")

from nar_plugin.train.corpus import build, corpus, moving, workers

RESNETS = ("timm:resnet26", "timm:resnet50", "timm:resnet101")  # one group by their kinds
OTHERS = ("timm:resnet18", "timm:test_vit")  # the same kinds beside others; other kinds
NAMES = (*RESNETS, *OTHERS)


def architectures(_=None):
    return [NamedArchitecture(name, "timm", "family", "x", "MIT") for name in NAMES]


@pytest.fixture(scope="module")
def today(tmp_path_factory, trace_here):
    """A corpus of this vocabulary."""
    folder = tmp_path_factory.mktemp("today")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "listed_apart", architectures)
        trace_here(patch)
        build.build_corpus(folder / "corpus", folder / "work", workers=1)
    return folder / "corpus"


@pytest.fixture
def of_old(today, tmp_path, monkeypatch):
    """The corpus of today, and a folder with the same as an older vocabulary had it.

    The older tracer wrote one operation of the ViT otherwise.
    """
    for module in (build, moving):
        monkeypatch.setattr(module, "listed_apart", architectures)
    folder = tmp_path / "corpus"
    rows = corpus.read_names(today)
    (vit,) = [row["fingerprint"] for row in rows if row["name"] == "timm:test_vit"]
    graphs = []
    for graph in corpus.read_stored(today):
        ops = graph.ops
        if graph.fingerprint == vit:
            ops = [("older", said) if kind == "gelu" else (kind, said) for kind, said in ops]
        graphs.append(replace(graph, ops=ops, fingerprint=f"old {graph.fingerprint}"))
    old = [{**row, "tracer": "old", "fingerprint": f"old {row['fingerprint']}"} for row in rows]
    corpus.write_corpus(folder, old, graphs)
    return today, folder


@pytest.mark.slow
def test_what_is_traced_as_before_is_carried_over(of_old, tmp_path):
    today, folder = of_old
    work = tmp_path / "work"
    assert moving.move_corpus(folder, work, workers=1) == 1
    traced = {record["name"] for record in workers.read_records(work / build.RECORDS)}
    assert traced >= set(OTHERS)
    assert len(traced) == 3  # and the quickest of the ResNets
    expected = {row["name"]: row["fingerprint"] for row in corpus.read_names(today)}
    for row in corpus.read_names(folder):
        if row["name"] != "timm:test_vit":
            assert (row["tracer"], row["fingerprint"]) == (
                VOCABULARY_VERSION,
                expected[row["name"]],
            )
        else:
            assert (row["tracer"], row["fingerprint"]) == ("old", f"old {expected[row['name']]}")

    build.build_corpus(folder, work, workers=1)  # finds the ViT's record
    assert {row["name"]: row["fingerprint"] for row in corpus.read_names(folder)} == expected
    both = [{graph.fingerprint: graph for graph in corpus.read_stored(f)} for f in (today, folder)]
    assert both[0].keys() == both[1].keys()
    for key, graph in both[0].items():
        other = both[1][key]
        assert (graph.ops, graph.design, graph.topology) == (
            other.ops,
            other.design,
            other.topology,
        )


def test_a_group_with_one_changed_graph_is_left_whole(of_old):
    rows = {row["name"]: row for row in corpus.read_names(of_old[1])}
    group = [rows[name] for name in RESNETS]
    hashed = {row["fingerprint"]: row["fingerprint"].removeprefix("old ") for row in group}
    same = {
        name: {**rows[name], "fingerprint": hashed[rows[name]["fingerprint"]]}
        for name in RESNETS[:2]
    }
    assert moving.carried_over([group], same, hashed) == set(RESNETS)
    for changed in ({"fingerprint": "another"}, {"flops": 1}, {"params": 1}):
        other = {**same, RESNETS[1]: same[RESNETS[1]] | changed}
        assert moving.carried_over([group], other, hashed) == set()
    assert moving.carried_over([group], {}, hashed) == set()  # none was traced


def test_names_without_a_graph_are_groups_by_their_failure():
    failed = {"library": "timm", "defined_in": "a", "method": None, "fingerprint": None}
    rows = [
        {**failed, "name": "timm:b", "seconds": 2.0, "failure": "ValueError"},
        {**failed, "name": "timm:a", "seconds": 1.0, "failure": "ValueError"},
        {**failed, "name": "timm:c", "seconds": 1.0, "failure": "TypeError"},
    ]
    found = moving.grouped(rows, {})
    assert [[row["name"] for row in group] for group in found] == [["timm:a", "timm:b"], ["timm:c"]]


def test_groups_without_a_touched_kind_are_not_traced_but_for_one_in_ten(of_old):
    graphs = {graph.fingerprint: graph for graph in corpus.read_stored(of_old[1])}
    rows = {row["name"]: row for row in corpus.read_names(of_old[1])}
    groups = [[rows["timm:test_vit"]], [rows["timm:resnet18"]]] * 10
    unseen = moving.untouched(groups, graphs, ["layer_norm"])
    assert unseen == [[rows["timm:resnet18"]]] * 9  # the first is traced all the same
    assert moving.untouched(groups, graphs, ["conv>batch_norm"]) == [[rows["timm:test_vit"]]] * 9
    unseen = moving.untouched(groups, graphs, ["capsule", "batch_norm>conv"])
    assert len(unseen) == 18


def test_what_a_change_can_touch(of_old):
    graphs = {graph.fingerprint: graph for graph in corpus.read_stored(of_old[1])}
    (resnet,) = (r for r in corpus.read_names(of_old[1]) if r["name"] == "timm:resnet18")
    said = moving.words(graphs[resnet["fingerprint"]])
    # Its first operation is a convolution; each norm has one reader, and each ReLU of a block two.
    assert {"conv", ">conv", "conv>batch_norm", "conv>>batch_norm", "relu<", "add>>relu"} <= said
    assert not {">relu", "conv<", "relu>>add", "batch_norm>conv"} & said
