"""Random modules never crash the process, never hang and are never changed.

The worst that `trace` may do is raise a `NarError` that says something. Which examples are drawn
is fixed, so that a run can be repeated; `NAR_FUZZ=2000 pytest tests/tracing/test_fuzz.py` draws
that many at random instead. A failure prints the smallest `Recipe` that was found; paste it
into `check`.
"""

import copy
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from nar_plugin.errors import NarError
from nar_plugin.tracing import trace

hypothesis = pytest.importorskip("hypothesis")

from fuzzed import Layer, Recipe, Step, build, recipes  # noqa: E402
from fuzzed_layers import LAYERS  # noqa: E402
from fuzzed_steps import STEPS  # noqa: E402
from whole import part  # noqa: E402

SECONDS = 20  # of this process's own work for one trace; six times that by the clock
AT_RANDOM = int(os.environ.get("NAR_FUZZ", "0"))
REFUSED: list[bool] = []  # whether each example with inputs that fit was


class TookTooLong(BaseException):
    """Not an Exception: neither the model nor the tracer may swallow it."""


@contextmanager
def time_limit(traced):
    """Stop a trace that works too long, or that waits; others may keep the machine busy."""

    def stop(*_):
        raise TookTooLong(traced)

    timers = {signal.ITIMER_PROF: signal.SIGPROF, signal.ITIMER_REAL: signal.SIGALRM}
    before = {number: signal.signal(number, stop) for number in timers.values()}
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.setitimer(signal.ITIMER_REAL, 6 * SECONDS)
    try:
        yield
    finally:
        for timer in timers:
            signal.setitimer(timer, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def bits(tensor):
    """The content, such that NaN equals NaN."""
    return (
        tensor.detach().resolve_conj().reshape(-1).contiguous().view(torch.uint8).numpy().tobytes()
    )


def frozen(value, depth=6):
    """A picture of a value that differs as soon as anything in the value does."""
    if isinstance(value, torch.Tensor):
        facts = (id(value), value.dtype, value.device, value.requires_grad, value.grad is None)
        if nn.parameter.is_lazy(value):
            return facts
        if value.is_meta or value.is_sparse:
            return (*facts, value.shape)
        return (*facts, value._version, bits(value))
    if depth == 0 or isinstance(value, nn.Module):
        return id(value)
    if isinstance(value, dict):
        return [(key, frozen(item, depth - 1)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [id(value) if isinstance(value, list) else 0, *(frozen(v, depth - 1) for v in value)]
    return (id(value), value) if isinstance(value, int | float | str) else id(value)


def surroundings():
    """What belongs to the process: generators, defaults, threads."""
    return (
        torch.get_rng_state().tolist(),
        random.getstate(),
        np.random.get_state()[1].tolist(),
        torch.get_default_dtype(),
        torch.is_grad_enabled(),
        torch.get_default_device(),
        len(torch.overrides._get_current_function_mode_stack()),
        threading.active_count(),
    )


def well_formed(graph):
    count = len(graph.ops)
    assert len(graph.paths) == count
    assert len(set(graph.ops)) <= count
    assert graph.edges.shape == (len(graph.edges), 2)
    assert ((graph.edges >= 0) & (graph.edges < count)).all()
    assert (graph.edges[:, 0] < graph.edges[:, 1]).all()
    assert graph.method in ("meta", "real", "modules")
    assert graph.flops >= 0
    assert isinstance(graph.fingerprint, str) and isinstance(graph.design, str)
    assert graph.to_dict()["reason"]
    return graph.fingerprint


def outcome(model, inputs):
    """The fingerprint of a trace, or the text of its error."""
    try:
        with time_limit((model, inputs)):
            graph = trace(model) if inputs is None else trace(model, inputs)
    except NarError as error:
        assert len(str(error).strip()) > 20
        assert not str(error).split("\n")[-1].startswith("  ")  # ends with advice
        return "refused"
    return well_formed(graph)


def check(recipe):
    """All that must hold for one random module."""
    model, inputs = build(recipe)
    pickled, copied = works(pickle.dumps, model), works(copy.deepcopy, model)  # an LSTM tidies up
    picture = [frozen(module.__dict__) for module in model.modules()]
    given, around = frozen(inputs), surroundings()
    first = outcome(model, inputs)
    assert surroundings() == around
    assert [frozen(module.__dict__) for module in model.modules()] == picture
    assert frozen(inputs) == given
    assert outcome(model, inputs) == first
    assert works(pickle.dumps, model) == pickled
    if copied and "own forward" not in repr(recipe):  # a copy's closure runs the original
        assert outcome(copy.deepcopy(model), inputs) == first
    if recipe.inputs == "right":  # most others are inputs that the module refuses itself
        REFUSED.append(first == "refused")


def works(function, model):
    """Whether a model can be copied or pickled; closures and lazy parameters cannot."""
    try:
        function(model)
    except Exception:
        return False
    return True


def fuzz(count):
    """Draw `count` examples and check them; inputs that fit must mostly be traced."""
    REFUSED.clear()
    settings = hypothesis.settings(
        max_examples=AT_RANDOM or count,
        derandomize=not AT_RANDOM,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        print_blob=False,
    )
    settings(hypothesis.given(recipes)(check))()
    assert sum(REFUSED) < 0.2 * len(REFUSED), f"{sum(REFUSED)} of {len(REFUSED)} were refused"


def test_random_modules():
    fuzz(60)


@pytest.mark.slow
@pytest.mark.parametrize("inputs", ["right", "guessed"])
@pytest.mark.parametrize("kind", sorted(STEPS))
def test_each_step_by_itself(kind, inputs):
    for n in range(4):
        check(Recipe(Step(kind, n), "plain", "tensor", inputs))


@pytest.mark.slow
def test_each_layer_by_itself():
    assert len(LAYERS) >= 40
    for kind in LAYERS:
        check(Recipe(Layer(kind, 2), "plain", "tensor", "right"))


@pytest.mark.slow
def test_more_random_modules_in_a_process_of_their_own():
    """A crash of the process would take pytest with it; this way it is one failed test."""
    code = f"import test_fuzz; test_fuzz.fuzz({part(2000, 10)})"
    here = Path(__file__).parent
    path = os.pathsep.join(map(str, (here, here.parent)))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-8000:]
