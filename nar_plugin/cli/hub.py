"""`nar index update` and `nar index publish`: an index from the Hub, and to it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nar_plugin.cli.output import Json, only_results_on_stdout, say, show_json


@only_results_on_stdout()
def update(
    repository: Annotated[
        str | None,
        typer.Argument(
            metavar="REPO",
            help="Such as owner/name. That of the active index; nar-plugin/architectures.",
            show_default=False,
        ),
    ] = None,
    revision: Annotated[
        str | None, typer.Option(metavar="R", help="Branch, tag or commit; main.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be fetched.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Fetch what is new of the published index, and let it answer.

    Until all of it is there and verified, the index that was there answers.
    """
    from nar_plugin import hub
    from nar_plugin.hub.answering import answering
    from nar_plugin.visible_text import counted

    found = hub.update(repository, revision, dry_run=dry_run)
    manifest = found.release.manifest
    facts = {
        "repository": found.release.place.repository,
        "commit": found.release.commit,
        "revision": manifest.revision,
        "graphs": manifest.graphs,
        "names": manifest.names,
        "encoder": manifest.encoder,
        "fetched": [entry.path for entry in found.fetched],
        "bytes": found.size,
        "done": found.done,
    }
    if as_json:
        show_json(facts)
        return
    verb = "fetched" if found.done else "to fetch"
    files = f"{counted(len(found.fetched), 'file')}, {found.size / 1e6:.1f} MB"
    say(
        f"{found.release}: revision {manifest.revision}, {manifest.graphs:,} graphs; "
        f"{f'{verb}: {files}' if found.fetched else 'the cache has all of it'}"
    )
    typer.echo(answering(), err=True)


@only_results_on_stdout()
def use(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="embedded, or the repository of an index that was downloaded: owner/name.",
            show_default=False,
        ),
    ],
) -> None:
    """Let another index answer: the embedded one, or a downloaded one."""
    from nar_plugin.hub.answering import answering, use

    use(source)
    say(answering())


@only_results_on_stdout()
def publish(
    folder: Annotated[Path, typer.Argument(help="An index, as `nar dev index write` makes it.")],
    repository: Annotated[str, typer.Argument(metavar="REPO", help="Such as owner/name.")],
    tag: Annotated[str | None, typer.Option(metavar="T", help="Name of this release.")] = None,
    private: Annotated[
        bool | None,
        typer.Option("--private/--public", help="Of a repository that is created."),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Also when the published index has shards that this one lacks."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Publish an index on the Hub as one commit.

    Wants a token with write access.
    """
    from nar_plugin import hub
    from nar_plugin.visible_text import counted

    done = hub.publish(folder, repository, tag=tag, private=private, replace=replace)
    if as_json:
        show_json(
            {
                "repository": done.repository,
                "commit": done.commit,
                "tag": done.tag,
                "sent": list(done.sent),
                "bytes": done.size,
            }
        )
        return
    tagged = f", tag {done.tag}" if done.tag else ""
    say(
        f"{done.repository}@{done.commit[:8]}{tagged}: sent {counted(len(done.sent), 'file')}, "
        f"{done.size / 1e6:.1f} MB"
    )
