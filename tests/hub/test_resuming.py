"""A download that is interrupted goes on: how many bytes the server has to send in all."""

import subprocess
import sys
import time
from contextlib import suppress

import pytest

from nar_plugin import hub
from nar_plugin.errors import IndexUnavailable
from nar_plugin.hub.answering import first_readable
from nar_plugin.index import ArchitectureIndex

REPO = "owner/architectures"
VECTORS = "shards/00000.vectors.safetensors"


@pytest.fixture
def twelve(client, large):
    """A server that holds 12,000 rows, and the size of their vectors."""
    hub.publish(large[0], REPO)
    client.forget()
    return client, (large[0] / VECTORS).stat().st_size


def loaded():
    return len(first_readable(ArchitectureIndex.load))


def arrived(home):
    """Bytes of the file that is under way; 0 of one that has just become whole."""
    with suppress(FileNotFoundError):
        return max((path.stat().st_size for path in home.rglob("*.incomplete")), default=0)
    return 0


@pytest.mark.parametrize(
    "share", [0.1, *(pytest.param(share, marks=pytest.mark.slow) for share in (0.3, 0.45, 0.9))]
)
def test_connections_that_never_last(twelve, share):
    """Each one ends after this share of the file."""
    server, size = twelve
    server.fail(path=f"/cdn/.*/{VECTORS}", methods=("GET",), cut=int(size * share))
    hub.update(REPO)
    assert loaded() == 12_000
    assert server.sent(VECTORS) == size


@pytest.mark.slow
def test_killed_over_and_over(twelve, environment, home):
    """kill -9 whenever another tenth has come; what was under way is all that is sent twice."""
    server, size = twelve
    server.fail(path=f"/cdn/.*/{VECTORS}", pause=0.03)  # a tenth takes long on a busy machine too
    kills = 0
    while not (home / "nar/active.json").exists():
        client = start(environment)
        goal = arrived(home) + size // 10
        while client.poll() is None and arrived(home) < goal:
            time.sleep(0.001)
        kills += client.poll() is None
        client.kill()
        client.wait()
        assert kills < 20
    assert kills >= 8
    assert loaded() == 12_000
    assert size <= server.sent(VECTORS) < 1.2 * size


def start(environment):
    code = "from nar_plugin.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, "index", "update", REPO],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("content", [b"x" * 1000, b"x" * 13_000_000, b""])
def test_a_wrong_part_is_thrown_away(twelve, home, content):
    """What lies there may be of any size: only the sha256 of the whole counts."""
    server, size = twelve
    server.fail(path=f"/cdn/.*/{VECTORS}", methods=("GET",), cut=1000, times=1)
    server.fail(path=VECTORS, methods=("GET",), cut=0)
    with pytest.raises(IndexUnavailable):
        hub.update(REPO)
    (part,) = home.rglob("*.incomplete")
    part.write_bytes(content)
    server.faults.clear()
    server.forget()
    hub.update(REPO)
    assert loaded() == 12_000
    assert not list(home.rglob("*.incomplete"))
    assert server.sent(VECTORS) <= 2 * size


def test_a_server_without_ranges_sends_it_all_again(twelve):
    server, size = twelve
    server.ranges = False
    server.fail(path=f"/cdn/.*/{VECTORS}", methods=("GET",), cut=size // 2, times=1)
    hub.update(REPO)
    assert loaded() == 12_000
    assert server.sent(VECTORS) == size // 2 + size


def test_a_server_that_sends_more_than_was_listed(twelve):
    server, size = twelve
    server.fail(path=f"/cdn/.*/{VECTORS}", methods=("GET",), extra=50_000_000)
    with pytest.raises(IndexUnavailable, match="expected 12,288,"):
        hub.update(REPO)
    assert server.sent(VECTORS) < 2 * size + 20_000_000  # the rest was not read
