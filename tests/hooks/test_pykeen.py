"""What the plugin of PyKEEN lists, and a model of it, built and traced."""

import subprocess
import sys

import pytest
from nar_plugin.hooks import pykeen as plugin

from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

pytest.importorskip("pykeen")


def test_the_names_of_the_library() -> None:
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 35
    assert listed["pykeen:TransE"].family == "trans_e"


def test_is_listed_beside_monai_whose_schedulers_have_the_names_of_pytorch_s() -> None:
    pytest.importorskip("monai")
    program = (
        "import monai.optimizers; from nar_plugin.hooks import pykeen;"
        "assert len(list(pykeen.nar_architectures())) >= 35"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_model_is_built_and_traced_without_weights() -> None:
    graph = trace(built(lambda: plugin.nar_build("pykeen:TransE")))
    assert graph.method == "meta"
    # 14 nations and 55 relations with 50 numbers each
    assert graph.params == (14 + 55) * 50
