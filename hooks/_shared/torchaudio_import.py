"""Importing torchaudio beside a PyTorch that was built for another CUDA.

PyPI has torchaudio for one CUDA only, and it refuses any other for the sake of its CUDA kernels.
Nothing that is traced on the meta device reaches them.
"""

from __future__ import annotations

from importlib import import_module
from unittest import mock


def import_torchaudio() -> None:
    """Import torchaudio, whatever CUDA it was built for.

    Raises:
        ImportError: It is not installed.
    """
    import torch

    # Without a version it compares nothing; tensors that it makes when imported stay real.
    with mock.patch.object(torch.version, "cuda", None), torch.device("cpu"):
        import_module("torchaudio")
