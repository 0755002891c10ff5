"""Calls in a plugin's table are read as Python reads them, and nothing else is."""

from types import SimpleNamespace

import pytest
import torch
from nar_plugin.hooks._shared.expressions import evaluate, options
from nar_plugin.hooks._shared.tables import table
from torch import nn

CALLS = {
    "monai": "networks.toml",
    "vit_pytorch": "classes.toml",
    "x_transformers": "networks.toml",
}


def test_a_call_makes_what_python_makes():
    layer = evaluate("nn.Linear(4, 2 * 8, bias=False)", {"nn": nn})
    assert (layer.in_features, layer.out_features, layer.bias) == (4, 16, None)
    mask = evaluate("torch.arange(4)[:, None] >= torch.arange(4)[None, :] - 1", {"torch": torch})
    assert mask.int().tolist() == [[1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1]]


def test_a_tuple_stays_a_tuple_and_a_list_a_list():
    given = options("UNet(channels=(16, 32), layers=['a', 'b'], names={'x': 1}, ratio=-0.5)")
    assert given == {"channels": (16, 32), "layers": ["a", "b"], "names": {"x": 1}, "ratio": -0.5}


@pytest.mark.parametrize(
    "text",
    [
        "net.__class__",
        "(lambda: 1)()",
        "[x for x in (1, 2)]",
        "make(**{'width': 1})",
        "1 if net else 2",
    ],
)
def test_what_no_table_needs_is_refused(text):
    with pytest.raises(ValueError, match="a table has no such"):
        evaluate(text, {"net": SimpleNamespace(), "make": dict})


def test_a_name_that_was_not_lent_is_refused():
    with pytest.raises(KeyError, match="open"):
        evaluate("open('secret')", {"torch": torch})


@pytest.mark.parametrize("plugin", CALLS)
def test_every_call_of_a_table_can_be_read(plugin):
    rows = table(f"nar_plugin.hooks.{plugin}", CALLS[plugin])
    assert len(rows) > 50

    class Lent(dict):
        def __missing__(self, name):
            return SimpleNamespace

    for row in rows.values():
        assert isinstance(evaluate(row["build"], Lent()), SimpleNamespace)


def test_every_example_of_lucidrains_can_be_read():
    from nar_plugin.hooks.lucidrains.catalogue import examples, packages

    class Anything:
        """Stands for any name: it has every attribute, and can be called, compared and added."""

        def __getattr__(self, name):
            return self

        def __call__(self, *args, **kwargs):
            return self

        __getitem__ = __add__ = __sub__ = __and__ = __lt__ = __le__ = __ge__ = __call__

    class Lent(dict):
        def __missing__(self, name):
            return Anything()

    models = {name: model for group in examples().values() for name, model in group.items()}
    assert len(models) > 300
    for name, model in models.items():
        assert isinstance(evaluate(model.build, Lent()), Anything)
        assert isinstance(evaluate(model.call or "call()", Lent()), Anything)
        assert name.partition("/")[0].partition(".")[0] in packages()
