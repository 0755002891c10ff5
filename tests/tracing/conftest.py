"""What the recorder does is seen from inside; `tests/promises` has the forked process."""

import pytest


@pytest.fixture(autouse=True)
def _in_this_process(in_this_process):
    pass
