"""How long a server is waited for: every wait has an end.

An HTTP client waits some seconds for the next bytes, and for ever if a byte comes now and then. The
Hub's library does what `Retry-After` says, a day if need be. Here a question has 60 seconds, a
refusal is repeated a few times, and a download must keep a least speed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Thread
from typing import TypeVar

from nar_plugin.remote.failures import LONGEST_WAIT, asked_wait, status_of

Answer = TypeVar("Answer")
LONGEST_ANSWER = 60.0  # seconds until a question is answered, or the headers of a file are there
BUSY = (429, 500, 502, 503, 504)  # statuses that may pass
WAITS = (1.0, 2.0, 4.0, 8.0, 16.0)  # seconds between attempts, where the server names none
SLOWEST = 1000  # bytes a second, on average over all of a download after its first minute
GRACE = 60.0  # seconds
FORGIVEN = len(WAITS) * LONGEST_WAIT  # seconds of a download that need bring nothing


def within(ask: Callable[[], Answer], seconds: float = LONGEST_ANSWER) -> Answer:
    """What a function gives or raises, if it does so in time.

    A thread that is late stays until its server hangs up; it keeps no process from ending.

    Raises:
        TimeoutError: It took longer.
    """
    answer: Future[Answer] = Future()

    def run() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:
            answer.set_exception(error)

    Thread(target=run, name="nar-plugin asks the Hub", daemon=True).start()
    try:
        return answer.result(seconds)
    except TimeoutError as error:
        if answer.done():  # the function's own
            raise
        raise TimeoutError(f"no whole answer came within {seconds:g} seconds") from error


def patiently(ask: Callable[[], Answer]) -> Answer:
    """The answer to a question, which is asked again while the server is busy.

    Raises:
        Exception: What the last attempt raised. A server that wants to be left alone for longer
            than `LONGEST_WAIT` is not asked again.
    """
    for pause in WAITS:
        try:
            return within(ask)
        except Exception as error:
            if status_of(error) not in BUSY:
                raise
            wait = max(pause, asked_wait(error))
            if wait > LONGEST_WAIT:
                raise
        time.sleep(wait)
    return within(ask)


class Pace:
    """The speed of one download, over all its connections.

    Example:
        ```python
        pace = Pace()
        pace.came(len(piece))  # raises where that is too slow
        ```
    """

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._bytes = 0
        self._left = FORGIVEN

    @contextmanager
    def forgiving(self) -> Iterator[None]:
        """Leave out the time that a busy server was waited for, as far as that goes."""
        start = time.monotonic()
        yield
        took = min(time.monotonic() - start, self._left)
        self._left -= took
        self._start += took

    def came(self, count: int) -> None:
        """Count some bytes.

        Raises:
            TooSlow: So far there were fewer than `SLOWEST` a second.
        """
        self._bytes += count
        took = time.monotonic() - self._start
        if took > GRACE and self._bytes < SLOWEST * took:
            raise TooSlow(
                f"only {self._bytes:,} bytes came in {took:.0f} seconds, at least {SLOWEST:,} a "
                "second are waited for"
            )


class TooSlow(TimeoutError):
    """A server sends so little that the end would not be seen."""
