"""A question ends within `NAR_TRACE_SECONDS`, whatever runs, and nothing of it is left running."""

import os
import sys
import threading
import time

import pytest
import torch
from process import modes, no_child_is_left
from torch import nn

from nar_plugin import api
from nar_plugin.errors import NarError, TraceError

IMAGE = torch.empty(1, 4)


@pytest.fixture(autouse=True)
def two_seconds(monkeypatch):
    monkeypatch.setenv("NAR_TRACE_SECONDS", "2")


@pytest.fixture
def time_for_layers(monkeypatch):
    """A third is left for the layers: a busy machine may need a second or two to start a child."""
    monkeypatch.setenv("NAR_TRACE_SECONDS", "12")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)


class LoopsInPython(Net):
    def forward(self, x):
        while True:
            pass


class LoopsAndCatchesAll(Net):
    def forward(self, x):
        while True:
            try:
                self.layer(x).item()
            except BaseException:
                pass


class LoopsOverConstants(Net):
    def forward(self, x):
        count = torch.zeros(())
        while count >= 0:
            count = count * 1
        return self.layer(x)


class Sleeps(Net):
    def forward(self, x):
        time.sleep(10_000)


class TakesALock(Net):
    def forward(self, x):
        HELD.acquire()
        return self.layer(x)


class WaitsForAThread(Net):
    def forward(self, x):
        threading.Event().wait()


class ReadsAPipe(Net):
    def forward(self, x):
        os.read(os.pipe()[0], 1)


class StartsAProcess(Net):
    def forward(self, x):
        import subprocess

        subprocess.run([sys.executable, "-c", "import time; time.sleep(10_000)"], check=True)


HELD = threading.Lock()
HELD.acquire()
ENDLESS = [
    LoopsInPython,
    LoopsAndCatchesAll,
    LoopsOverConstants,
    Sleeps,
    TakesALock,
    WaitsForAThread,
    ReadsAPipe,
    StartsAProcess,
]


@pytest.mark.parametrize("kind", ENDLESS)
def test_given_inputs_that_never_end_are_an_error(kind):
    model = kind()
    before = modes()
    with pytest.raises(TraceError, match=rf"forward of {kind.__name__} on float32\[1, 4\]") as info:
        api.find_similar(model, example_inputs=IMAGE)
    assert "NAR_TRACE_SECONDS=20" in str(info.value)
    assert modes() == before
    assert no_child_is_left()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ENDLESS)
@pytest.mark.usefixtures("time_for_layers")
def test_without_inputs_the_layers_answer(kind):
    graph = api.trace(kind())
    assert graph.method == "modules"
    assert [op.kind for op in graph.ops] == ["linear"]
    assert "NAR_TRACE_SECONDS" in graph.reason
    assert no_child_is_left()


def test_in_any_thread():
    def ask():
        try:
            api.trace(Sleeps(), example_inputs=IMAGE)
        except TraceError as error:
            said.append(str(error))

    said = []
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert "did not end" in said[0]
    assert no_child_is_left()


@pytest.mark.slow
def test_a_config_with_a_million_layers():
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(num_hidden_layers=1_000_000)
    with pytest.raises(TraceError, match="Building the model did not end") as info:
        api.find_similar(config)
    assert "NAR_TRACE_SECONDS=20" in str(info.value)
    assert no_child_is_left()


def test_a_constructor_that_never_ends(tmp_path, monkeypatch):
    (tmp_path / "slow_models.py").write_text("import time\ndef net():\n    time.sleep(10_000)\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TraceError, match="Building the model did not end within 2 s"):
        api.find_similar("slow_models:net")
    assert no_child_is_left()


def test_a_forward_that_ends_its_process_is_an_error_and_the_layers_are_left():
    class Ends(Net):
        def forward(self, x):
            os._exit(0)

    with pytest.raises(TraceError, match="ended its process"):
        api.trace(Ends(), example_inputs=IMAGE)
    assert api.trace(Ends()).method == "modules"


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "soon", "1,5"])
def test_a_limit_that_is_no_number_is_refused(monkeypatch, text):
    monkeypatch.setenv("NAR_TRACE_SECONDS", text)
    with pytest.raises(NarError, match="NAR_TRACE_SECONDS"):
        api.trace(nn.Linear(4, 4))
