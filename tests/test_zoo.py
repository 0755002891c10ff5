"""Names drawn evenly from the embedded index are built, traced and found as themselves.

A library of another release than the one that the corpus was built with may have rewritten a
forward: its names are found first, and nearly all of them as identical.
"""

import importlib.util
from pathlib import Path

import pytest

import nar_plugin
from nar_plugin.references import resolve
from nar_plugin.train.corpus.corpus import read_names
from nar_plugin.train.corpus.workers import version_of

pytest.importorskip("timm")
pytest.importorskip("transformers")

CORPUS = Path(nar_plugin.__file__).parent / "data" / "corpus"
NEAR = 0.9


@pytest.mark.slow
def test_every_eightieth_name_finds_itself():
    index = nar_plugin.load_index()
    libraries = {name.partition(":")[0] for row in index.rows() for name in row.names}
    here = tuple(f"{one}:" for one in libraries if importlib.util.find_spec(one) is not None)
    names = [name for row in index.rows() for name in row.names if name.startswith(here)]
    names = sorted(names)[::80]
    traced = {row["name"]: (row["library"], row["version"]) for row in read_names(CORPUS)}
    strangers, rewritten = [], []
    for name in names:
        first = nar_plugin.find_similar(resolve(name), k=1)[0]
        library, version = traced[name]
        if name not in first.names or first.score < NEAR:
            strangers.append(name)
        elif not first.exact:
            (strangers if version_of(library) == version else rewritten).append(name)
    assert len(names) > 70
    assert not strangers
    assert len(rewritten) <= len(names) // 50, rewritten
