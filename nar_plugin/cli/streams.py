"""The streams of the process that is the `nar` command."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from nar_plugin.report.plain import PLAIN


@contextmanager
def stdout_for_results() -> Iterator[None]:
    """Let sys.stdout alone write to where stdout leads, and let no character stop it.

    Descriptor 1 leads to stderr from now on: what C code, a child process, or a library through
    `sys.__stdout__` prints is no result, and neither is what is printed while the process ends.
    In a terminal both are one screen, and 1 stays.
    """
    _open_the_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAIN)
    results = None if sys.stdout.isatty() else _taken_from_descriptor(sys.stdout)
    if results is None:
        yield
        return
    sys.stdout = results
    try:
        yield
    finally:
        sys.stdout = sys.stderr
        with suppress(OSError):  # told already, or nobody reads it
            results.close()


def _open_the_closed() -> None:
    """Streams that who started the process has closed are None, and their descriptors free."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("r" if name == "stdin" else "w"))


def _taken_from_descriptor(stdout: TextIO) -> TextIO | None:
    """A stream to where a descriptor led, which leads to stderr now; None where there is none."""
    if stdout is not sys.__stdout__:  # replaced already, as by a test
        return None
    try:
        own = os.dup(stdout.fileno())
        os.dup2(sys.stderr.fileno(), stdout.fileno())
    except (OSError, ValueError):  # a window without a console
        return None
    return open(own, "w", encoding=stdout.encoding, errors=PLAIN)  # noqa: PTH123 (a descriptor)
