"""A process that is forked while a model is asked about is whole."""

import gc
import os
import threading

import pytest
import torch
from models import ConvNet
from torch import nn

from nar_plugin import isolation
from nar_plugin.tracing import trace

IMAGE = torch.empty(1, 3, 32, 32)


class Waits(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        INSIDE.set()
        GO_ON.wait(60)
        return self.net(x)


INSIDE, GO_ON = threading.Event(), threading.Event()


def child_traces():
    """Whether a forked child has its collector on, and can trace."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            torch.set_num_threads(1)
            assert gc.isenabled()
            trace(ConvNet().eval(), IMAGE)
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_fork_while_another_thread_traces_in_this_process(in_this_process):
    INSIDE.clear()
    GO_ON.clear()
    thread = threading.Thread(target=trace, args=(Waits(ConvNet().eval()), IMAGE))
    thread.start()
    try:
        assert INSIDE.wait(60)
        assert child_traces()
    finally:
        GO_ON.set()
        thread.join()
    assert gc.isenabled()


@pytest.mark.slow
def test_forks_while_other_threads_trace():
    stop = threading.Event()

    def ask():
        while not stop.is_set():
            trace(ConvNet().eval(), IMAGE)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        assert all(child_traces() for _ in range(20))
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_trace_inside_a_forward_forks_no_more():
    class Asks(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(4, 4)

        def forward(self, x):
            assert isolation.stays()
            trace(nn.ReLU(), torch.empty(1, 4))
            return self.net(x)

    assert [op.kind for op in trace(Asks(), torch.empty(1, 4)).ops] == ["linear"]
