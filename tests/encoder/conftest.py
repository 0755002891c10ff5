"""Graphs are traced in this process; `tests/promises` has the forked one."""

import pytest


@pytest.fixture(autouse=True)
def _in_this_process(in_this_process):
    pass
