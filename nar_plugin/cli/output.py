"""Where a command writes: its result to stdout, all else to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Annotated, Any

import typer

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


@contextmanager
def only_results_on_stdout() -> Iterator[None]:
    """Send to stderr what foreign code prints while a model is built and traced."""
    with redirect_stdout(sys.stderr):
        yield


def show(renderable: RenderableType) -> None:
    """Print a result for a person, in colour when stdout is a terminal."""
    from rich.console import Console

    from nar_plugin.report.terminal import terminal_width

    Console(file=sys.stdout, width=terminal_width(), highlight=False).print(renderable)


def show_json(result: Any) -> None:
    """Print a result for a program. Escapes all but ASCII, terminal controls included."""
    sys.stdout.write(json.dumps(result, indent=2) + "\n")
    sys.stdout.flush()  # while an error can still be told


def fail(message: str) -> None:
    """Print one red paragraph on stderr, in a pipe or a file as one line."""
    from rich.console import Console
    from rich.text import Text

    from nar_plugin.report.terminal import terminal_width
    from nar_plugin.report.wording import clean

    console = Console(file=sys.stderr, width=terminal_width(), highlight=False)
    console.print(Text(clean(message), style="red"), soft_wrap=not console.is_terminal)
