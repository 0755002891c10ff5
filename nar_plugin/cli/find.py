"""`nar find`: the known architectures that resemble a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from nar_plugin.cli.output import (
    Json,
    Reference,
    Trace,
    only_results_on_stdout,
    say,
    show,
    show_json,
)

if TYPE_CHECKING:
    from nar_plugin.report import SimilarArchitectures, SimilarBlocks, SimilarWeights

Distinct = Literal["backbone", "graph"]


@only_results_on_stdout()
def find(
    reference: Reference,
    k: Annotated[int, typer.Option("-k", min=1, help="How many architectures.")] = 10,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE",
            help="Which designs contain this block, such as layer3.0; . is the whole model.",
        ),
    ] = None,
    as_json: Json = False,
    index: Annotated[
        str | None, typer.Option(metavar="PATH", help="An index folder or repository.")
    ] = None,
    trace: Trace = False,
    distinct: Annotated[
        Distinct, typer.Option(help="One hit for each backbone, or for each graph.")
    ] = "backbone",
    names: Annotated[
        bool,
        typer.Option(
            "--names", help="Also every name of each hit, its page, and its code's license."
        ),
    ] = False,
    revision: Annotated[
        str | None, typer.Option(metavar="R", help="Commit, tag or branch of the index.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Only such hits: --where family=resnet --where 'params=<10M', or '<mine' for "
            "smaller ones than the model; 'library=!timm' for all but timm. A key given twice "
            "allows both texts, and wants both limits of a number.",
        ),
    ] = None,
) -> None:
    """Find the known architectures that resemble a model, or contain one of its blocks."""
    if at is not None:
        _refuse_with_at(names=names, trace=trace, distinct=distinct)
    wanted = _conditions(where or [])
    from nar_plugin import api
    from nar_plugin.report.wording import names_text

    source = api.load_index(index, revision) if index or revision else None
    options: dict[str, Any] = {"index": source, "where": wanted or None}
    if at is not None:
        _show(api.find_similar(reference, k, at=at, **options), as_json)
        return
    similar = api.find_similar(reference, k, trace=trace, distinct=distinct, **options)
    _show(similar, as_json)
    if names and not as_json:
        say(names_text(similar))


def _refuse_with_at(*, names: bool, trace: bool, distinct: Distinct) -> None:
    """Say what a question about a block does not take, rather than leave it out in silence."""
    reasons = {
        "--names": (names, "a block has no names"),
        "--trace": (trace, "a block is always cut from a trace"),
        "--distinct": (distinct != "backbone", "hits are blocks, and a backbone is named once"),
    }
    for option, (given, reason) in reasons.items():
        if given:
            raise typer.BadParameter(f"{reason}; ask without --at", param_hint=option)


def _show(similar: SimilarArchitectures | SimilarBlocks | SimilarWeights, as_json: bool) -> None:
    if as_json:
        show_json(similar.to_dict())
    else:
        show(similar)


def _conditions(where: list[str]) -> dict[str, str | list[str]]:
    wanted: dict[str, list[str]] = {}
    for condition in where:
        key, equals, value = condition.partition("=")
        if not (key and equals and value):
            raise typer.BadParameter(
                f"{condition!r} is not KEY=VALUE, such as family=resnet or 'params=<10M'",
                param_hint="--where",
            )
        if key.endswith("!"):  # KEY!=VALUE
            key, value = key[:-1], f"!{value}"
        wanted.setdefault(key, []).append(value)
    return {key: values if values[1:] else values[0] for key, values in wanted.items()}
