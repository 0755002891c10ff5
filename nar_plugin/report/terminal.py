"""Rich renderables as plain text, as wide as the terminal."""

from __future__ import annotations

import io
import random
import shutil
from typing import TYPE_CHECKING

from nar_plugin.report.plain import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

# Without a terminal (a pipe, a file, a doctest) there is no width to read.
DEFAULT_WIDTH = 100


def terminal_width() -> int:
    """Columns of the terminal, or of the variable COLUMNS, or 100 when there is neither."""
    return shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns


def plain_text(renderable: RenderableType) -> str:
    """What rich would print, without colours or trailing blanks, in stdout's characters."""
    console = _console()
    with console.capture() as capture:
        console.print(renderable)
    text = "\n".join(line.rstrip() for line in capture.get().rstrip().splitlines())
    return printable(text)


def _console() -> Console:
    """A console that prints nothing. rich draws a random number when it is first imported."""
    state = random.getstate()
    try:
        from rich.console import Console
    finally:
        random.setstate(state)
    return Console(file=io.StringIO(), width=terminal_width(), color_system=None)
