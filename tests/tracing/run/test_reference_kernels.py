"""A first trace imports no dynamo, and changes no kernel of torch for good."""

import subprocess
import sys

import pytest

FIRST = """
import sys, torch
from torch import nn
import nar_plugin
from nar_plugin import isolation
from nar_plugin.tracing.record import kernels as answers
from nar_plugin.tracing.run import reference_kernels

isolation.stay()  # so that what the forward imports is seen here
model = nn.Sequential(
    nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(1), nn.Linear(288, 4), nn.GELU()
)
image = torch.ones(1, 3, 8, 8)
first = nar_plugin.trace(model, example_inputs=image).fingerprint
assert "torch._dynamo" not in sys.modules, "dynamo"
kernels = reference_kernels._guarded()
assert len(kernels) > 50
assert not any(vars(kernel).get("__dynamo_disable") is kernel for kernel in kernels)
"""
WITH_DYNAMO = """
compiled = torch.compile(model.eval(), backend="eager")
assert torch.equal(compiled(image), model(image))
answers._LAYOUTS.clear()
assert nar_plugin.trace(model, example_inputs=image).fingerprint == first  # now with dynamo
"""


def test_a_first_trace_imports_no_dynamo():
    subprocess.run([sys.executable, "-c", FIRST], check=True)


@pytest.mark.slow
def test_a_trace_with_dynamo_gives_the_same_graph():
    subprocess.run([sys.executable, "-c", FIRST + WITH_DYNAMO], check=True)
