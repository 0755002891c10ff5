"""The paper's encoder from training to an answer: trained, indexed, asked, encoded anew, shared."""

import json
from itertools import product

import numpy as np
import pytest
import torch
from models import ConvNet
from torch import nn
from typer.testing import CliRunner

pytest.importorskip("tqdm")
pytest.importorskip("umap")  # an index that is written has a map

import nar_plugin
from nar_plugin import hub
from nar_plugin.cli import app
from nar_plugin.encoder import PaperEncoder, encoder_sha256, load_encoder
from nar_plugin.errors import IndexIncompatible
from nar_plugin.index import EMBEDDED, ArchitectureIndex
from nar_plugin.tracing import trace
from nar_plugin.train.corpus.corpus import StoredGraph, write_corpus
from nar_plugin.train.paper import ablations
from nar_plugin.train.paper.ablations import Recipe

pytestmark = pytest.mark.slow
INPUT = torch.empty(1, 3, 16, 16)
SMALL = Recipe(
    width=16, motif_epochs=1, graph_epochs=2, graph_batch=16, splitting="sequence", tuned=True
)
ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU, "silu": nn.SiLU, "tanh": nn.Tanh, "elu": nn.ELU}
NORMS = {"batch": nn.BatchNorm2d, "instance": nn.InstanceNorm2d, "none": nn.Identity}
CHOICES = list(product(ACTIVATIONS, NORMS, (1, 3), (False, True)))  # 60 designs


def net(activation, norm, kernel, residual):
    """A block in front of a softmax."""
    block = ConvNet(kernel, 1, ACTIVATIONS[activation], NORMS[norm], residual)
    return nn.Sequential(block, nn.Softmax(dim=1))


def stored(graph, name):
    classes = "\n".join(f"{path}={owner}" for path, owner in graph.classes.items())
    found = StoredGraph(
        *(graph.fingerprint, graph.design, graph.method, graph.inputs, name),
        ops=[(op.kind, json.dumps(op.attributes)) for op in graph.ops],
        edges=graph.edges.ravel(),
        paths="\n".join(graph.paths),
        classes=classes,
        starts=np.zeros(0, dtype=np.int32),
        motifs=[],
    )
    found.mine()
    return found


def nar(*words):
    result = CliRunner().invoke(app, ["dev", *map(str, words)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a corpus of 60 designs, an encoder trained on it, and an index of it."""
    folder = tmp_path_factory.mktemp("paper")
    graphs, names = [], []
    for choice in CHOICES:
        name = "lib:" + "_".join(map(str, choice))
        graphs.append(stored(trace(net(*choice), INPUT), name))
        facts = dict.fromkeys(("task", "licence", "url"), "") | {"library": "lib", "version": "1"}
        sizes = {"params": 1, "flops": 1, "composed": False}
        names.append(facts | sizes | {"name": name, "family": choice[0]})
        names[-1]["fingerprint"] = graphs[-1].fingerprint
    assert len({graph.fingerprint for graph in graphs}) == 60
    write_corpus(folder / "corpus", names, graphs)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setitem(ablations.RECIPES, "paper", SMALL)
        parts = ("--corpus", folder / "corpus", "--folder", folder / "encoder")
        nar("train", "--recipe", "paper", "--device", "cpu", *parts)
    parts = ("--corpus", folder / "corpus", "--encoder", folder / "encoder", "--revision", "1")
    nar("index", "write", folder / "index", *parts)
    yield folder
    nar_plugin.clear_cache()


def test_it_is_a_folder_of_two_files_that_states_its_kind(made):
    files = sorted(path.name for path in (made / "encoder").iterdir())
    assert files == ["encoder.json", "encoder.safetensors"]
    config = json.loads((made / "encoder" / "encoder.json").read_text())
    assert (config["kind"], config["recipe"]) == ("paper", "paper")
    assert config["training"]["graphs"] == 60
    assert isinstance(load_encoder(made / "encoder"), PaperEncoder)


def test_an_index_of_it_answers(made):
    asked = net("gelu", "batch", 3, True)
    found = nar_plugin.find_similar(asked, example_inputs=INPUT, index=made / "index", k=5)
    assert found[0].name == "lib:gelu_batch_3_True"
    assert (found[0].score, found[0].exact) == (1, True)
    index = ArchitectureIndex.load(made / "index")
    assert index.manifest.encoder.startswith("nar-paper-")
    assert index.manifest.dim == 16
    # The corpus's graph and the one that is traced now are one point.
    vector = nar_plugin.embed(asked, example_inputs=INPUT, index=made / "index")
    _, known = index.by_name("lib:gelu_batch_3_True")
    np.testing.assert_allclose(vector, known, atol=2e-3)  # halves on disk


def test_blocks_are_found_by_their_labels(made):
    asked = net("gelu", "batch", 3, True)
    found = nar_plugin.find_similar(asked, example_inputs=INPUT, index=made / "index", at="0")
    assert (found[0].label, found[0].score) == ("ConvNet", 1)


def test_an_index_is_encoded_anew_by_it_and_from_it(made, tmp_path):
    nar("index", "reencode", made / "index", "--output", tmp_path / "default")
    other = ArchitectureIndex.load(tmp_path / "default")
    assert other.manifest.encoder_sha256 == encoder_sha256(EMBEDDED)
    parts = ("--output", tmp_path / "back", "--encoder", made / "encoder")
    nar("index", "reencode", tmp_path / "default", *parts)
    back, first = (ArchitectureIndex.load(each) for each in (tmp_path / "back", made / "index"))
    assert back.manifest.encoder_sha256 == encoder_sha256(made / "encoder")
    rows = [back.contents.positions[row.fingerprint] for row in first.rows()]
    np.testing.assert_allclose(back.vectors[rows], first.vectors, atol=1e-3)


def test_it_goes_to_the_hub_and_answers_from_there(made, client):
    hub.publish(made / "index", "owner/architectures")
    nar_plugin.clear_cache()
    hub.update("owner/architectures")
    found = nar_plugin.find_similar(net("silu", "none", 1, False), example_inputs=INPUT, k=1)
    assert found[0].name == "lib:silu_none_1_False"
    nar_plugin.clear_cache()

    hub.publish_encoder(made / "encoder", "owner/encoder")
    theirs = hub.PaperEncoder.from_pretrained("owner/encoder")
    graph = trace(net("silu", "none", 1, False), INPUT)
    ours = load_encoder(made / "encoder")
    torch.testing.assert_close(theirs.encode_graphs([graph]), ours.encode_graphs([graph]))
    assert theirs.push_to_hub("owner/encoder").sent == ()  # the same bytes
    with pytest.raises(IndexIncompatible, match="of the kind 'paper'; ArchitectureEncoder reads"):
        hub.ArchitectureEncoder.from_pretrained("owner/encoder")


def test_a_recipe_that_is_not_there(tmp_path):
    result = nar("train", "--recipe", "papers", "--folder", tmp_path)
    assert result.exit_code == 2 and "default, paper, paper-tuned" in result.stderr
