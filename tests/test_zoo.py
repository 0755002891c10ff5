"""Names drawn evenly from the embedded index are built, traced and found as themselves."""

import importlib.util

import pytest

import nar_plugin
from nar_plugin.references import resolve

pytest.importorskip("timm")
pytest.importorskip("transformers")


@pytest.mark.slow
def test_every_eightieth_name_finds_itself():
    index = nar_plugin.load_index()
    libraries = {name.partition(":")[0] for row in index.rows() for name in row.names}
    here = tuple(f"{one}:" for one in libraries if importlib.util.find_spec(one) is not None)
    names = [name for row in index.rows() for name in row.names if name.startswith(here)]
    names = sorted(names)[::80]
    strangers = []
    for name in names:
        first = nar_plugin.find_similar(resolve(name), k=1)[0]
        if not first.exact or name not in first.names:
            strangers.append(name)
    assert len(names) > 70
    assert not strangers
