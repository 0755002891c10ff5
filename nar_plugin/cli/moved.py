"""What an old name of a command answers: its new one."""

from __future__ import annotations

import typer

_ANYTHING = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def moved(app: typer.Typer, name: str, new: str) -> None:
    """Let a name answer with the one that has taken its place, as wrong usage (exit code 2).

    Args:
        app: Where the name was; it is listed there no more.
        name: The old name, such as `train`.
        new: The new command, such as `nar dev train`.
    """

    @app.command(name, hidden=True, context_settings=_ANYTHING)
    def answer(context: typer.Context) -> None:
        context.fail(f"it is `{new}` now")
