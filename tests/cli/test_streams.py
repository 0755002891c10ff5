"""The real `nar`: results alone on stdout, whatever prints, and whatever stdout is."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

NAR = Path(sys.executable).with_name("nar")

LOUD = """
import atexit, ctypes, os, subprocess, sys
atexit.register(print, "at the end")
print("by print")
print("by the first stream", file=sys.__stdout__, flush=True)
os.write(1, b"by the descriptor\\n")
subprocess.run([sys.executable, "-c", "print('by a child')"])
ctypes.CDLL(None).puts(b"by C")

from torch import nn

class Net(nn.Sequential):
    def __init__(self):
        print("by the constructor")
        super().__init__(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))

    def forward(self, x):
        print("by the forward")
        return super().forward(x)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "loud.py").write_text(LOUD)
    return tmp_path


def run(folder, *words, **more):
    environment = {**os.environ, **more}
    return subprocess.run([NAR, *words], cwd=folder, env=environment, capture_output=True)


@pytest.mark.skipif(sys.platform == "win32", reason="C's library has another name")
def test_a_model_of_the_current_folder_prints_to_stderr(folder):
    done = run(folder, "trace", "loud:Net", "--json")
    found = json.loads(done.stdout)
    assert found["name"] == "loud:Net"
    assert [op["kind"] for op in found["ops"]] == ["linear", "relu", "linear"]
    for words in (
        "by print",
        "by the first stream",
        "by the descriptor",
        "by a child",
        "by C",
        "by the constructor",
        "by the forward",
    ):
        assert words.encode() in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "cp437", "cp1252", "utf-8"])
def test_any_encoding_shows_the_tables(folder, encoding):
    done = run(folder, "trace", "loud:Net", PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    sign = {"utf-8": "\N{MULTIPLICATION SIGN}2", "cp1252": "\N{MULTIPLICATION SIGN}2"}
    assert f"linear {sign.get(encoding, 'x2')}" in done.stdout.decode(encoding)


@pytest.mark.slow
def test_a_table_with_a_rule_and_the_help_are_ascii(folder):
    for words in (("motifs", "loud:Net"), ("find", "--help"), ("find", "nowhere")):
        done = run(folder, *words, PYTHONIOENCODING="ascii", COLUMNS="60")
        assert (done.stdout if words[-1] != "nowhere" else done.stderr).decode("ascii").strip()
        assert b"Traceback" not in done.stderr
        assert b"?" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_closed_pipe_ends_quietly(folder, form):
    read, write = os.pipe()
    os.close(read)
    command = [NAR, "index", "info", *form]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, cwd=folder)
    os.close(write)
    assert done.stderr == b""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="of a POSIX shell")
def test_closed_streams(folder):
    line = f"'{NAR}' index info >&-; '{NAR}' find nowhere 2>&-"
    done = subprocess.run(line, shell=True, cwd=folder, capture_output=True)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"Traceback" not in done.stderr
