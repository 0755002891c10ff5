"""The docs keep up with the code: links lead somewhere, examples run, nothing public is missing."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
import typer

import nar_plugin
from nar_plugin.cli import app

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
DOCS = ROOT / "docs"
HISTORY = DOCS / "decisions" / "log-2026-11.md"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "nar_plugin").rglob("*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def prose(page):
    """The text of a page without its blocks of code and its spans of code."""
    return re.sub(r"`[^`\n]*`", "", BLOCK.sub("", page.read_text()))


def anchors(page):
    """The anchors that GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def blocks(page, language):
    return [text for kind, text in BLOCK.findall(page.read_text()) if kind == language]


def written():
    """What the pages say, history left out."""
    kept = [page for page in PAGES if page not in (HISTORY, ROOT / "CHANGELOG.md")]
    return "\n".join(page.read_text() for page in kept)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    lost = []
    for link in LINK.findall(prose(page)):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if re.match(r"\w+:", link) or "{" in link:  # another site; a template
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    assert not lost


def test_files_that_pages_name_are_there():
    files = [f"/{path.relative_to(ROOT)}" for path in ROOT.glob("[dhnt]*/**/*.py")]
    lost = [
        (page.name, name)
        for page in PAGES
        if page.parent.name != "decisions"  # these say what was, too
        for name in re.findall(r"`([\w./-]+\.py)`", page.read_text())
        if not any(file.endswith(f"/{name.removeprefix('./')}") for file in files)
    ]
    assert not lost


@pytest.mark.parametrize(
    ("page", "words"), [("architecture.md", 1_200), ("corpus.md", 2_000), ("tracing.md", 1_200)]
)
def test_a_page_is_read_in_one_sitting(page, words):
    assert len((DOCS / page).read_text().split()) <= words


def test_the_readme_is_short():
    assert len(README.read_text().splitlines()) <= 120


def test_the_walk_is_short_and_every_file_is_there():
    files = re.findall(r"\| `((?:nar_plugin|hooks)/[^`]+)`", (DOCS / "walk.md").read_text())
    assert 20 <= len(files) <= 25
    assert all((ROOT / file).is_file() for file in files)


def test_every_page_is_on_the_site():
    site = tomllib.loads((ROOT / "zensical.toml").read_text())["project"]

    def pages(entries):
        for entry in entries:
            for target in entry.values():
                yield from pages(target) if isinstance(target, list) else [target]

    own = {str(page.relative_to(DOCS)) for page in PAGES if page.is_relative_to(DOCS)}
    decisions = {page for page in own if page.startswith("decisions/")} - {"decisions/README.md"}
    assert set(pages(site["nav"])) == own - decisions


def test_every_decision_is_in_the_index():
    index = (DOCS / "decisions" / "README.md").read_text()
    pages = {page.name for page in (DOCS / "decisions").glob("*.md")} - {"README.md"}
    assert pages == {link for link in LINK.findall(index) if "/" not in link}


@pytest.mark.parametrize("name", nar_plugin.__all__)
def test_every_public_name_is_documented(name):
    assert re.search(rf"\b{name}\b", (DOCS / "reference.md").read_text())


def commands(command, path):
    """Every command that `--help` lists, such as `nar index add`."""
    if not hasattr(command, "commands"):
        return [path]
    parts = [(name, each) for name, each in command.commands.items() if not each.hidden]
    return [leaf for name, each in parts for leaf in commands(each, f"{path} {name}")]


@pytest.mark.parametrize("command", commands(typer.main.get_command(app), "nar"))
def test_every_command_is_documented(command):
    assert f"`{command}" in (DOCS / "reference.md").read_text()


def parsed(line):
    """Parse a command line as `nar` does, and run nothing."""
    words = shlex.split(line, comments=True)[1:]
    command = typer.main.get_command(app)
    context = command.make_context("nar", [], resilient_parsing=True)
    while hasattr(command, "commands") and (words or not command.invoke_without_command):
        name, *words = words
        command = command.commands[name]
    return command.make_context(name, words, parent=context)


@pytest.mark.parametrize(
    "line",
    [
        line
        for page in [README, *DOCS.rglob("*.md")]
        if page != HISTORY
        for block in blocks(page, "sh")
        for line in block.splitlines()
        if line.startswith("nar ")
    ],
)
def test_command_lines_are_understood(line):
    if re.search(r"\[[A-Z]+\]", line):
        pytest.skip("a synopsis")
    parsed(line)


def test_a_wrong_command_line_is_not_understood():
    with pytest.raises(Exception, match="No such option"):
        parsed("nar find --no-such-option timm:resnet50")


@pytest.mark.slow
def test_the_examples_of_the_readme_run(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # one saves a picture
    pytest.importorskip("timm")
    pytest.importorskip("transformers")
    names = {}
    for block in blocks(README, "python"):
        exec(block, names)
        for line in block.splitlines():  # `call  # True` says what the call gives
            code, _, said = line.partition("  # ")
            if said in ("True", "False") or said.startswith(("'", "float32")):
                check(eval(code, names), said)


def check(value, said):
    if said.startswith("float32"):
        assert f"{value.dtype}[{value.shape[0]}]" == said
    else:
        assert repr(value) == said
