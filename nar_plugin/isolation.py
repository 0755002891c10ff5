"""Runs work in a forked child process, so that it can write nothing here and can always be ended.

A forward is somebody else's code. It may draw random numbers, fill a cache of its class, change
the default dtype, sleep, or never end, and no list of things to restore is complete. In a child
all of it happens to copies, and the child is killed when its time is up.

There is no fork on Windows, and on macOS the system's own libraries do not survive one: there the
work runs in this process, one at a time, and without a limit.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import logging
import os
import pickle
import select
import signal
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeVar, cast

from nar_plugin.errors import NarError

Result = TypeVar("Result")

FORKS = hasattr(os, "fork") and sys.platform != "darwin"
_HEADER = struct.Struct("<BQ")  # kind and length of what follows
_DOING, _NEWS, _DONE = 0, 1, 2
_LOOK = 0.05  # seconds between two looks at whether the child still lives
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
_DEFAULT_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGCHLD", "SIGUSR1", "SIGUSR2")

_log = logging.getLogger("nar_plugin")
_libc: Any = ctypes.CDLL(None) if sys.platform == "linux" else None


class OutOfTime(Exception):
    """The child was killed, since its time was up.

    Attributes:
        doing: What it said last that it was doing (`tell`); empty if it said nothing.
        seconds: How long it had.
    """

    def __init__(self, doing: str, seconds: float) -> None:
        super().__init__(f"{doing or 'the work'} did not end within {seconds:.3g} s")
        self.doing = doing
        self.seconds = seconds


class ChildEnded(Exception):
    """The child ended without an answer, as after a crash.

    Attributes:
        doing: As in `OutOfTime`.
    """

    def __init__(self, doing: str) -> None:
        super().__init__(f"{doing or 'the work'} ended its process")
        self.doing = doing


class Memory(Protocol):
    """What a process learns for good, such as a cache, and a child has to tell its parent."""

    def begin(self) -> None:
        """Called in a child before its work."""

    def news(self) -> Any:
        """What was learned since `begin`; it can be pickled."""

    def learn(self, news: Any) -> None:
        """Called in the parent with a child's news."""


class _State:
    """This process: whether it forks, and what it tells its parent.

    Attributes:
        stays: Whether work runs here, since this process is a child or a worker itself.
        writer: The pipe to the parent, in a child.
        group: Whether this process leads a group of its own, in a child.
    """

    stays = not FORKS
    writer: int | None = None
    group = False


_memories: list[Memory] = []
_pipes: set[int] = set()  # of all children; a child closes those of the others
_alone = threading.RLock()


def remember(memory: Memory) -> None:
    """Let children tell their parent what this memory has learned."""
    _memories.append(memory)


def stay() -> None:
    """Fork no more from this process: it is a worker, which may be written to and killed."""
    _State.stays = True


def stays() -> bool:
    """Whether work runs in this process: it is a child or a worker, or cannot fork."""
    return _State.stays


def tell(doing: str) -> None:
    """Say what is done now, in case that it takes too long. Does nothing outside a child."""
    if _State.writer is not None:
        _send(_State.writer, _DOING, doing.encode())


def limit_memory(most: int) -> None:
    """Let this child, and those it forks, take no more than so many bytes beyond what it has.

    Does nothing outside a child: the limit could not be taken back from a user's process.
    """
    if _State.writer is None or sys.platform != "linux":
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[5])  # data and stack
    limit = pages * resource.getpagesize() + most
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def isolated(work: Callable[[], Result], seconds: float, *, parts: bool = False) -> Result:
    """What the work returns in a forked child; in this process where it stays (`stays`).

    Example:
        ```python
        isolated(lambda: len(model(x)), seconds=10)
        ```

    Args:
        work: Any function; what it returns is pickled.
        seconds: When to kill the child.
        parts: Whether the work calls `isolated` itself, for a part of it.

    Raises:
        OutOfTime: The time was up.
        ChildEnded: The child ended without an answer.
        BaseException: Whatever the work raises; an error that cannot be pickled is a RuntimeError
            of the same text.
    """
    if _State.stays:
        with _alone:
            return work()
    parent, child = os.getpid(), 0
    reader, writer = os.pipe()
    _pipes.update((reader, writer))
    try:
        try:
            child = os.fork()
        except OSError as error:  # no memory, or too many processes
            _log.warning("no process could be made (%s): the model runs in this one", error)
            with _alone:
                return work()
        if child == 0:
            _run(work, parent, writer, parts)
        os.close(writer)
        return cast(Result, _answer(child, reader, seconds))
    finally:
        _pipes.difference_update((reader, writer))
        if child:
            os.close(reader)
            _end(child)
        else:
            os.close(reader)
            os.close(writer)


def _run(work: Callable[[], Any], parent: int, writer: int, parts: bool) -> NoReturn:
    """The child's life; whatever happens, none of the parent's code runs on in it."""
    try:
        me = os.getpid()
        _settle(parent, writer, parts)
        for memory in _memories:
            memory.begin()
        answer = _outcome(work)
        if os.getpid() == me:  # a forward may fork as well
            _send(writer, _NEWS, pickle.dumps([_news(memory) for memory in _memories]))
            _send(writer, _DONE, answer)
    finally:
        os._exit(0)


def _settle(parent: int, writer: int, parts: bool) -> None:
    """Make the child quiet, mortal and of one thread."""
    for other in _pipes - {writer}:
        with contextlib.suppress(OSError):
            os.close(other)
    _pipes.clear()
    if not _State.group:  # what it starts itself is killed with it
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        _State.group = True
    if _libc is not None:
        _libc.prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    _State.writer, _State.stays = writer, not parts
    with contextlib.suppress(ValueError):
        signal.set_wakeup_fd(-1)  # asyncio's, which is the parent's
    for name in _DEFAULT_SIGNALS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    # On stdout are results. New streams, for those of the parent may hold what it will still write.
    with contextlib.suppress(OSError):
        os.dup2(2, 1)
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin = sys.__stdin__ = open(0, closefd=False)  # type: ignore[misc]
    errors = open(2, "w", buffering=1, closefd=False)
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = errors  # type: ignore[misc]
    gc.freeze()  # what is the parent's is nothing to be collected here
    if torch := sys.modules.get("torch"):  # whose other threads are not in a child
        torch.set_num_threads(1)


def _outcome(work: Callable[[], Any]) -> bytes:
    """The result, or the error, pickled."""
    try:
        return pickle.dumps((work(), None))
    except BaseException as error:
        text = f"{type(error).__name__}: {error}"
        if not isinstance(error, NarError):
            error.add_note(f"In the process that was forked:\n{traceback.format_exc()}")
        try:
            answer = pickle.dumps((None, error))
            pickle.loads(answer)
        except Exception:
            return pickle.dumps((None, RuntimeError(text)))
        return answer


def _news(memory: Memory) -> bytes:
    """A memory's news, pickled; empty where they cannot be."""
    try:
        return pickle.dumps(memory.news())
    except Exception:
        return b""


def _send(writer: int, kind: int, content: bytes) -> None:
    rest = memoryview(_HEADER.pack(kind, len(content)) + content)
    while rest:
        rest = rest[os.write(writer, rest) :]


def _answer(child: int, reader: int, seconds: float) -> Any:
    """What the child sends, until its time is up."""
    end = time.monotonic() + seconds
    doing, news = "", b""
    for kind, content in _messages(child, reader, end):
        if kind == _DOING:
            doing = content.decode()
            tell(doing)  # to the parent of this process, where it is a child itself
        elif kind == _NEWS:
            news = content
        else:
            _learn(news)
            result, error = pickle.loads(content)
            if error is not None:
                raise error
            return result
    raise OutOfTime(doing, seconds) if time.monotonic() >= end else ChildEnded(doing)


def _learn(news: bytes) -> None:
    for memory, part in zip(_memories, pickle.loads(news) if news else (), strict=False):
        if part:
            memory.learn(pickle.loads(part))


def _messages(child: int, reader: int, end: float) -> Iterator[tuple[int, bytes]]:
    """Kind and content of each message, as long as there is time and the child lives."""
    received = bytearray()
    for piece in _pieces(child, reader, end):
        received += piece
        while len(received) >= _HEADER.size:
            kind, length = _HEADER.unpack_from(received)
            stop = _HEADER.size + length
            if len(received) < stop:
                break
            yield kind, bytes(received[_HEADER.size : stop])
            del received[:stop]


def _pieces(child: int, reader: int, end: float) -> Iterator[bytes]:
    """What can be read from the pipe.

    The pipe's end alone does not tell that the child is gone: another process, forked meanwhile
    by another thread, may hold it open.
    """
    poll = select.poll()
    poll.register(reader, select.POLLIN | select.POLLHUP)
    alive = True
    while (left := end - time.monotonic()) > 0:
        if poll.poll(1000 * min(left, _LOOK) if alive else 0):
            piece = os.read(reader, 1 << 20)
            if not piece:
                return
            yield piece
        elif alive:
            alive = _lives(child)
        else:
            return


def _lives(child: int) -> bool:
    """Whether the child runs; it is not reaped, so that its number stays its own."""
    try:
        return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:  # reaped by somebody else, or by the system (SIGCHLD is ignored)
        return False


def _end(child: int) -> None:
    """Kill the child, and what it has started, and reap it."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)


def _after_fork() -> None:
    """In a process that was forked while another thread held it, the lock is free."""
    global _alone
    _alone = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
