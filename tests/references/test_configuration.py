import json
import subprocess
import sys

import pytest

from nar_plugin.errors import NarError
from nar_plugin.references import from_config, resolve

transformers = pytest.importorskip("transformers")


@pytest.fixture
def config():
    return transformers.BertConfig(num_hidden_layers=1, architectures=["BertForMaskedLM"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cached(folder, monkeypatch):
    """A Hub cache that holds `owner/name`, laid out as huggingface_hub does, and no network."""
    commit = "0123456789abcdef0123456789abcdef01234567"
    repo = folder / "models--owner--name"
    snapshot = repo / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (repo / "refs").mkdir()
    for ref in ("main", "v1"):
        (repo / "refs" / ref).write_text(commit)
    (snapshot / "config.json").write_text(json.dumps({"model_type": "bert"}))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    return commit


def test_the_class_that_the_config_names_without_weights(config):
    before = config.to_dict()
    model = from_config(config)
    assert type(model) is transformers.BertForMaskedLM
    assert next(model.parameters()).is_meta
    assert config.to_dict() == before


@pytest.mark.parametrize("named", [None, [], ["NoSuchClass"], ["pipeline"], ["GPT2Model"]])
def test_else_the_base_model_of_its_type(config, named):
    config.architectures = named
    assert type(from_config(config)) is transformers.BertModel


def test_the_librarys_own_message(config):
    config.hidden_size = 7
    with pytest.raises(NarError, match=r"could not build BertForMaskedLM .*hidden size \(7\)"):
        from_config(config)


def test_folder_and_file(folder, config):
    config.save_pretrained(folder / "saved")
    for reference in ("./saved", "./saved/config.json", str(folder / "saved")):
        assert type(resolve(reference)) is transformers.BertForMaskedLM


def test_a_timm_config(folder):
    pytest.importorskip("timm")
    content = {"architecture": "resnet18", "num_classes": 10, "pretrained_cfg": {"num_classes": 10}}
    (folder / "config.json").write_text(json.dumps(content))
    model = resolve("./config.json")
    assert model.num_classes == 10
    assert model.fc.weight.is_meta


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a config"),
        ("{}", "model_type"),
        ('{"model_type": "no_such_type"}', "no_such_type"),
        ('{"model_type": "own", "auto_map": {"AutoConfig": "code.Own"}}', "never runs"),
    ],
)
def test_what_is_wrong_with_a_file(folder, content, hint):
    (folder / "config.json").write_text(content)
    (folder / "code.py").write_text("raise SystemExit('was run')")
    with pytest.raises(NarError, match=hint):
        resolve("./config.json")


def test_no_such_file(folder):
    with pytest.raises(NarError, match="nowhere does not exist"):
        resolve("./nowhere")


@pytest.mark.parametrize("revision", ["", "@v1", "@0123456789abcdef0123456789abcdef01234567"])
def test_a_cached_snapshot_answers_offline(cached, revision):
    assert type(resolve(f"hub:owner/name{revision}")) is transformers.BertModel


@pytest.mark.parametrize("name", ["owner/name@v2", "owner/other", "not a name"])
def test_what_is_not_in_the_cache(cached, name):
    with pytest.raises(NarError, match=f"hub:{name} could not be read"):
        resolve(f"hub:{name}")


def test_asking_whether_it_is_a_config_imports_nothing():
    code = (
        "import sys; from nar_plugin.references.configuration import is_config; "
        "assert not is_config(3); assert 'transformers' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
