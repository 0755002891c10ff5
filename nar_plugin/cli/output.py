"""What a command writes: its result to stdout, all else to stderr."""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from nar_plugin.errors import NarError

if TYPE_CHECKING:
    from rich.console import RenderableType

Reference = Annotated[
    str,
    typer.Argument(
        metavar="REF",
        help="timm:resnet50, torchvision:resnet50, transformers:bert, hub:owner/name, "
        "./folder with a config.json, or package.module:callable.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]

Trace = Annotated[
    bool, typer.Option("--trace", help="Build and trace it, also where the index knows the name.")
]

_results: TextIO | None = None  # while a command runs: what was stdout


@contextmanager
def only_results_on_stdout() -> Iterator[None]:
    """Send to stderr what foreign code prints while a command runs; decorates every command.

    Results get through by `show`, `show_json` and `say`.

    Raises:
        NarError: Foreign code ended the process.
    """
    global _results
    before, _results = _results, sys.stdout
    try:
        with redirect_stdout(sys.stderr):
            yield
    except SystemExit as error:
        raise NarError(f"A library ended the process: SystemExit({error.code!r}).") from error
    finally:
        _results = before


def show(renderable: RenderableType) -> None:
    """Print a result for a person, in colour when stdout is a terminal."""
    from rich.console import Console

    from nar_plugin.report.terminal import terminal_width

    class Results(Console):
        def on_broken_pipe(self) -> None:  # rich would end the process, with sys.stdout's file
            raise BrokenPipeError(errno.EPIPE, "nobody reads the result")

    Results(file=_stdout(), width=terminal_width(), highlight=False).print(renderable)


def show_json(result: Any) -> None:
    """Print a result for a program. Escapes all but ASCII, terminal controls included."""
    say(json.dumps(result, indent=2))


def say(text: str) -> None:
    """Print a result as it is."""
    _stdout().write(text + "\n")
    _stdout().flush()  # while an error can still be told


def fail(message: str) -> None:
    """Print one red paragraph on stderr, in a pipe or a file as one line."""
    from rich.console import Console
    from rich.text import Text

    from nar_plugin.report.terminal import terminal_width
    from nar_plugin.visible_text import clean

    console = Console(file=sys.stderr, width=terminal_width(), highlight=False)
    console.print(Text(clean(message), style="red"), soft_wrap=not console.is_terminal)


def _stdout() -> TextIO:
    return sys.stdout if _results is None else _results
