"""A config is data: whatever it says, nothing is loaded, fetched, executed or asked."""

import json
import os
import random
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pytest

from nar_plugin.errors import NarError
from nar_plugin.references import as_model

pytest.importorskip("timm")
transformers = pytest.importorskip("transformers")
sys.path.insert(0, str(Path(__file__).parent))
import config_attacks  # noqa: E402
from whole import part  # noqa: E402

ROOT = Path(__file__).parents[2]
NAMES = list(config_attacks.attacks(Path("/nowhere")))
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the canaries; the Hub may be asked, so nothing but the wall keeps it quiet."""
    config_attacks.prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("builtins.input", lambda *_: "y")  # a prompt would be said yes to
    return tmp_path


def harmless(ask, folder):
    end, seen = config_attacks.outcome(ask, folder)
    assert end in config_attacks.ENDS
    assert seen == []
    return end


def written(folder, config):
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_an_attack_by_a_folder(folder, name):
    written(folder, config_attacks.attacks(folder)[name])
    harmless(lambda: as_model(str(folder)), folder)


@pytest.mark.parametrize("name", ["checkpoint of timm_wrapper", "code of its own", "nested"])
def test_an_attack_by_a_path_object(folder, name):
    written(folder, config_attacks.attacks(folder)[name])
    harmless(lambda: as_model(folder / "config.json"), folder)


@pytest.mark.parametrize("name", NAMES)
def test_an_attack_by_a_cached_snapshot_of_the_hub(folder, monkeypatch, name):
    repo = folder / "models--owner--name"
    snapshot = repo / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text(COMMIT)
    (snapshot / "code.py").write_text((folder / "code.py").read_text())
    written(snapshot, config_attacks.attacks(folder)[name])
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder))
    end, seen = config_attacks.outcome(lambda: as_model("hub:owner/name"), folder)
    assert end in config_attacks.ENDS
    assert set(seen) <= {f"read {repo / 'refs' / 'main'}"}


@pytest.mark.parametrize("name", NAMES)
def test_an_attack_by_a_config_object(folder, name):
    values = config_attacks.attacks(folder)[name]
    kind = values.pop("model_type", "timm_wrapper")
    if kind not in transformers.CONFIG_MAPPING:
        pytest.skip("transformers makes no such object")
    config = transformers.CONFIG_MAPPING[kind]()
    vars(config).update(values)
    before = dict(vars(config))
    harmless(lambda: as_model(config), folder)
    assert vars(config) == before


def test_what_only_says_where_weights_are_is_left_out(folder):
    arguments = {"in_chans": 1, "checkpoint_path": str(folder / "evil.bin")}
    content = {"architecture": "resnet18", "pretrained_cfg": {"num_classes": 10}}
    content["model_args"] = arguments
    model = as_model(written(folder, content))
    assert (model.num_classes, model.conv1.in_channels) == (10, 1)


def test_a_name_that_is_a_repository_is_refused(folder):
    written(folder, {"architecture": "hf-hub:evil/model"})
    with pytest.raises(NarError, match=r"config\.json names 'hf-hub:evil/model'.*not an arch"):
        as_model(folder)


def test_a_type_that_automodel_lacks_is_built_by_transformers_own_class(folder):
    written(folder, {"model_type": "blip_text_model", "num_hidden_layers": 1})
    model = as_model(folder)
    assert type(model) is transformers.BlipTextModel
    assert len(model.encoder.layer) == 1


# The wall itself is tested in test_guard.py; here, that construction stands behind it.
def test_a_value_that_no_list_knows_meets_the_wall(folder, monkeypatch):
    def reads(config, **_):
        return Path(config.unheard_of).read_text()

    (folder / "secret").write_text("secret")
    written(folder, {"model_type": "bert", "unheard_of": str(folder / "secret")})
    monkeypatch.setattr(transformers.AutoModel, "from_config", reads)
    with pytest.raises(NarError, match=r"config\.json would read the file .*secret"):
        as_model(folder)


def deep(levels):
    return '{"model_type": "bert", "a": ' + "[" * levels + "]" * levels + "}"


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (b"", "is not JSON"),
        (b"\xff\xfe\xfa{", "is not JSON"),
        (b'{"model_type": "b\xe9rt"}', "is not JSON"),
        (b"[]", "holds no object"),
        (b"null", "holds no object"),
        (b'"bert"', "holds no object"),
        (b"3", "holds no object"),
        (b"{}", "no model_type"),
        (b'{"model_type": 5}', "no model_type"),
        (b'{"model_type": ["bert"]}', "no model_type"),
        (b'{"model_type": "bert", "vocab_size": ' + b"9" * 5000 + b"}", "is not JSON"),
        (deep(200).encode(), "nested deeper than 100"),
        (deep(200_000).encode(), "nested too deeply"),
        (b'{"architecture": 5}', "timm could not build"),
        (b'{"architecture": "no_such"}', "timm could not build"),
        (b'{"architecture": "resnet18", "model_args": [1]}', "timm could not build"),
        (b'{"architecture": "resnet18", "pretrained_cfg": "x"}', "timm could not build"),
        (b'{"model_type": "bert", "hidden_size": NaN}', "config.json"),
        (b'{"model_type": "bert", "vocab_size": 1' + b"0" * 40 + b"}", "config.json"),
        (b'{"model_type": "bert", "hidden_size": -1}', "config.json"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(folder, content, hint):
    (folder / "config.json").write_bytes(content)
    with pytest.raises(NarError, match=hint) as caught:
        as_model(folder)
    assert "config.json" in str(caught.value)


@pytest.mark.parametrize("named", [[5], "BertModel", [["BertModel"]], {"a": 1}, [None], 7])
def test_architectures_of_any_kind(folder, named):
    written(folder, {"model_type": "bert", "num_hidden_layers": 1, "architectures": named})
    harmless(lambda: as_model(folder), folder)
    config = transformers.BertConfig(num_hidden_layers=1)
    vars(config)["architectures"] = named
    assert type(as_model(config)) is transformers.BertModel


def test_of_two_equal_keys_the_last_counts_everywhere(folder):
    content = '{"model_type": "bert", "num_hidden_layers": 1, "num_hidden_layers": 2}'
    (folder / "config.json").write_text(content)
    assert len(as_model(folder).encoder.layer) == 2


def test_a_file_of_gigabytes_is_not_read(folder):
    with (folder / "config.json").open("wb") as file:
        file.truncate(8 << 30)
    with pytest.raises(NarError, match="larger than 32 MiB"):
        as_model(folder)


def test_what_is_no_file_is_not_waited_for(folder):
    os.mkfifo(folder / "config.json")
    with pytest.raises(NarError, match=r"config\.json is not a config: it is no regular file"):
        as_model(folder)
    (folder / "other").mkdir()
    (folder / "other" / "config.json").mkdir()
    (folder / "device").mkdir()
    (folder / "device" / "config.json").symlink_to("/dev/zero")
    for name in ("other", "device"):
        with pytest.raises(NarError, match="no regular file"):
            as_model(folder / name)


@pytest.mark.parametrize(
    "reference",
    ["~nosuchuser/model", "./a\0b", "./" + "a" * 5000, "./loop", "./\ud800", "./missing"],
)
def test_a_path_that_cannot_be(folder, reference):
    (folder / "loop").symlink_to("loop")
    for candidate in (reference, Path(reference)):
        with pytest.raises(NarError, match=r"cannot be read|does not exist"):
            as_model(candidate)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(folder):
    written(folder, {"model_type": "bert"})
    (folder / "config.json").chmod(0)
    with pytest.raises(NarError, match=r"config\.json cannot be read"):
        as_model(folder)


@pytest.mark.parametrize("revision", ["../../x", "/etc/passwd", "a/../../b", ""])
def test_a_revision_is_no_path(folder, revision):
    with pytest.raises(NarError, match="names no revision"):
        as_model(f"hub:owner/name@{revision}")


@pytest.mark.slow
def test_the_attacks_under_the_lowest_versions(tmp_path):
    """Of timm and transformers alone, in a folder before the others: they need no other torch."""
    lowest = tmp_path / "lowest"
    # transformers 5.5 takes no newer tokenizers, and no huggingface_hub 2.
    pins = ["timm==1.0.20", "transformers==5.5.0", "tokenizers<=0.23.0", "huggingface_hub>=1.31,<2"]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-cache-dir"]
    installed = subprocess.run([*pip, "--target", lowest, *pins], capture_output=True, text=True)
    if installed.returncode:  # no network, no registry, no pip
        pytest.skip("the lowest versions could not be installed: " + installed.stderr[-300:])
    (folder := tmp_path / "folder").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(lowest), "HF_HOME": str(tmp_path / "home")}
    environment.pop("HF_HUB_OFFLINE", None)
    command = [sys.executable, config_attacks.__file__, str(folder)]
    done = subprocess.run(command, env=environment, input="y\n" * 9, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    outcomes = json.loads(done.stdout)
    assert list(outcomes) == NAMES
    bad = {k: v for k, v in outcomes.items() if v[0] not in config_attacks.ENDS or v[1]}
    assert bad == {}


KEYS = [
    *("model_type", "architectures", "auto_map", "attn_implementation", "architecture", "backbone"),
    *("backbone_config", "backbone_kwargs", "vision_config", "text_config", "encoder", "decoder"),
    *("model_args", "pretrained_cfg", "checkpoint_path", "pretrained", "use_pretrained_backbone"),
    *("_name_or_path", "dtype", "torch_dtype", "quantization_config", "rope_scaling", "id2label"),
    *("hidden_act", "layer_types", "num_hidden_layers", "hidden_size", "vocab_size", "weights"),
]


def mutated(chance, folder):
    """A small config, with one to four values of any kind put somewhere into it."""
    bad = str(folder / "evil.bin")
    values = [
        *(None, True, 0, -1, 2, 3.5, 1e308, float("nan"), float("inf"), "", "x", bad, [], {}, [5]),
        *(
            "hf-hub:evil/model",
            "evil/model",
            f"local-dir:{folder}",
            "code.Evil",
            "load",
            "resnet18",
        ),
        *(
            "https://evil.example/x",
            "kernels-community/evil",
            "~nosuchuser",
            "../..",
            "a\0b",
            "\ud800",
        ),
        *(
            {"": "evil/k"},
            {"AutoModel": "code.Evil"},
            {"file": bad},
            {"checkpoint_path": bad},
            ["x"],
        ),
        *({"model_type": "timm_backbone", "backbone": "evil/model"}, {"model_type": "bert"}),
    ]
    sizes = {"num_hidden_layers": 1, "hidden_size": 32, "num_attention_heads": 2, "vocab_size": 50}
    kind = chance.choice(["bert", "gpt2", "detr", "dpt", "clip", "llava", "blip_text_model", "rag"])
    config = chance.choice(
        [
            {"model_type": kind, **sizes},
            {"model_type": "timm_wrapper", "architecture": "resnet18", "model_args": {}},
            {"model_type": "timm_backbone", "backbone": "resnet18"},
            {"architecture": "resnet18", "pretrained_cfg": {"num_classes": 5}, "model_args": {}},
            {"model_type": "vision-encoder-decoder", "encoder": {"model_type": "vit", **sizes}},
        ]
    )
    config = json.loads(json.dumps(config))
    for _ in range(chance.randint(1, 4)):
        places = [config, *(item for item in config.values() if isinstance(item, dict))]
        place = chance.choice(places)
        place[chance.choice([*KEYS, *place])] = deepcopy(chance.choice(values))
    return config


@pytest.mark.slow
def test_mutated_configs(folder):
    chance, ends = random.Random(0), []
    for _ in range(part(3000, 4)):
        written(folder, mutated(chance, folder))
        ends.append(harmless(lambda: as_model(folder), folder))
    assert min(map(ends.count, config_attacks.ENDS)) > part(300, 4)  # both are tested
