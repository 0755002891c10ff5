import json
import subprocess
import sys
from pathlib import Path

import pytest

from nar_plugin.cli import main

NAR = Path(sys.executable).with_name("nar")


def run(*words, **options):
    """The real `nar`, in a process of its own."""
    return subprocess.run([NAR, *words], capture_output=True, text=True, **options)


@pytest.fixture
def code(monkeypatch, capsys):
    """Exit code, stdout and stderr of `main` with these words."""

    def run_main(*words):
        monkeypatch.setattr(sys, "argv", ["nar", *words])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        return stopped.value.code or 0, captured.out, captured.err

    return run_main


def test_an_error_is_one_paragraph_on_stderr(code, api):
    status, out, err = code("find", "my:net", "--index", "nowhere")
    assert (status, out) == (1, "")
    assert err == "no index at nowhere: [red]try[/red] nar index update\n"


def test_a_bug_shows_its_traceback_and_a_hint(code, api):
    def buggy(*_, **__):
        raise ZeroDivisionError("division by zero")

    api.find_similar = buggy
    status, out, err = code("find", "my:net")
    assert (status, out) == (1, "")
    assert "Traceback" in err
    assert "NAR_DISABLE_PLUGINS=*" in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_full_disk_is_no_bug(form):
    with Path("/dev/full").open("w") as full:
        command = [NAR, "index", "info", *form]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "There is no space left where the result or a file goes.\n"


@pytest.mark.parametrize(("words", "status"), [([], 2), (["nope"], 2), (["--help"], 0)])
def test_exit_codes(code, words, status):
    assert code(*words)[0] == status


@pytest.mark.parametrize(
    ("words", "new"),
    [
        (["train", "--epochs", "3"], "nar dev train"),
        (["evaluate", "--help"], "nar dev evaluate"),
        (["corpus", "build", "--isolated"], "nar dev corpus"),
        (["bench"], "nar dev bench"),
        (["index", "write"], "nar dev index write"),
        (["index", "reencode", "owner/name"], "nar dev index reencode"),
    ],
)
def test_an_old_name_answers_with_the_new_one(code, words, new):
    status, out, err = code(*words)
    assert (status, out) == (2, "")
    assert f"it is `{new}` now" in " ".join(err.split())


def test_help_fits_one_screen(code, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = code("--help")[1]
    assert len(shown.splitlines()) <= 25  # a screen of 80 by 25
    assert "dev" in shown
    assert "corpus" not in shown


def test_help_imports_no_torch():
    line = "import sys, nar_plugin.cli; print([m for m in ('torch', 'numpy') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True)
    assert result.stdout.strip() == "[]"


def test_the_real_command_finds_an_identical_architecture():
    pytest.importorskip("timm")
    result = run("find", "timm:resnet18", "-k", "3", "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert list(found) == ["query", "index", "hits", "notes"]
    assert "timm:resnet18" in found["hits"][0]["names"]
    assert found["hits"][0]["exact"] is True
    assert found["query"]["params"] == 11_689_512
    assert len(found["hits"]) == 3


@pytest.mark.slow
def test_the_real_command_says_what_is_wrong(tmp_path):
    result = run("trace", "owner/name", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert "hub:owner/name" in result.stderr
    assert "Traceback" not in result.stderr
