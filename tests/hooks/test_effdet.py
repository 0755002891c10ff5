"""What effdet's plugin builds."""

import subprocess
import sys

import pytest
from nar_plugin.hooks import effdet as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("effdet")


def test_lists_what_the_library_publishes():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 47
    found = listed["effdet:tf_efficientdet_d7"]
    assert (found.family, found.task) == ("efficientdet", "object-detection")


def test_is_listed_beside_pytorch_geometric_which_replaces_what_effdet_compiles():
    pytest.importorskip("torch_geometric")
    program = (
        "import torch_geometric.hash_tensor; from nar_plugin.hooks import effdet;"
        "assert len(list(effdet.nar_architectures())) >= 47"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("name", "millions"),  # table 2 of https://arxiv.org/abs/1911.09070
    [("tf_efficientdet_d0", 3.9), ("tf_efficientdet_d7", 52)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"effdet:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, abs=0.2)
