import sys
from functools import partial

import numpy as np
import pytest

from nar_plugin.index import ArchitectureIndex, ArchitectureRow
from nar_plugin.index.search import backends
from nar_plugin.mining.macro import MotifCount

BOTTLENECK = MotifCount(shape="5a", label="Bottleneck", count=16, ops=10)


def row(name, names=(), library="timm", family="resnet", task="image-classification", **fields):
    values = {
        "params": 25_557_032,
        "flops": 8_178_368_512,
        "fingerprint": f"nar1:{name}",
        "design": "nar1:d",
        "licence": "Apache-2.0",
    }
    return ArchitectureRow(
        name, names or (name,), library=library, family=family, task=task, **values | fields
    )


def build(rows, vectors, **fields):
    versions = {"tracer": "1", "fingerprint": "nar1", "revision": "2026.11.21"}
    values = np.array(vectors, dtype=np.float32)
    return ArchitectureIndex.from_rows(
        rows, values, "nar-base", "c0ffee" * 8, **versions | fields, created="2026-11-21"
    )


@pytest.fixture(name="row")
def row_fixture():
    """Makes a row from its name."""
    return row


@pytest.fixture(name="build")
def build_fixture():
    """Makes an index from rows and vectors."""
    return build


@pytest.fixture
def index():
    """Four architectures at 0, 53, 90 and 180 degrees in the plane."""
    rows = [
        row("timm:resnet50", motifs=(BOTTLENECK,), url="https://huggingface.co/timm"),
        row("timm:vgg11", family="vgg", params=132_863_336, flops=15_218_000_000),
        row(
            "transformers:bert",
            library="transformers",
            family="bert",
            task="fill-mask",
            params=109_482_240,
            flops=22_000_000_000,
        ),
        row(
            "torchvision:squeezenet1_0",
            ("torchvision:squeezenet1_0", "timm:squeezenet"),
            library="torchvision",
            family="squeezenet",
            params=1_248_424,
            flops=1_640_000_000,
            licence="BSD-3-Clause",
        ),
    ]
    return build(rows, [[1, 0], [0.6, 0.8], [0, 1], [-1, 0]])


@pytest.fixture
def saved(index, tmp_path):
    folder = tmp_path / "index"
    index.save(folder)
    return folder


@pytest.fixture(params=["numpy", "faiss", "torch", "faiss-gpu"])
def backend(request, monkeypatch):
    """The name of each search backend: `numpy` of a small index, the others of a large one.

    In place of a GPU stands the CPU: torch's, and FAISS's index that rounds in the same way.
    """
    return prepared(request.param, monkeypatch)


@pytest.fixture(params=["numpy", "faiss", "torch", "faiss-gpu", "ivf-pq"])
def every_backend(request, monkeypatch):
    """As `backend`, and the approximate one."""
    return prepared(request.param, monkeypatch)


def prepared(name, monkeypatch):
    if name == "numpy":
        monkeypatch.setitem(sys.modules, "faiss", None)
        return name
    monkeypatch.setattr(backends, "LARGE", 0)
    if name == "torch":
        monkeypatch.setitem(sys.modules, "faiss", None)
        monkeypatch.setattr(backends, "on_gpu", lambda rows: True)
        on_cpu = partial(backends.TorchCandidates, device="cpu")
        monkeypatch.setattr(backends, "torch_on_gpu", on_cpu)
        return name
    faiss = pytest.importorskip("faiss", exc_type=ImportError)
    if name == "faiss-gpu":
        halves, product = faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
        monkeypatch.setattr(backends, "on_gpu", lambda rows: True)
        monkeypatch.setattr(
            backends, "flat_on_gpu", lambda dim: faiss.IndexScalarQuantizer(dim, halves, product)
        )
    return name


@pytest.fixture
def full_gpu(monkeypatch):
    """A machine with a GPU that has no memory left."""

    def full(*_):
        raise RuntimeError("Error: 'err == cudaSuccess' failed: out of memory")

    monkeypatch.setattr(backends, "on_gpu", lambda rows: True)
    for name in ("flat_on_gpu", "torch_on_gpu"):
        monkeypatch.setattr(backends, name, full)
