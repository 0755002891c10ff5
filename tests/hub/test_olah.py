"""The download side against a server that others wrote: olah, over a local git repository."""

import hashlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from shutil import copytree

import pytest

REPO = "owner/architectures"
NAR = "from nar_plugin.cli import main; main()"
COUNT = """
from nar_plugin.hub.answering import first_readable
from nar_plugin.index import ArchitectureIndex
print(len(first_readable(ArchitectureIndex.load)))
"""


@pytest.fixture(scope="module")
def olah(tmp_path_factory):
    """The command, in an environment of its own: its pins are not ours."""
    folder = tmp_path_factory.mktemp("olah")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "olah>=0.5.4"]
    installed = subprocess.run(pip, capture_output=True, text=True)
    if installed.returncode:  # no network, no registry
        pytest.skip("olah could not be installed: " + installed.stderr[-300:])
    return folder / "bin" / "olah-cli"


def commit(repository, folder, tag):
    """A commit of an index as git-lfs would make it: pointers, and the contents beside them."""
    git = ["git", "-C", repository, "-c", "user.name=n", "-c", "user.email=n@example.org"]
    if not repository.exists():
        repository.mkdir(parents=True)
        subprocess.run([*git, "init", "--quiet", "--initial-branch=main"], check=True)
    copytree(folder, repository, dirs_exist_ok=True)
    for path in repository.glob("shards/*"):
        content = path.read_bytes()
        if content.startswith(b"version https://git-lfs"):
            continue
        sha256 = hashlib.sha256(content).hexdigest()
        place = repository / ".git" / "lfs" / "objects" / sha256[:2] / sha256[2:4] / sha256
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        version = "version https://git-lfs.github.com/spec/v1"
        path.write_text(f"{version}\noid sha256:{sha256}\nsize {len(content)}\n")
    for words in (["add", "--all"], ["commit", "--quiet", "--message", tag], ["tag", tag]):
        subprocess.run([*git, *words], check=True)


@pytest.fixture
def mirror(olah, tmp_path):
    """A running olah that knows only the git repositories under `mirrors`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "olah.toml").write_text(
        f"""[basic]
host = "127.0.0.1"
port = {port}
repos-path = "{tmp_path / "repos"}"
mirrors-path = ["{tmp_path / "mirrors"}"]
[accessibility]
offline = true
"""
    )
    words = ["--config", tmp_path / "olah.toml", "--log-path", tmp_path / "logs"]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen([olah, *words], stdout=log, stderr=log)
    try:
        await_answer(f"http://127.0.0.1:{port}/")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)


def await_answer(url):
    for _ in range(120):
        try:
            urllib.request.urlopen(url, timeout=5)
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.5)
        else:
            return
    raise TimeoutError(f"{url} does not answer")


@pytest.mark.slow
def test_an_index_comes_from_olah_as_from_the_hub(mirror, tmp_path, small, home):
    repository = tmp_path / "mirrors" / "datasets" / REPO
    commit(repository, small[0], "v1")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment = kept | {"HF_ENDPOINT": mirror, "HF_HOME": str(home), "OMP_NUM_THREADS": "1"}

    def run(code, *words):
        done = subprocess.run(
            [sys.executable, "-c", code, *words], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "revision 2026.11.20, 200 graphs; fetched: 2 files" in run(NAR, "index", "update", REPO)
    assert run(COUNT) == "200\n"
    commit(repository, small[1], "v2")
    assert "revision 2026.11.21, 225 graphs; fetched: 3 files" in run(NAR, "index", "update")
    assert run(COUNT) == "225\n"
    run(NAR, "index", "update", "--revision", "v1")
    assert run(COUNT) == "200\n"
