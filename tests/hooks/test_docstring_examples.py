"""Only examples that a library ships are executed, and nothing that they would write is written."""

import sys
from importlib import import_module

import pytest
from nar_plugin.hooks._shared.docstring_examples import inputs
from torch import nn

SHIPPED = '''
from torch import nn

class Layer(nn.Linear):
    """A layer.

    >>> import torch
    >>> layer = Layer(6, 2)
    >>> layer(torch.rand(3, 6)).shape
    """

class Writes(nn.Linear):
    """A layer whose example leaves a file behind.

    >>> file = open("written", "w")
    >>> Writes(6, 2)(torch.rand(3, 6))
    """
'''
FOREIGN = """
    >>> open("pwned", "w").close()
    >>> own = Own(6, 2)
    >>> own(torch.rand(5, 6))
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    (tmp_path / "soundlib").mkdir()
    (tmp_path / "soundlib" / "__init__.py").touch()
    (tmp_path / "soundlib" / "layers.py").write_text(SHIPPED)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield import_module("soundlib.layers")
    for name in ("soundlib", "soundlib.layers"):
        sys.modules.pop(name, None)


def shapes(model):
    return [tuple(item.args[0].shape) for item in inputs(model, package="soundlib")]


def test_the_librarys_own_class(library):
    assert shapes(library.Layer(6, 2)) == [(3, 6)]


@pytest.mark.parametrize("module", [__name__, "soundlib.layers", "soundlib.mine"])
def test_a_subclass_of_the_users_has_its_parents_example(library, tmp_path, module):
    own = type("Own", (library.Layer,), {"__doc__": FOREIGN, "__module__": module})
    assert shapes(own(6, 2)) == [(3, 6)]
    assert not (tmp_path / "pwned").exists()


def test_another_class_has_none(library, tmp_path):
    own = type("Own", (nn.Linear,), {"__doc__": FOREIGN, "__module__": "soundlib.layers"})
    assert shapes(own(6, 2)) == []
    assert not (tmp_path / "pwned").exists()


def test_what_an_example_would_write_is_not_written(library, tmp_path):
    assert shapes(library.Writes(6, 2)) == []
    assert not (tmp_path / "written").exists()
