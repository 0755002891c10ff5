"""What the plugin of PyKEEN lists, and a model of it, built and traced."""

import subprocess
import sys

import pytest

pytest.importorskip("pykeen")


def test_is_listed_beside_monai_whose_schedulers_have_the_names_of_pytorch_s() -> None:
    pytest.importorskip("monai")
    program = (
        "import monai.optimizers; from nar_plugin.hooks import pykeen;"
        "assert len(list(pykeen.nar_architectures())) >= 35"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
