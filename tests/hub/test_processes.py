"""The command line against the loopback Hub, in processes of their own, as people have it."""

import json
import random
import subprocess
import sys
import time

import pytest

NAR = "from nar_plugin.cli import main; main()"
REPO = "owner/architectures"
ASK = """
import json, sys
import numpy as np
import nar_plugin

index = nar_plugin.load_index(*json.loads(sys.argv[1]))
found = []
for name in json.loads(sys.argv[2]):
    vector = np.random.default_rng(name).standard_normal(index.manifest.dim)
    found.append([match.row.name for match in index.search(vector, 3)])
print(json.dumps([index.source, index.manifest.revision, len(index), found]))
"""
COUNT = """
from nar_plugin.hub.answering import first_readable
from nar_plugin.index import ArchitectureIndex
print(len(first_readable(ArchitectureIndex.load)))
"""
# Root may write everywhere, unless it gives that capability up (PR_CAPBSET_DROP, CAP_DAC_OVERRIDE).
AS_ANYBODY = """
import ctypes, os, sys
if os.geteuid() == 0:
    ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-c", *sys.argv[1:]])
"""
WITH_LITTLE_ROOM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.argv[1:2] = []
"""


@pytest.fixture
def nar(python):
    """Run the command line: `nar("index", "update")`."""
    return lambda *words, **changes: python(NAR, *words, **changes)


@pytest.fixture
def ask(python):
    """What an index answers in a fresh process: source, revision, graphs, names for each vector."""

    def ask(*numbers, index=None, revision=None, **changes):
        done = python(ASK, json.dumps([index, revision]), json.dumps(numbers), **changes)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), done.stderr

    return ask


def test_the_commands_say_what_they_did(nar, server, small):
    done = nar("index", "publish", str(small[0]), REPO, "--tag", "v1", "--json")
    said = json.loads(done.stdout)
    assert said["tag"] == "v1" and len(said["sent"]) == 2, done.stderr
    plan = json.loads(nar("index", "update", REPO, "--dry-run", "--json").stdout)
    assert (plan["done"], plan["graphs"], plan["fetched"]) == (False, 200, said["sent"])
    done = nar("index", "update", REPO)
    assert done.stdout.startswith(f"{REPO}@{said['commit'][:8]}: revision 2026.11.20, 200 graphs;")
    assert "answers: revision 2026.11.20, 200 graphs" in done.stderr

    done = nar("index", "update", "owner/nothing")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no dataset repository owner/nothing" in done.stderr
    assert f"The index {REPO}@" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.slow
def test_twelve_thousand_rows_there_and_back(nar, ask, python, server, large):
    """Publish, fetch, query, update by the new shard alone, go back, go offline."""
    first, second = large
    assert nar("index", "publish", str(first), REPO, "--tag", "first").returncode == 0
    assert nar("index", "update", REPO).returncode == 0
    (_, revision, graphs, found), _ = ask(7, 11_999, 12_299)
    assert (revision, graphs) == ("2026.11.20", 12_000)
    assert [names[0] for names in found[:2]] == ["timm:net7", "timm:net11999"]
    assert found[2][0] != "timm:net12299"

    done = nar("index", "publish", str(second), REPO, "--json")
    new = json.loads(done.stdout)
    assert sorted(new["sent"]) == [
        "shards/00001.rows.parquet",
        "shards/00001.vectors.safetensors",
        "tombstones.json",
    ]
    server.forget()
    assert nar("index", "update").returncode == 0
    manifest = (second / "manifest.json").stat().st_size
    fetched = sum(map(server.sent, ("/cdn/", "/resolve/")))
    assert fetched == new["bytes"] + manifest
    assert (
        fetched
        < 700_000
        < server.storage.repository("datasets", REPO)
        .entry("main", "shards/00000.vectors.safetensors")
        .size
    )
    (_, revision, graphs, found), _ = ask(7, 11_999, 12_299)
    assert (revision, graphs) == ("2026.11.21", 12_280)
    assert [names[0] for names in found[1:]] == ["timm:net11999", "timm:net12299"]
    assert "timm:net7" not in found[0]  # one of the tombstones

    server.forget()
    assert nar("index", "update", "--revision", "first").returncode == 0
    assert python(COUNT).stdout == "12000\n"
    assert server.sent("/cdn/") == 0

    assert nar("index", "update", "--revision", "main").returncode == 0
    server.forget()
    (_, revision, graphs, found), said = ask(12_299, HF_HUB_OFFLINE="1")
    assert (revision, graphs, found[0][0]) == ("2026.11.21", 12_280, "timm:net12299")
    assert not said and not server.log


def test_the_loaded_index_has_the_methods_that_people_expect(python, server, small):
    program = """
import sys
import nar_plugin
index = nar_plugin.ArchitectureIndex.from_pretrained(sys.argv[1])
index.push_to_hub("owner/architectures", tag="v1")
again = nar_plugin.ArchitectureIndex.from_pretrained("owner/architectures", revision="v1")
again.save_pretrained(sys.argv[2])
print(len(nar_plugin.load_index(sys.argv[2])), hasattr(nar_plugin.load_index(), "push_to_hub"))
"""
    saved = str(server.storage.folder / "saved")
    done = python(program, str(small[0]), saved)
    assert done.stdout.split() == ["200", "True"], done.stderr


def test_a_full_disk(nar, python, behind):
    """A limit on the size of files stands in for it: the new vectors do not fit."""
    done = python(WITH_LITTLE_ROOM + NAR, "3000", "index", "update")
    assert (done.returncode, done.stdout) == (1, "")
    assert "shards/00001" in done.stderr and "could not be written" in done.stderr
    assert "Make room, or set HF_HOME to a larger disk" in done.stderr
    assert "answers: revision 2026.11.20" in done.stderr
    assert python(COUNT).stdout == "200\n"
    assert nar("index", "update").returncode == 0


@pytest.fixture
def read_only(home):
    """Nobody may write into HF_HOME, the owner included."""
    folders = [home, *(path for path in home.rglob("*") if path.is_dir() and not path.is_symlink())]
    for folder in folders:
        folder.chmod(0o555)
    yield home
    for folder in folders:
        folder.chmod(0o755)


def test_a_read_only_cache_answers_and_cannot_be_updated(python, behind, read_only):
    done = python(AS_ANYBODY, NAR, "index", "update")
    assert (done.returncode, done.stdout) == (1, "")
    assert "Permission denied" in done.stderr and "Set HF_HOME to a folder" in done.stderr
    assert "answers: revision 2026.11.20, 200 graphs" in done.stderr
    done = python(AS_ANYBODY, COUNT)
    assert done.stdout == "200\n", done.stderr


def start(environment, *words):
    return subprocess.Popen(
        [sys.executable, "-c", NAR, *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_updates_at_once(python, behind, environment):
    behind.fail(path="/cdn/", pause=0.3)
    both = [start(environment, "index", "update") for _ in range(2)]
    ends = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    assert python(COUNT).stdout == "225\n"


def asked(server):
    """Wait until a client has begun to ask."""
    while not (server.busy or server.log):
        time.sleep(0.002)


@pytest.mark.slow
def test_an_update_that_is_killed_at_any_moment(one_behind, tmp_path, environment, behind, home):
    """Twenty random moments after its first question: the old index answers, or the new one."""
    from shutil import copytree, rmtree

    from nar_plugin.hub.answering import first_readable
    from nar_plugin.index import ArchitectureIndex

    behind.fail(path="/cdn/|manifest|tombstones", pause=0.15)
    before = start(environment, "index", "update")
    asked(behind)
    started = time.monotonic()
    assert before.wait(timeout=120) == 0
    whole = time.monotonic() - started
    moments = random.Random(0)
    seen, running = [], 0
    for _ in range(20):
        rmtree(home)
        copytree(one_behind / "hf-home", home, symlinks=True)
        behind.forget()
        process = start(environment, "index", "update")
        asked(behind)
        time.sleep(moments.uniform(0, whole))
        running += process.poll() is None
        process.kill()  # SIGKILL
        process.communicate()
        seen.append(len(first_readable(ArchitectureIndex.load)))
    assert running >= 10  # the others had ended by then
    assert set(seen) <= {200, 225}
    assert 200 in seen, seen  # some were killed before the end
    behind.faults.clear()
    last = start(environment, "index", "update")
    said = last.communicate(timeout=120)
    assert last.returncode == 0, said
    assert len(first_readable(ArchitectureIndex.load)) == 225


ASK_ALL_THE_TIME = """
import os, sys, threading
from pathlib import Path
import numpy as np
import nar_plugin

stop, seen, problems, parent = Path(sys.argv[1]), set(), [], os.getppid()
LENGTHS = {"2026.11.20": 200, "2026.11.21": 225}

def ask():
    query = np.ones(32)
    while not (stop.exists() or problems) and os.getppid() == parent:
        try:
            index = nar_plugin.load_index()
            found = index.search(query, 250)
            assert len(found) == len(index) == LENGTHS[index.manifest.revision]
            names = {match.row.name for match in found}
            assert ("timm:net0" in names) == (index.manifest.revision == "2026.11.20")
            seen.add(index.manifest.revision)
        except BaseException as error:
            problems.append(repr(error))

threads = [threading.Thread(target=ask) for _ in range(8)]
for thread in threads:
    thread.start()
print("ready", flush=True)
for thread in threads:
    thread.join()
print(problems, sorted(seen))
"""


@pytest.mark.slow
def test_eight_threads_of_four_processes_ask_while_updates_land(nar, behind, environment, tmp_path):
    """Forth and back ten times: each answer is wholly of one revision, and both are seen."""
    stop = tmp_path / "stop"
    askers = [
        subprocess.Popen(
            [sys.executable, "-c", ASK_ALL_THE_TIME, str(stop)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for asker in askers:
        assert asker.stdout.readline() == "ready\n"
    for revision in 5 * ["main", "v1"]:
        done = nar("index", "update", "--revision", revision)
        assert done.returncode == 0, done.stderr
    stop.touch()
    for asker in askers:
        printed, said = asker.communicate(timeout=60)
        assert printed == "[] ['2026.11.20', '2026.11.21']\n", said
        assert not said
