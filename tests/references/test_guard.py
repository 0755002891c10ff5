"""What a model's description may not cause, and what stays as it was."""

import ctypes
import os
import pickle
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory

import pytest
import torch

from nar_plugin.errors import NarError
from nar_plugin.references.guard import DataOnly, Refused


class Evil:
    def __reduce__(self):
        return Path, ("x",)


def run_module(file):
    spec = spec_from_file_location("stranger", file)
    spec.loader.exec_module(module_from_spec(spec))


DEEDS = {
    "write the file": lambda file: file.write_text("x"),
    "write a new file": lambda file: (file.parent / "new").touch(),
    "read the file": lambda file: file.read_text(),
    "read by way of /proc": lambda file: Path(f"/proc/self/root{file}").read_text(),
    "load weights": lambda file: torch.load(file, weights_only=False),
    "connect": lambda _: socket.create_connection(("127.0.0.1", 9)),
    "look up a name": lambda _: socket.getaddrinfo("example.org", 80),
    "listen": lambda _: socket.socket().bind(("127.0.0.1", 0)),
    "start a program": lambda _: subprocess.run(["true"]),
    "start a shell": lambda _: os.system("true"),
    "fork": lambda _: os._exit(0) if os.fork() == 0 else None,
    "unpickle": lambda _: pickle.loads(pickle.dumps(Evil())),
    "ask": lambda _: input(),
    "load a library": lambda file: ctypes.CDLL(str(file)),
    "run a module": lambda file: run_module(file.with_suffix(".py")),
    "make a folder": lambda file: (file.parent / "folder").mkdir(),
    "rename": lambda file: file.rename(file.with_suffix(".new")),
}


@pytest.fixture
def file(tmp_path):
    (tmp_path / "file.py").write_text(f"open({str(tmp_path / 'pwned')!r}, 'w')")
    torch.save(Evil(), tmp_path / "file")
    return tmp_path / "file"


@pytest.mark.parametrize("deed", DEEDS)
def test_refused_inside(deed, file):
    before = {item: item.read_bytes() for item in file.parent.iterdir()}
    with pytest.raises(Refused, match=r"the config would .*never lets"), DataOnly("the config"):
        DEEDS[deed](file)
    assert {item: item.read_bytes() for item in file.parent.iterdir()} == before


def test_nothing_is_refused_outside(file):
    with pytest.raises(NarError), DataOnly("the config"):
        file.read_text()
    with DataOnly("the config"):
        pass
    file.write_text("x")
    assert file.read_text() == "x"
    assert subprocess.run(["true"]).returncode == 0


def test_blocks_nest(file):
    with DataOnly("the outer"):
        with DataOnly("the inner"):
            pass
        with pytest.raises(Refused, match="the outer would"):
            file.read_text()


def test_another_thread_is_not_watched(file):
    inside, done = threading.Event(), threading.Event()
    said = []

    def write():
        inside.wait()
        file.write_text("another thread")
        said.append(file.read_text())
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    with DataOnly("the config"):
        inside.set()
        done.wait(10)
    thread.join()
    assert said == ["another thread"]


def test_installed_code_and_data_can_be_read():
    sys.modules.pop("this", None)
    with DataOnly("the config"):
        Path(torch.__file__).read_text()
        import colorsys  # noqa: F401

        Path(os.devnull).write_text("x")
        Path("/proc/self/status").read_text()


def test_what_an_editable_install_says_of_itself_can_be_read(tmp_path, monkeypatch):
    told = tmp_path / "mine.egg-info"
    told.mkdir()
    (told / "PKG-INFO").write_text("Name: mine")
    (told / "folder").mkdir()
    (told / "folder" / "secret").write_text("x")
    with pytest.raises(Refused), DataOnly("the config"):
        (told / "PKG-INFO").read_text()
    monkeypatch.syspath_prepend(tmp_path)
    with DataOnly("the config"):
        assert (told / "PKG-INFO").read_text() == "Name: mine"
        with pytest.raises(Refused):
            (told / "folder" / "secret").read_text()


def test_an_import_may_write_its_bytecode(tmp_path, monkeypatch):
    package = tmp_path / "site-packages"
    package.mkdir()
    (package / "never_imported_before.py").write_text("VALUE = 3")
    monkeypatch.syspath_prepend(str(package))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    with DataOnly("the config"):
        import never_imported_before
    assert never_imported_before.VALUE == 3
    assert list(package.glob("__pycache__/*.pyc"))


def test_temporary_files_of_ones_own():
    with DataOnly("the config"), TemporaryDirectory() as folder:
        (Path(folder) / "inner").mkdir()
        (Path(folder) / "inner" / "file").write_text("x")
        assert (Path(folder) / "inner" / "file").read_text() == "x"
        with NamedTemporaryFile("w", suffix=".py") as other:
            other.write("VALUE = 3")
            other.flush()
            run_module(other.name)
    assert not Path(folder).exists()


def test_a_library_that_can_do_without_goes_on(file):
    with DataOnly("the config"):
        with suppress(OSError):
            file.read_text()
        answer = 3
    assert answer == 3


def test_a_refusal_in_a_librarys_words_is_told_as_it_was(file):
    with pytest.raises(Refused, match=f"would read the file {file}"), DataOnly("the config"):
        try:
            file.read_text()
        except OSError as error:
            raise ValueError("could not connect") from error
