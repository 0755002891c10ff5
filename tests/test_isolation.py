"""Work in a forked child: its result, its errors, its end."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from nar_plugin import isolation
from nar_plugin.errors import UnknownReference
from nar_plugin.isolation import ChildEnded, OutOfTime, isolated, stays, tell

pytestmark = pytest.mark.skipif(not isolation.FORKS, reason="there is no fork here")
SECONDS = 30


def no_child_is_left():
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    return True


def test_the_result_comes_from_another_process():
    assert isolated(os.getpid, SECONDS) != os.getpid()
    assert no_child_is_left()


def test_what_the_work_writes_stays_in_the_child():
    written = []
    assert isolated(lambda: written.append(1) or len(written), SECONDS) == 1
    assert written == []


def test_a_large_result():
    assert isolated(lambda: bytes(50_000_000), SECONDS) == bytes(50_000_000)


def test_a_long_graph():
    """40,000 operations are pickled without recursion, and equal ones stay one object."""
    import numpy as np

    from nar_plugin.tracing import ArchitectureGraph, Op

    op = Op("linear", (("in", 4), ("out", 4)))
    edges = np.stack([np.arange(39_999), np.arange(1, 40_000)], 1).astype(np.int32)
    graph = ArchitectureGraph((op,) * 40_000, edges, tuple(map(str, range(40_000))))
    back = isolated(lambda: graph, SECONDS)
    assert len({id(op) for op in back.ops}) == 1
    assert (back.ops, back.paths, back.edges.tolist()) == (graph.ops, graph.paths, edges.tolist())


def test_an_error_comes_over_with_its_class():
    def work():
        raise UnknownReference("net50", "'net50' is no reference", ": expected timm:resnet50")

    with pytest.raises(UnknownReference, match="is no reference: expected") as info:
        isolated(work, SECONDS)
    assert info.value.reference == "net50"


def test_an_error_that_cannot_be_pickled_keeps_its_text():
    class Own(Exception):
        pass

    def work():
        raise Own("of the user's")

    with pytest.raises(RuntimeError, match="Own: of the user's"):
        isolated(work, SECONDS)


def test_what_was_done_last_is_told_when_the_time_is_up():
    def work():
        tell("the first part")
        tell("the second part")
        time.sleep(1000)

    with pytest.raises(OutOfTime, match=r"the second part did not end within 0\.5 s"):
        isolated(work, 0.5)
    assert no_child_is_left()


@pytest.mark.parametrize("end", [lambda: os._exit(0), lambda: os.kill(os.getpid(), signal.SIGKILL)])
def test_a_child_that_ends_without_an_answer(end):
    with pytest.raises(ChildEnded):
        isolated(end, SECONDS)
    assert no_child_is_left()


def test_a_part_of_the_work_has_a_child_of_its_own():
    def part():
        assert stays()
        return os.getpid()

    def work():
        assert not stays()
        with pytest.raises(OutOfTime):
            isolated(lambda: time.sleep(1000), 0.2)
        return os.getpid(), isolated(part, SECONDS)

    builder, inner = isolated(work, SECONDS, parts=True)
    assert len({os.getpid(), builder, inner}) == 3


def test_what_the_work_has_started_ends_with_it(tmp_path):
    file = tmp_path / "pid"
    program = f"import os, time; open({str(file)!r}, 'w').write(str(os.getpid())); time.sleep(1000)"

    def work():
        subprocess.Popen([sys.executable, "-c", program])
        while not (file.exists() and file.read_text()):
            time.sleep(0.01)

    isolated(work, SECONDS)
    started = int(file.read_text())
    for _ in range(500):  # its own parent is gone: the system reaps it in its own time
        status = subprocess.run(["ps", "-o", "stat=", "-p", str(started)], capture_output=True)
        if not status.stdout.strip() or status.stdout.startswith(b"Z"):
            return
        time.sleep(0.01)
    raise AssertionError("it runs on")


def test_prints_go_to_stderr_and_stdin_is_empty():
    program = (
        "import sys\nfrom nar_plugin.isolation import isolated\n"
        "print('before', end=' ')\n"  # in a buffer when the child is forked
        "def work():\n    print('inside', flush=True)\n    sys.__stdout__.flush()\n"
        "    return sys.stdin.read()\n"
        "assert isolated(work, 30) == ''\nprint('after')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, input="typed", check=True
    )
    assert ran.stdout == "before after\n"
    assert "inside" in ran.stderr
    assert "before" not in ran.stderr


def test_children_that_the_system_reaps():
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert isolated(lambda: 3, SECONDS) == 3
        with pytest.raises(ChildEnded):
            isolated(lambda: os._exit(0), SECONDS)
    finally:
        signal.signal(signal.SIGCHLD, before)


@pytest.fixture
def interruptible():
    """A shell that starts this in the background has interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_ends_the_child(interruptible):
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        isolated(lambda: time.sleep(1000), SECONDS)
    assert no_child_is_left()


def test_the_child_dies_with_its_parent():
    program = (
        "import os, time\nfrom nar_plugin.isolation import isolated\n"
        "def work():\n    os.write(2, str(os.getpid()).encode() + b'\\n')\n    time.sleep(1000)\n"
        "isolated(work, 1000)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    child = int(parent.stderr.readline())
    parent.kill()
    parent.wait()
    assert parent.stderr.read() == ""  # until the last holder of the pipe is gone
    with pytest.raises(ProcessLookupError):
        for _ in range(500):
            os.kill(child, 0)
            time.sleep(0.01)


def test_without_a_process_the_work_runs_in_this_one(monkeypatch, caplog):
    def fork():
        raise OSError(errno.EAGAIN, "no more processes")

    monkeypatch.setattr(os, "fork", fork)
    assert isolated(os.getpid, SECONDS) == os.getpid()
    assert "no more processes" in caplog.text


def test_a_plugin_that_fails_in_a_child_is_listed_and_logged_once(caplog):
    from nar_plugin import manager

    def work():
        plugin = next(one for one in manager._found() if one.info.name == "timm")
        manager._fail(plugin, "nar_provenance", ValueError("broken"))

    manager.reset()
    manager.list_plugins()
    try:
        isolated(work, SECONDS)
        isolated(work, SECONDS)
        (timm,) = [plugin for plugin in manager.list_plugins() if plugin.name == "timm"]
        assert (timm.status, timm.error) == ("failed", "ValueError: broken")
        assert caplog.text.count("nar_provenance: ValueError: broken") == 1
    finally:
        manager.reset()
