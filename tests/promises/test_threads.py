"""What other threads do while a model is asked about is as if it were not."""

import random
import threading

import numpy as np
import pytest
import torch
from idioms import IDIOMS, X
from models import ConvNet
from process import modes, no_child_is_left, put_back, seed
from torch import nn

from nar_plugin import api
from nar_plugin.errors import NarError


def training(steps, meanwhile):
    """Losses of a seeded training with dropout, and numbers that its thread draws on the way."""

    def train():
        model = nn.Sequential(nn.Linear(4, 16), nn.Dropout(), nn.ReLU(), nn.Linear(16, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(steps):
            optimizer.zero_grad()
            loss = (model(torch.rand(8, 4)) - random.random() - np.random.rand()).square().mean()
            loss.backward()
            optimizer.step()
            seen.append(loss.item())
            dtypes.add(loss.dtype)
            if len(seen) == 1:
                started.set()
                ready.wait()

    seen, dtypes, started, ready = [], set(), threading.Event(), threading.Event()
    seed(0)
    thread = threading.Thread(target=train)
    thread.start()
    started.wait()
    ready.set()
    meanwhile()
    thread.join()
    return seen, dtypes


@pytest.mark.slow
def test_a_training_beside_draws_and_learns_the_same():
    # The models are made first: their weights are random numbers too.
    questions = [make() for make in IDIOMS.values()]

    def ask_all():
        for model, inputs in questions:
            try:
                api.trace(model, example_inputs=inputs)
            except NarError:
                continue

    with put_back():
        assert training(4000, ask_all) == training(4000, lambda: None)
    assert no_child_is_left()


def test_eight_threads_at_once():
    model = ConvNet().eval()
    expected = api.trace(model, example_inputs=torch.rand(1, 3, 32, 32)).fingerprint

    def ask():
        for _ in range(3):
            found.append(api.trace(model, example_inputs=torch.empty(1, 3, 32, 32)).fingerprint)

    found, before = [], modes()
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 24
    assert modes() == before
    assert no_child_is_left()


def test_a_compiled_function_of_another_thread_stays_compiled():
    compiled = []

    def backend(graph, inputs):
        def run(*args):
            compiled.append(1)
            return graph(*args)

        return run

    function = torch.compile(lambda x: x * 2 + 1, backend=backend)
    function(X)
    compiled.clear()
    stop, calls = threading.Event(), []

    def run():
        while not stop.is_set():
            function(X)
            calls.append(1)

    thread = threading.Thread(target=run)
    thread.start()
    for _ in range(5):
        api.trace(ConvNet().eval(), example_inputs=torch.empty(1, 3, 32, 32))
    stop.set()
    thread.join()
    assert len(compiled) == len(calls) > 0
