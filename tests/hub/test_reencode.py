"""A changed encoder: vectors of another are refused, and the command that is named mends it."""

import json

import numpy as np
import pytest
import torch
from models import ConvNet, UNet
from typer.testing import CliRunner

import nar_plugin
from nar_plugin import hub
from nar_plugin.cli import app
from nar_plugin.encoder import ArchitectureEncoder, encoder_sha256, load_encoder, save_encoder
from nar_plugin.errors import IndexIncompatible, IndexUnavailable, NarError
from nar_plugin.hub.answering import answering
from nar_plugin.index import EMBEDDED, ArchitectureIndex, ArchitectureRow
from nar_plugin.index.store import graphs
from nar_plugin.mining import mine
from nar_plugin.tracing import trace

REPO = "owner/architectures"


@pytest.fixture(scope="module")
def macros():
    return [
        mine(trace(ConvNet(), torch.empty(1, 3, 16, 16))),
        mine(trace(UNet(), torch.empty(1, 3, 32, 32))),
    ]


def index_of(macros, *, with_graphs=True):
    """As somebody published it whose encoder nobody else has."""
    embedded = ArchitectureIndex.load(EMBEDDED).manifest
    rows = [
        ArchitectureRow(
            f"lib:net{number}",
            (f"lib:net{number}",),
            library="lib",
            family="net",
            task="",
            params=1,
            flops=1,
            fingerprint=macro.graph.fingerprint,
            design=macro.graph.design,
            licence="",
        )
        for number, macro in enumerate(macros)
    ]
    table = graphs.to_table([(macro.graph, macro.spans[:, 0]) for macro in macros])
    return ArchitectureIndex.from_rows(
        rows,
        np.eye(len(macros), 16),
        "nar-older",
        "0" * 64,
        tracer=embedded.tracer,
        fingerprint=embedded.fingerprint,
        revision="2026.11.20",
        graphs=table if with_graphs else None,
    )


@pytest.fixture
def published(client, macros, tmp_path):
    index_of(macros).save(tmp_path / "older")
    hub.publish(tmp_path / "older", REPO)
    nar_plugin.clear_cache()
    yield client
    nar_plugin.clear_cache()


def nar(*words):
    result = CliRunner().invoke(app, words)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_the_command_that_the_refusal_names(published, tmp_path, macros):
    with pytest.raises(IndexIncompatible) as caught:
        hub.update(REPO)
    assert "wants the encoder nar-older" in str(caught.value)
    assert f"`nar dev index reencode {REPO} --output DIR`" in str(caught.value)

    folder = tmp_path / "anew"
    said = json.loads(
        nar("dev", "index", "reencode", REPO, "--output", str(folder), "--json").stdout
    )
    assert (said["graphs"], said["folder"]) == (2, str(folder))
    assert said["encoder"] == ArchitectureIndex.load(EMBEDDED).manifest.encoder
    query = {"example_inputs": torch.empty(1, 3, 16, 16), "index": folder}
    found = nar_plugin.find_similar(ConvNet(), **query)
    assert found[0].name == "lib:net0" and found[0].exact
    vectors = load_encoder(EMBEDDED).encode(macros).numpy()
    np.testing.assert_allclose(ArchitectureIndex.load(folder).vectors, vectors, atol=1e-3)

    hub.publish(folder, REPO, replace=True)
    assert hub.update(REPO).release.manifest.dim == 512


def test_by_an_encoder_of_ones_own(published, tmp_path):
    torch.manual_seed(0)
    mine = tmp_path / "mine"
    mine.mkdir()
    save_encoder(ArchitectureEncoder(5, 8, hidden=8, dimensions=6), mine, recipe="small")
    nar(
        "dev", "index", "reencode", REPO, "--output", str(tmp_path / "anew"), "--encoder", str(mine)
    )
    anew = ArchitectureIndex.load(tmp_path / "anew")
    assert (anew.manifest.dim, anew.manifest.encoder_sha256) == (6, encoder_sha256(mine))
    query = {"example_inputs": torch.empty(1, 3, 32, 32), "index": tmp_path / "anew"}
    assert nar_plugin.find_similar(UNet(), k=1, **query)[0].name == "lib:net1"  # it came along


def test_graphs_come_for_another_encoder_too(published, tmp_path):
    nar("dev", "index", "reencode", REPO, "--output", str(tmp_path / "anew"))
    assert published.sent(".graphs.parquet") > 0


def test_what_is_not_here_is_not_counted(client, macros, tmp_path):
    index_of(macros).save(tmp_path / "older")
    nar("dev", "index", "reencode", str(tmp_path / "older"), "--output", str(tmp_path / "anew"))
    hub.publish(tmp_path / "anew", REPO)
    folder = hub.update(REPO).release.folder
    (folder / "shards/00000.graphs.parquet").unlink()
    said = json.loads(nar("index", "verify", "--json").stdout)
    assert said["absent"] == ["shards/00000.graphs.parquet"] and said["files"] == 4
    names = [path.resolve() for path in folder.rglob("*.*") if path.name != "manifest.json"]
    assert said["bytes"] == sum(path.stat().st_size for path in names)
    assert f"{said['bytes'] / 1e6:.1f} MB" in answering()
    text = nar("index", "verify").stdout
    assert "4 files" in text and "not needed to search: shards/00000.graphs.parquet." in text


def test_a_folder_is_written_anew_in_its_place(macros, tmp_path):
    index_of(macros).save(tmp_path)
    assert (
        "2 graphs encoded by nar-default" in nar("dev", "index", "reencode", str(tmp_path)).stdout
    )
    assert ArchitectureIndex.verify(tmp_path).manifest.dim == 512


def test_without_graphs_it_says_where_graphs_come_from(macros, tmp_path):
    index_of(macros, with_graphs=False).save(tmp_path)
    with pytest.raises(NarError, match=r"does not hold the graphs.*`nar dev index write`"):
        nar("dev", "index", "reencode", str(tmp_path))


def test_a_repository_wants_a_place_to_write_to():
    result = nar("dev", "index", "reencode", REPO)
    assert result.exit_code == 2 and "--output" in result.stderr
    assert nar("dev", "index", "reencode", "--output", "x").exit_code == 2


@pytest.fixture
def updated(client, macros, tmp_path):
    """The folder of an index that was published with graphs, which are no longer here."""
    index_of(macros[:1]).save(tmp_path / "older")
    nar("dev", "index", "reencode", str(tmp_path / "older"), "--output", str(tmp_path / "anew"))
    hub.publish(tmp_path / "anew", REPO)
    folder = hub.update(REPO).release.folder
    (folder / "shards/00000.graphs.parquet").unlink()
    return folder


def test_a_next_revision_keeps_the_graphs_that_are_not_here(updated, macros, tmp_path):
    index = ArchitectureIndex.load(updated)
    assert not index.has_graphs
    more = index_of(macros[1:])
    vectors = np.ones((1, index.manifest.dim))
    index.add(more.rows(), vectors, graphs=more.graphs()).save(tmp_path / "next")
    done = hub.publish(tmp_path / "next", REPO)
    assert {path.split(".")[0] for path in done.sent} == {"shards/00001"}
    whole = hub.open_with_graphs(REPO, None)
    assert [len(graph.graph) for graph in graphs.macro_graphs(whole.graphs())] == [
        len(macro.graph) for macro in macros
    ]


def test_another_repository_gets_what_is_here(updated):
    index = hub.ArchitectureIndex.from_pretrained(REPO)
    index.push_to_hub("owner/other")
    other = hub.ArchitectureIndex.from_pretrained("owner/other")
    assert len(other) == 1 and other.manifest.of_kind("graphs")  # fetched again from the first


def test_damaged_graphs_are_not_published(client, macros, tmp_path):
    index_of(macros).save(tmp_path)
    path = tmp_path / "shards" / "00000.graphs.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(IndexUnavailable, match=r"00000\.graphs\.parquet is damaged"):
        hub.publish(tmp_path, REPO)
    assert not client.log
