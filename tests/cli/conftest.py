from types import ModuleType

import numpy as np
import pytest
from typer.testing import CliRunner

import nar_plugin
from nar_plugin.cli import app
from nar_plugin.errors import IndexUnavailable
from nar_plugin.mining.macro import MacroGraph, Motif
from nar_plugin.report import (
    Comparison,
    Hit,
    IndexInfo,
    Query,
    SharedMotif,
    SimilarArchitectures,
)
from nar_plugin.report.distinct import Asked, distinct_designs
from nar_plugin.tracing.graph import ArchitectureGraph, Op

CONV, RELU = Op("conv", (("kernel", "3x3"),)), Op("relu")
PAIR = np.array([[0, 1]], dtype=np.int32)


@pytest.fixture
def nar():
    """Run the command line in this process: `nar("find", "timm:resnet18").stdout`."""
    runner = CliRunner(env={"COLUMNS": "100"})
    return lambda *words: runner.invoke(app, words)


@pytest.fixture
def api(monkeypatch):
    """An api that answers at once and notes what it was asked in `api.asked`."""
    fake = ModuleType("nar_plugin.api")
    query = Query("my:net", None, 1_200_000, 3_400_000, 2, "nar1:aa", "nar1:bb")
    shared = (SharedMotif("Block", "s", 2, 4, 5),)
    hit = Hit(
        1, "timm:net", ("timm:net",), 0.5, "net", "timm", "task", 10, 20, "f", False, shared
    )  # fmt: skip

    class FakeIndex:
        def info(self):
            families = {f"family-{number}": 1 for number in range(40)} | {"resnet": 1120}
            return {"names": 1461, "graphs": 1203, "families": families, "revision": None}

    def find_similar(
        model,
        k=10,
        *,
        index=None,
        where=None,
        example_inputs=None,
        trace=False,
        distinct="backbone",
    ):
        print("chatter of a model library")  # noqa: T201
        fake.asked = {"model": model, "k": k, "index": index, "where": where}
        return SimilarArchitectures(
            query, IndexInfo("embedded", None, 2, 1, "e", "made today"), (hit,)
        )

    def load_index(path=None, revision=None):
        fake.asked_index = (path, revision)
        if path == "nowhere":
            raise IndexUnavailable("no index at nowhere:\x1b[2J [red]try[/red]\nnar index update")
        return fake.the_index

    fake.the_index = FakeIndex()
    fake.asked_index = None
    fake.find_similar, fake.load_index = find_similar, load_index
    fake.trace = lambda model, **_: ArchitectureGraph((CONV, RELU), PAIR, ("a", "b"), params=7)
    fake.motifs = lambda model, **_: MacroGraph(
        (Motif((CONV, RELU), PAIR, "key", "shape", "Block"),),
        np.array([0, 0], dtype=np.int32),
        PAIR,
        np.array([[0, 2], [2, 4]], dtype=np.int32),
        ArchitectureGraph((CONV, RELU, CONV, RELU), PAIR, ("",) * 4),
    )
    fake.dedupe = lambda models, **_: distinct_designs(
        [Asked(place, name, "d", "b", 2) for place, name in enumerate(models)]
    )
    fake.compare = lambda a, b, **_: Comparison(0.75, False, False, shared, query, query)
    monkeypatch.setattr(nar_plugin, "api", fake, raising=False)
    monkeypatch.setitem(__import__("sys").modules, "nar_plugin.api", fake)
    return fake
