"""Threads and processes that search while the index is replaced: the old one or the new one."""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import nar_plugin
from nar_plugin.index import ArchitectureIndex
from tests.index.conftest import build, row

ROUNDS = 20


def revision(number):
    """Every name and every vector of a revision says which one it is."""
    rows = [row(f"lib:{i}.{number}", fingerprint=f"f{i}.{number}") for i in range(200)]
    vectors = np.random.default_rng(number).standard_normal((200, 8))
    vectors[:, 0] = 3 + number % 7
    return build(rows, vectors, revision=str(number))


READER = """
import os
import sys
import time
import numpy as np
from pathlib import Path
from nar_plugin.index import ArchitectureIndex
folder, stop = Path(sys.argv[1]), Path(sys.argv[2])
seen, parent = set(), os.getppid()
query = np.ones(8)
print("ready", flush=True)
while (not stop.exists() or not seen) and os.getppid() == parent:
    index = ArchitectureIndex.load(folder)
    found = index.search(query, 10)
    numbers = {match.row.name.rpartition(".")[2] for match in found}
    assert numbers == {index.manifest.revision}, (numbers, index.manifest.revision)
    assert len(found) == 10
    own = index.search(index.vectors[7], 1)
    assert own[0].row.name == f"lib:7.{index.manifest.revision}"
    seen.add(index.manifest.revision)
    time.sleep(0.02)  # the writer wants a core as well
print(len(seen))
"""


@pytest.mark.slow
def test_processes_that_load_while_revisions_land(tmp_path):
    folder, stop = tmp_path / "index", tmp_path / "stop"
    revisions = [revision(number) for number in range(ROUNDS)]
    revisions[0].save(folder)
    command = [sys.executable, "-c", READER, str(folder), str(stop)]
    readers = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for reader in readers:
        assert reader.stdout.readline() == "ready\n"
    for index in revisions[1:]:
        index.save(folder)
        time.sleep(0.03)
    stop.touch()
    for reader in readers:
        printed, problems = reader.communicate(timeout=60)
        assert reader.returncode == 0, problems
        assert int(printed) >= 1
    assert ArchitectureIndex.load(folder).manifest.revision == str(ROUNDS - 1)


@pytest.mark.slow
def test_threads_that_search_while_revisions_land(tmp_path):
    folder = tmp_path / "index"
    revision(0).save(folder)
    done, problems, seen = threading.Event(), [], set()

    def reader():
        try:
            while not done.is_set():
                index = ArchitectureIndex.load(folder)
                for _ in range(5):
                    found = index.search(np.ones(8), 10)
                    numbers = {match.row.name.rpartition(".")[2] for match in found}
                    assert numbers == {index.manifest.revision}
                seen.add(index.manifest.revision)
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=reader) for _ in range(8)]
    for thread in threads:
        thread.start()
    for number in range(1, ROUNDS):
        revision(number).save(folder)
    done.set()
    for thread in threads:
        thread.join()
    assert not problems, problems[0]
    assert seen


def test_additions_that_land_while_one_index_is_searched(tmp_path):
    """An index in hand never changes, whatever becomes of its folder."""
    folder = tmp_path / "index"
    revision(1).save(folder)
    index = ArchitectureIndex.load(folder)
    before = [match.row.name for match in index.search(np.ones(8), 20)]
    newer = index.add([row("lib:new")], np.ones((1, 8))).remove(["f3.1"])
    newer.save(folder)
    revision(2).save(folder)
    assert [match.row.name for match in index.search(np.ones(8), 20)] == before
    assert newer.search(np.ones(8), 1)[0].row.name == "lib:new"


def test_one_index_and_one_backend_for_all_threads(tmp_path):
    revision(1).save(tmp_path / "index")
    nar_plugin.clear_cache()
    found, backends = [], []

    def ask():
        index = nar_plugin.load_index(tmp_path / "index")
        found.append(index)
        backends.append(index.searcher.backend())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, found))) == len(set(map(id, backends))) == 1
    nar_plugin.clear_cache()
    assert nar_plugin.load_index(tmp_path / "index") is not found[0]


def test_clear_cache_releases_the_memory(tmp_path):
    import gc
    import weakref

    revision(1).save(tmp_path / "index")
    index = weakref.ref(nar_plugin.load_index(tmp_path / "index"))
    index().search(np.ones(8))
    nar_plugin.clear_cache()
    gc.collect()
    assert index() is None


@pytest.mark.parametrize("half", [False, True])
def test_a_query_needs_no_files(tmp_path, half):
    """Once loaded, an index answers although its folder is gone."""
    import shutil

    revision(1).save(tmp_path / "index", half=half)
    index = ArchitectureIndex.load(tmp_path / "index")
    shutil.rmtree(tmp_path / "index")
    assert len(index.search(np.ones(8), 10)) == 10
