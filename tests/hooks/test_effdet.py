"""What effdet's plugin builds."""

import subprocess
import sys

import pytest

pytest.importorskip("effdet")


def test_is_listed_beside_pytorch_geometric_which_replaces_what_effdet_compiles():
    pytest.importorskip("torch_geometric")
    program = (
        "import torch_geometric.hash_tensor; from nar_plugin.hooks import effdet;"
        "assert len(list(effdet.nar_architectures())) >= 47"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
