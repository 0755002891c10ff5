"""A Hub on loopback, and the real huggingface_hub pointed at it."""

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace

import numpy as np
import pytest
from hubserver import HubServer

from nar_plugin import hub
from nar_plugin.encoder import ArchitectureEncoder, encoder_sha256, save_encoder
from nar_plugin.index import EMBEDDED, ArchitectureIndex, ArchitectureRow
from nar_plugin.index.search import approximate


@pytest.fixture
def server(tmp_path):
    with HubServer(tmp_path / "hub-server") as server:
        yield server


@pytest.fixture
def home(tmp_path):
    return tmp_path / "hf-home"


@pytest.fixture
def environment(request, home):
    """The variables of a client process, as a user would set them."""
    server = request.getfixturevalue("behind" if "behind" in request.fixturenames else "server")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    return kept | {
        "HF_ENDPOINT": server.url,
        "HF_HOME": str(home),
        "HF_TOKEN": "writer",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(Path(__file__).parent.parent),
    }


def point_client(monkeypatch, server, home):
    """huggingface_hub in this process, its constants as the environment would have set them."""
    from huggingface_hub import constants, file_download
    from huggingface_hub.utils import _http

    from nar_plugin.remote import resuming, waiting

    template = server.url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "ENDPOINT", server.url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HOME", str(home))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(home / "hub"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(home / "token"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", True)
    monkeypatch.setenv("HF_TOKEN", "writer")
    monkeypatch.setenv("NO_PROXY", "*")
    impatient = SimpleNamespace(**vars(time) | {"sleep": lambda _: None})
    for module in (_http, file_download, resuming, waiting):
        monkeypatch.setattr(module, "time", impatient)


@pytest.fixture
def client(server, home, monkeypatch):
    """A server that the Hub's library of this process talks to."""
    point_client(monkeypatch, server, home)
    return server


@pytest.fixture
def python(environment):
    """Run a program in a process of its own: `python("print(1)").stdout`."""

    def run(code, *words, **changes):
        return subprocess.run(
            [sys.executable, "-c", code, *words],
            env=environment | changes,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


REPO = "owner/architectures"


def rows_of(names):
    return [
        ArchitectureRow(
            f"timm:net{name}",
            (f"timm:net{name}",),
            library="timm",
            family=f"family{name % 7}",
            task="image-classification",
            params=1000 + name,
            flops=2000 + name,
            fingerprint=f"nar2:{name:08x}",
            design=f"nar2:{name:08x}",
            licence="Apache-2.0",
        )
        for name in names
    ]


def vectors_of(names, dim):
    """Of each name the same vector, in whatever index it is."""
    return np.stack([np.random.default_rng(name).standard_normal(dim) for name in names])


def first_index(count, dim, revision="2026.11.20"):
    names = range(count)
    encoder = ArchitectureIndex.load(EMBEDDED).manifest
    return ArchitectureIndex.from_rows(
        rows_of(names),
        vectors_of(names, dim),
        encoder.encoder,
        encoder.encoder_sha256,
        tracer=encoder.tracer,
        fingerprint=encoder.fingerprint,
        revision=revision,
    )


def next_index(index, new, gone, dim):
    """The index with new rows behind those that it has, and without the first few."""
    names = range(len(index), len(index) + new)
    buried = [f"nar2:{name:08x}" for name in range(gone)]
    return index.remove(buried).add(rows_of(names), vectors_of(names, dim))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Folders of two revisions of a small index: 200 rows, then 30 more and 5 tombstones."""
    first, second = (tmp_path_factory.mktemp("index") / name for name in ("first", "second"))
    first_index(200, 32).save(first)
    copytree(first, second)
    index = ArchitectureIndex.load(second)
    next_index(index, 30, 5, 32).save(second, revision="2026.11.21")
    return first, second


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """12,000 rows of 512 numbers, then 300 more and 20 tombstones; in half precision."""
    first, second = (tmp_path_factory.mktemp("large") / name for name in ("first", "second"))
    first_index(12_000, 512).save(first, half=True)
    copytree(first, second)
    index = ArchitectureIndex.load(second)
    next_index(index, 300, 20, 512).save(second, half=True, revision="2026.11.21")
    return first, second


@pytest.fixture
def published(client, small):
    """A server that holds the first revision, tagged v1."""
    hub.publish(small[0], REPO, tag="v1")
    client.forget()
    return client


def lagging(folder, first, second):
    """Fill a folder with a server that holds two revisions and a client that has the first."""
    with HubServer(folder / "hub-server") as server, pytest.MonkeyPatch.context() as monkeypatch:
        point_client(monkeypatch, server, folder / "hf-home")
        hub.publish(first, REPO, tag="v1")
        hub.update(REPO)
        hub.publish(second, REPO)
    return folder


@contextmanager
def resumed(folder, copy, monkeypatch):
    """A copy of what `lagging` made, its server running."""
    copytree(folder, copy, symlinks=True, dirs_exist_ok=True)
    with HubServer(copy / "hub-server") as server:
        point_client(monkeypatch, server, copy / "hf-home")
        yield server


@pytest.fixture(scope="module")
def one_behind(small, tmp_path_factory):
    """A folder with a server that holds both revisions and a client that has the first one."""
    return lagging(tmp_path_factory.mktemp("behind"), *small)


@pytest.fixture
def behind(one_behind, tmp_path, monkeypatch):
    """A server that holds the second revision, and a client that has the first."""
    with resumed(one_behind, tmp_path, monkeypatch) as server:
        yield server


@pytest.fixture(scope="module")
def one_behind_all(small, tmp_path_factory):
    """As `one_behind`; the second revision brings an encoder and an approximate index along."""
    pytest.importorskip("faiss", exc_type=ImportError)
    folder = tmp_path_factory.mktemp("all")
    (folder / "encoder").mkdir()
    save_encoder(ArchitectureEncoder(5, 8, hidden=8, dimensions=32), folder / "encoder")
    index = ArchitectureIndex.load(small[1])
    own = {"encoder": "own", "encoder_sha256": encoder_sha256(folder / "encoder")}
    index = ArchitectureIndex(index.contents.stating(**own))
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(approximate, "APPROXIMATE_FROM", 100)
        index.save(folder / "second", encoder=folder / "encoder")
    return lagging(folder, small[0], folder / "second")


@pytest.fixture
def holding(request, tmp_path, monkeypatch):
    """As `behind`; the second revision holds the file that the test's parameter `path` names."""
    path = request.node.callspec.params["path"]
    beside = path.startswith(("encoder", "derived"))
    folder = request.getfixturevalue("one_behind_all" if beside else "one_behind")
    with resumed(folder, tmp_path, monkeypatch) as server:
        yield server
