"""A search for inputs ends long before the question does, whatever the forward does with them."""

import resource
import time

import loops
import pytest
import torch
from random_loops import RandomLoop

import nar_plugin
from nar_plugin.errors import TraceError
from nar_plugin.isolation import OutOfTime
from nar_plugin.tracing.run import attempts, budget, question, remembered
from nar_plugin.tracing.run.attempts import Attempts


@pytest.fixture(autouse=True)
def fifteen_seconds(monkeypatch):
    monkeypatch.setenv("NAR_TRACE_SECONDS", "15")


GIGABYTE = 1 << 20  # in the kilobytes of getrusage
SLACK = 1.5  # seconds for a process to be killed and reaped


@pytest.mark.slow
@pytest.mark.parametrize("kind", loops.STATED + loops.FURTHER, ids=lambda kind: kind.__name__)
def test_an_answer_comes_in_time_and_takes_little_memory(kind):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    graph = nar_plugin.trace(kind())

    assert len(graph) > 0
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < before + GIGABYTE


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


def _asked(number):
    """One random module without inputs: seconds, and the method or the error."""
    model = RandomLoop(number)
    begin = time.monotonic()
    try:
        answer = nar_plugin.trace(model).method
    except TraceError:
        answer = "refused"
    return time.monotonic() - begin, answer


def _all_end(numbers):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in numbers:
        seconds, answer = _asked(number)
        assert seconds < 15 + SLACK, (number, answer)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < before + GIGABYTE


@pytest.mark.slow
def test_sixty_random_loops_end():
    _all_end(range(60))


@pytest.mark.slow
@pytest.mark.perf
def test_five_hundred_random_loops_end():
    _all_end(range(500))
