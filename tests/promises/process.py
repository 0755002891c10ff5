"""What belongs to this process, to be compared and put back."""

import gc
import os
import random
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
import torch


def seed(number):
    torch.manual_seed(number)
    random.seed(number)
    np.random.seed(number)


def random_numbers():
    return torch.rand(3).tolist(), random.random(), np.random.rand(3).tolist()


def modes():
    """All that a forward may set for the whole process."""
    return {
        "torch": torch.get_rng_state().tolist(),
        "python": random.getstate(),
        "numpy": np.random.get_state()[1].tolist(),
        "dtype": torch.get_default_dtype(),
        "gradients": torch.is_grad_enabled(),
        "filters": list(warnings.filters),
        "showwarning": warnings.showwarning,
        "collector": gc.isenabled(),
        "sparse": torch.sparse.check_sparse_tensor_invariants.is_enabled(),
        "threads": torch.get_num_threads(),
        "environment": dict(os.environ),
    }


@contextmanager
def put_back():
    """Undo what an idiom itself sets when it is run for real."""
    before, environment = modes(), dict(os.environ)
    gc.collect()
    gc.freeze()  # `meta_tensors` need not look at all that the other tests have left
    try:
        with warnings.catch_warnings():
            yield
    finally:
        gc.unfreeze()
        torch.set_default_dtype(before["dtype"])
        torch.set_grad_enabled(before["gradients"])
        os.environ.clear()
        os.environ.update(environment)


def meta_tensors():
    """The tensors without values that this process holds and the collector looks at."""
    return [
        item for item in gc.get_objects() if issubclass(type(item), torch.Tensor) and item.is_meta
    ]


def no_child_is_left():
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    return True
