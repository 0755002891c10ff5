"""A build that is killed again and again ends with the same corpus as one that was left alone.

`NAR_WHOLE=1` tries it on more names than a test run has time for.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from whole import part

pytest.importorskip("tqdm")
pytest.importorskip("timm")
pytest.importorskip("transformers")

import nar_plugin
from nar_plugin.train.corpus.corpus import read_names
from nar_plugin.train.corpus.workers import read_records

NAMES = part(500, 12)
KILLS = part(10, 3)

# Half a second for a name at the least: how many are done by a kill is not the machine's to say.
_PAUSE = 0.5

_BUILD = """
import json, sys, time
from pathlib import Path
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.train.corpus import build
from nar_plugin.train.corpus import workers

on = workers._on

def slowly(*arguments):
    for record in on(*arguments):
        time.sleep(float(sys.argv[4]))
        yield record

if __name__ == "__main__":
    names = [NamedArchitecture(**item) for item in json.loads(Path(sys.argv[1]).read_text())]
    workers._on = slowly
    build.listed_apart = lambda *_: names
    build.build_corpus(Path(sys.argv[2]), Path(sys.argv[3]), workers=2)
"""


def _subset():
    """Names of timm, torchvision and transformers, evenly spread over the committed corpus."""
    folder = Path(nar_plugin.__file__).parent / "data" / "corpus"
    if not (folder / "names.parquet").is_file():
        pytest.skip("the corpus is not part of the wheel")
    rows = [row for row in read_names(folder) if row["library"] in ("timm", "transformers")]
    kept = ("name", "library", "task", "licence", "url", "hub_id", "composed")
    return [
        {key: row[key] for key in kept} | {"family": row["defined_in"]}
        for row in rows[:: len(rows) // NAMES][:NAMES]
    ]


def _start(script, folder, work, pause=0.0):
    names = script.with_suffix(".json")
    command = [sys.executable, "-W", "ignore", script, names, folder, work, str(pause)]
    return subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)


@pytest.mark.slow
def test_kills_change_nothing(tmp_path):
    script = tmp_path / "build.py"
    script.write_text(_BUILD)
    script.with_suffix(".json").write_text(json.dumps(_subset()))
    alone, killed, work = tmp_path / "alone", tmp_path / "killed", tmp_path / "work"
    assert _start(script, alone, tmp_path / "once").wait() == 0

    moments = random.Random(0)
    records = work / "records.jsonl"
    for _ in range(KILLS):
        build = _start(script, killed, work, _PAUSE)
        goal = _lines(records) + moments.randint(1, max(1, NAMES // (4 * KILLS)))
        while build.poll() is None and _lines(records) < goal:
            time.sleep(0.05)
        time.sleep(moments.uniform(0, 0.5))
        assert build.poll() is None, "it was done before it could be killed"
        os.killpg(build.pid, signal.SIGKILL)
        build.wait()
    assert _start(script, killed, work).wait() == 0

    traced = [record["name"] for record in read_records(work / "records.jsonl")]
    assert len(traced) == len(set(traced)) == NAMES
    for file in ("graphs.parquet", "ops.parquet"):
        assert (killed / file).read_bytes() == (alone / file).read_bytes()
    assert _but_seconds(killed) == _but_seconds(alone)


def _lines(records):
    return records.read_bytes().count(b"\n") if records.is_file() else 0


def _but_seconds(folder):
    return [{**row, "seconds": None} for row in read_names(folder)]
