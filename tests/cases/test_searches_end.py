"""A search for inputs ends long before the question does, whatever the forward does with them."""

import os
import subprocess
import sys
from pathlib import Path

import loops
import pytest
import torch

import nar_plugin
from nar_plugin.errors import TraceError
from nar_plugin.isolation import OutOfTime
from nar_plugin.tracing.run import attempts, budget, question, remembered
from nar_plugin.tracing.run.attempts import Attempts


@pytest.fixture(autouse=True)
def fifteen_seconds(monkeypatch):
    monkeypatch.setenv("NAR_TRACE_SECONDS", "15")


def gigabytes(program):
    """Runs a program apart; how much more than it itself its largest child took at most."""
    here = Path(__file__).parent
    measured = """
import resource
of = lambda who: resource.getrusage(who).ru_maxrss
before = of(resource.RUSAGE_SELF)
%s
print((of(resource.RUSAGE_CHILDREN) - before) / (1 << 20))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", measured % program],
        env={**os.environ, "PYTHONPATH": str(here)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return float(done.stdout.split()[-1])


@pytest.mark.slow
def test_an_answer_comes_and_takes_little_memory():
    program = """
import loops, nar_plugin
for kind in loops.STATED + loops.FURTHER:
    assert len(nar_plugin.trace(kind())), kind
"""
    assert gigabytes(program) < 1


def test_a_loop_is_not_walked_along_a_long_guess(in_this_process, monkeypatch):
    tried = []
    real = attempts.follow_on_meta

    def followed(model, inputs, reason, **limits):
        try:
            return real(model, inputs, reason, **limits)
        except BaseException as error:
            tried.append((inputs, vars(error).get("nar_calls_made", 0)))
            raise

    monkeypatch.setattr(attempts, "follow_on_meta", followed)
    graph = nar_plugin.trace(loops.RefusedAtTheEnd())

    assert graph.method == "modules"
    assert sum(calls for _, calls in tried) < 100_000
    assert max(budget.elements(inputs) for inputs, _ in tried) <= 1 << 24


def test_a_module_that_is_asked_again_is_not_searched_again(in_this_process, monkeypatch):
    model = loops.Tree()
    first = nar_plugin.trace(model)
    monkeypatch.setattr(Attempts, "with_inputs", None)
    second = nar_plugin.trace(model)

    assert first.method == second.method == "modules"
    assert first.reason == second.reason


def test_found_inputs_are_used_again_and_give_the_same_graph(in_this_process, monkeypatch):
    model = torch.nn.Sequential(torch.nn.Unflatten(1, (2, 3)), torch.nn.Linear(3, 4))
    first = nar_plugin.trace(model)
    tried = []
    real = Attempts.with_inputs
    monkeypatch.setattr(
        Attempts, "with_inputs", lambda *args, **kw: tried.append(args) or real(*args, **kw)
    )
    second = nar_plugin.trace(model)

    assert first.method == "meta"
    assert second == first
    assert len(tried) == 1


def test_another_module_of_the_class_is_searched_anew():
    one, other = torch.nn.Linear(3, 4), torch.nn.Linear(3, 5)

    assert remembered._key(one) == remembered._key(torch.nn.Linear(3, 4))
    assert remembered._key(one) != remembered._key(other)


def test_a_forked_search_is_remembered_in_the_process_that_asks():
    model = loops.Tree()
    first = nar_plugin.trace(model)

    assert remembered.recalled(model, 1.0).words == first.reason


def test_a_refusal_by_shape_is_not_tried_on_real_weights(in_this_process, monkeypatch):
    monkeypatch.setattr(attempts, "follow_on_reals", None)

    class Wants(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 4)

        def forward(self, x):
            return self.layer(x.reshape(7, 11, 13))

    assert nar_plugin.trace(Wants()).method in ("meta", "modules")


def test_a_search_has_a_third_of_the_question(monkeypatch):
    seconds = []

    def followed(model, inputs, share):
        seconds.append(share)
        raise TraceError("enough")

    monkeypatch.setattr(question, "followed", followed)
    monkeypatch.setattr(question.isolation, "isolated", lambda work, limit, parts=False: work())
    with pytest.raises((TraceError, OutOfTime)):
        nar_plugin.trace(torch.nn.Linear(2, 2))

    assert 4 < seconds[0] <= 5


RANDOM = """
import nar_plugin, time
from nar_plugin.errors import TraceError
from random_loops import RandomLoop
longest = 0
for number in range(%d):
    model, begin = RandomLoop(number), time.monotonic()
    try:
        nar_plugin.trace(model)
    except TraceError as error:
        assert str(error)
    longest = max(longest, time.monotonic() - begin)
"""


@pytest.mark.slow
def test_random_loops_end_and_take_little_memory():
    assert gigabytes(RANDOM % 30) < 1


@pytest.mark.perf
def test_five_hundred_random_loops_end_in_time():
    """Within the 15 s of a question, and what it takes to kill and reap a process."""
    assert gigabytes(f"{RANDOM % 500}\nassert longest < 16.5") < 1
