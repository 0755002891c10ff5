"""`nar dev corpus crawl` against the loopback Hub: politely, on from where it was interrupted."""

import json
import re
from types import SimpleNamespace

import pytest
from huggingface_hub import HfApi

from nar_plugin.errors import NarError
from nar_plugin.train.corpus import crawl as crawling
from nar_plugin.train.corpus import hub_configs as reading

TYPES = (
    *("albert", "bart", "beit", "bert", "bloom", "convnext", "cvt", "deit", "dinov2", "distilbert"),
    *("electra", "gpt2", "gpt_neox", "gptj", "layoutlm", "levit", "mobilebert", "mobilenet_v2"),
    *("mpnet", "opt", "poolformer", "regnet", "resnet", "roberta", "segformer", "squeezebert"),
    *("swin", "t5", "vit", "xlm-roberta"),
)


def put(server, name, files, **about):
    HfApi().create_repo(name)
    repository = server.storage.repository("models", name)
    repository.commit("main", files)
    repository.describe(**about)


def put_config(server, name, config, **about):
    put(server, name, {"config.json": json.dumps(config).encode()}, **about)


@pytest.fixture
def models(client):
    """Five models, in the order of their downloads."""
    for number in range(5):
        config = {"model_type": "bert", "num_hidden_layers": 5 - number}
        about = {"downloads": 100 - number, "tags": ["license:mit", "en"]}
        task = "fill-mask" if number % 2 else "text-ranking"
        put_config(client, f"owner/m{number}", config, pipeline_tag=task, **about)
    client.forget()
    return client


@pytest.fixture
def slept(monkeypatch):
    """The pauses that a crawl would have made, in seconds."""
    pauses = []
    monkeypatch.setattr(reading, "time", SimpleNamespace(sleep=pauses.append))
    return pauses


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_most_downloaded_come_first(models, slept):
    models.page = 2
    models.fail(path="/api/models$", status=429, skip=1, times=1)  # the second page
    assert reading.most_downloaded(None, 3) == ["owner/m0", "owner/m1", "owner/m2"]
    assert reading.most_downloaded("fill-mask", 10) == ["owner/m1", "owner/m3"]


def test_ids_from_a_file(tmp_path):
    (tmp_path / "ids").write_text("# models\nowner/a\n\n owner/b  # a comment\n")
    assert reading.read_ids(tmp_path / "ids") == ["owner/a", "owner/b"]
    with pytest.raises(NarError, match="owner/name a line"):
        reading.read_ids(tmp_path / "nothing")


def test_each_model_is_two_small_files_and_a_pause(models, slept, tmp_path):
    reading.read_configs([f"owner/m{i}" for i in range(5)], tmp_path / "configs", 0.5)
    records = read(tmp_path / "configs")
    assert [record["config"]["num_hidden_layers"] for record in records] == [5, 4, 3, 2, 1]
    assert {record["licence"] for record in records} == {"MIT"}
    assert [record["task"] for record in records[:2]] == ["text-ranking", "fill-mask"]
    assert slept == [0.5] * 5
    asked = [one.path for one in models.asked("GET") if "agent" not in one.path]
    assert asked[0] == "/api/models/owner/m0"
    assert re.fullmatch("/owner/m0/resolve/[0-9a-f]{40}/config.json", asked[1])  # that main is at
    assert len(asked) == 10


def test_too_many_requests_are_waited_for_as_long_as_the_server_says(models, slept, tmp_path):
    models.fail(path="/api/models/", status=429, retry_after=30, times=2)
    models.fail(path="m1", status=503, times=1)
    reading.read_configs(["owner/m0", "owner/m1"], tmp_path / "configs", 0)
    assert len(read(tmp_path / "configs")) == 2
    assert slept == [30, 30, 0, 1, 0]


def test_a_crawl_goes_on_where_it_was_interrupted(models, slept, tmp_path):
    ids = [f"owner/m{i}" for i in range(5)]
    models.fail(path="owner/m2", status=500)
    with pytest.raises(NarError, match=r"kept refusing .* What was read is kept"):
        reading.read_configs(ids, tmp_path / "configs", 0)
    assert [record["id"] for record in read(tmp_path / "configs")] == ids[:2]
    assert sum(slept) >= 100  # it had waited first, longer each time
    with (tmp_path / "configs").open("a") as out:
        out.write('{"id": "owner/m2", "con')  # as a kill leaves it
    models.faults.clear()
    models.forget()
    reading.read_configs(ids, tmp_path / "configs", 0)
    kept = [record["id"] for record in reading.read_records(tmp_path / "configs")]
    assert kept == ids
    assert not models.asked("GET", "owner/m0") and not models.asked("GET", "owner/m1")


def test_what_has_no_config_is_recorded_and_not_asked_again(models, slept, tmp_path):
    put(models, "owner/weights", {"model.safetensors": b"\0"})
    put(models, "owner/broken", {"config.json": b"{"})
    put(models, "owner/list", {"config.json": b"[]"})
    put_config(models, "owner/gated", {}, gated=True)
    names = ["owner/weights", "owner/broken", "owner/list", "owner/nothing", "bad//id"]
    reading.read_configs(names, tmp_path / "configs", 0)
    failures = [record["failure"].partition(":")[0] for record in read(tmp_path / "configs")]
    assert failures == [
        "RemoteEntryNotFoundError",
        "ValueError",
        "ValueError",
        "RepositoryNotFoundError",
        "HFValidationError",
    ]
    models.forget()
    reading.read_configs(names, tmp_path / "configs", 0)
    assert not models.log


def test_fine_tunes_of_one_architecture_are_one_design():
    base = {"model_type": "bert", "hidden_size": 64, "id2label": {"0": "no", "1": "yes"}}
    tuned = base | {"_name_or_path": "x", "transformers_version": "4.1", "use_cache": False}
    assert crawling.design_of(tuned) == crawling.design_of(base)
    assert crawling.design_of(base | {"hidden_size": 65}) != crawling.design_of(base)
    three = base | {"id2label": {"0": "a", "1": "b", "2": "c"}}
    assert crawling.design_of(three) != crawling.design_of(base)


def test_a_timm_model_is_of_the_family_that_timms_own_names_are_of():
    record = {"id": "owner/mine", "task": "image-classification", "licence": "MIT"}
    item = crawling.architecture(record | {"config": {"architecture": "resnet18"}})
    assert (item.name, item.library, item.family) == ("hub:owner/mine", "timm", "resnet")
    item = crawling.architecture(record | {"config": {"architecture": "of_mine"}})
    assert item.family == "of_mine"


def run(python, *words):
    done = python("from nar_plugin.cli import main; main()", "dev", "corpus", "crawl", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_a_crawl_makes_a_corpus_and_that_an_index(client, python, tmp_path):
    from transformers import BertConfig, BertModel

    import nar_plugin
    from nar_plugin.index import EMBEDDED
    from nar_plugin.train.corpus.corpus import read_corpus, read_names

    small = {"model_type": "bert", "num_hidden_layers": 1, "hidden_size": 32, "vocab_size": 99}
    small |= {"num_attention_heads": 2, "intermediate_size": 64, "architectures": ["BertModel"]}
    about = {"tags": ["license:apache-2.0"], "pipeline_tag": "fill-mask"}
    put_config(client, "owner/first", small, downloads=3, **about)
    put_config(client, "other/tuned", small | {"_name_or_path": "owner/first"}, downloads=2)
    put_config(client, "owner/custom", {"model_type": "mine", "auto_map": {"x": "y"}}, downloads=1)
    put(client, "owner/weights", {"model.safetensors": b"\0"})
    words = [str(tmp_path / "corpus"), "--work", str(tmp_path / "work"), "--pace", "0"]
    assert run(python, *words, "--workers", "1") == "2 of 4 models traced, 1 distinct graphs"
    names = {row["name"]: row for row in read_names(tmp_path / "corpus")}
    assert names["hub:owner/first"]["licence"] == "Apache-2.0"
    assert names["hub:owner/first"]["family"] == "bert"
    assert names["hub:other/tuned"]["url"] == "https://huggingface.co/other/tuned"
    assert "Python code" in names["hub:owner/custom"]["failure"]
    assert "EntryNotFound" in names["hub:owner/weights"]["failure"]
    (graph,) = read_corpus(tmp_path / "corpus")
    assert {name["name"] for name in graph.names} == {"hub:owner/first", "hub:other/tuned"}

    from nar_plugin.train.fit.default import write_index

    (row,) = write_index(tmp_path / "corpus", EMBEDDED, tmp_path / "index", "crawled").rows()
    assert set(row.names) == {"hub:owner/first", "hub:other/tuned"}
    assert (row.library, row.family) == ("transformers", "bert")
    assert row.task == "feature-extraction"  # what the class of the config does, whatever the tag
    assert row.url == "https://huggingface.co/" + row.name.removeprefix("hub:")
    found = nar_plugin.find_similar(BertModel(BertConfig(**small)), index=tmp_path / "index")
    assert (found[0].name, found[0].exact) == (row.name, True)


@pytest.mark.slow
def test_thirty_model_types(client, python, tmp_path):
    """Configs as transformers' own classes make them; each traces as its type does by name."""
    from transformers import AutoConfig

    import nar_plugin
    from nar_plugin.train.corpus.corpus import read_names

    for kind in TYPES:
        put_config(client, f"owner/{kind}", json.loads(AutoConfig.for_model(kind).to_json_string()))
    ids = tmp_path / "ids"
    ids.write_text("".join(f"owner/{kind}\n" for kind in TYPES))
    words = [str(tmp_path / "corpus"), "--file", str(ids), "--work", str(tmp_path / "work")]
    said = run(python, *words, "--pace", "0.01")
    assert said.startswith(f"{len(TYPES)} of {len(TYPES)} models traced")
    client.forget()
    assert run(python, *words) == said
    assert not client.log  # nothing is read twice
    found = {row["name"]: row["fingerprint"] for row in read_names(tmp_path / "corpus")}
    for kind in TYPES[::6]:
        trace = nar_plugin.trace(f"transformers:{kind}")
        assert found[f"hub:owner/{kind}"] == trace.fingerprint
