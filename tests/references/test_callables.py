import sys

import pytest
import torch

from nar_plugin.errors import NarError
from nar_plugin.references import resolve

SOURCE = """
import torch
from torch import nn

ready = nn.Linear(2, 2)
number = 3

class Net(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        rates = [rate.item() for rate in torch.linspace(0, 0.1, depth)]
        self.layers = nn.Sequential(*[nn.Linear(8, 8) for _ in rates])

def small():
    return nn.Linear(3, 4)

class Anchors(nn.Module):
    def __init__(self):
        super().__init__()
        self.sizes = nn.Parameter(torch.ones(3))
        self.any = bool((self.sizes > 0).any())

def needs(width):
    return nn.Linear(width, width)

def text():
    return "a model"

class zoo:
    tiny = small
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "my_models.py").write_text(SOURCE)
    (tmp_path / "script.py").write_text("import sys\nsys.exit('usage: script')\n")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    yield tmp_path
    assert sys.path == path
    for name in ("my_models", "script", "broken"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", ["small", "zoo.tiny"])
def test_a_callable_of_the_current_folder_is_built_without_weights(folder, name):
    model = resolve(f"my_models:{name}")
    assert isinstance(model, torch.nn.Linear)
    assert model.weight.is_meta


def test_a_constructor_that_reads_values_is_built_too(folder):
    assert len(resolve("my_models:Net").layers) == 2


def test_a_ready_model_is_taken_as_it_is(folder):
    assert resolve("my_models:ready") is sys.modules["my_models"].ready


@pytest.mark.parametrize(
    ("reference", "hint"),
    [
        ("my_models:smal", "did you mean small?"),
        ("my_models:number", "is a int, not a torch.nn.Module"),
        ("my_models:text", "gives a str, not a torch.nn.Module"),
        ("my_models:needs", "missing 1 required positional argument: 'width'"),
        ("my_models:Anchors", "Build the model in Python, and ask nar_plugin.find_similar(model)"),
        ("no_such_module:make", "No module named 'no_such_module'"),
        ("script:main", "usage: script"),
        ("broken:main", "ZeroDivisionError: division by zero"),
    ],
)
def test_what_goes_wrong_is_said(folder, reference, hint):
    with pytest.raises(NarError) as raised:
        resolve(reference)
    assert hint in str(raised.value)
