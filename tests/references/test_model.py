from types import SimpleNamespace

import pytest
from torch import nn

from nar_plugin.errors import NarError
from nar_plugin.references import as_model


def test_a_module_is_itself():
    model = nn.Linear(2, 2)
    assert as_model(model) is model


def test_an_empty_container_is_a_model_too():
    model = nn.Sequential()
    assert as_model(model) is model


def test_a_reference_is_resolved():
    assert isinstance(as_model("torch.nn:ReLU"), nn.ReLU)


def test_a_config_is_built():
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(num_hidden_layers=1)
    assert type(as_model(config)) is transformers.BertModel


def test_anything_else_is_named():
    with pytest.raises(NarError) as raised:
        as_model(3)
    assert str(raised.value) == (
        "find_similar wants a torch.nn.Module, a transformers config or a reference such as "
        "'timm:resnet50'; got int: 3"
    )


def test_the_function_that_was_called_is_named():
    with pytest.raises(NarError, match=r"^compare wants a torch.nn.Module"):
        as_model(None, caller="compare")


def test_a_long_object_stays_short():
    with pytest.raises(NarError) as raised:
        as_model(list(range(10_000)))
    assert len(str(raised.value)) < 200


def test_a_class_is_not_a_model():
    with pytest.raises(NarError, match=r"the class ReLU.*ReLU\(\)"):
        as_model(nn.ReLU)


def test_a_pipeline_names_its_parts_largest_first():
    parts = {"vae": nn.Linear(2, 2), "unet": nn.Linear(9, 9), "scheduler": object()}
    with pytest.raises(NarError) as raised:
        as_model(SimpleNamespace(components=parts))
    assert "pipe.unet.find_similar() (also pipe.vae)" in str(raised.value)


def test_weights_alone_are_no_model():
    with pytest.raises(NarError, match=r"OrderedDict of tensors: weights alone, without a forward"):
        as_model(nn.Linear(2, 2).state_dict())


def test_a_path_is_read_as_its_text_is(tmp_path):
    with pytest.raises(NarError, match="does not exist: give a folder with a config"):
        as_model(tmp_path / "nowhere")


def test_weights_that_are_not_there_are_not_called_weights(tmp_path):
    with pytest.raises(NarError, match=r"nowhere\.safetensors does not exist: check the path"):
        as_model(tmp_path / "nowhere.safetensors")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("model.py", "a colon and what makes the model: my_module:MyModel"),
        ("model.pt", "it holds weights"),
        ("model.safetensors", "it holds weights"),
    ],
)
def test_files_that_are_no_config_are_told_apart(tmp_path, monkeypatch, name, hint):
    (tmp_path / name).write_bytes(b"\x80")
    monkeypatch.chdir(tmp_path)
    for reference in (name, f"./{name}", tmp_path / name):
        with pytest.raises(NarError, match=hint):
            as_model(reference)
