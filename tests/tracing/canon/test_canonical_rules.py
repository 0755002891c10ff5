"""Every rule of the table has an example: one design in several spellings, and near misses."""

import pytest
import torch
from tracing.canon.examples import (
    of_activations,
    of_adapters,
    of_attention,
    of_bookkeeping,
    of_codebooks,
    of_experts,
    of_extrema,
    of_joining,
    of_layers,
    of_loops,
    of_normalisation,
    of_packing,
    of_products,
    of_tables,
)

from nar_plugin.tracing import trace
from nar_plugin.tracing.canon.rules import RULES

MODULES = (
    of_activations,
    of_adapters,
    of_attention,
    of_bookkeeping,
    of_codebooks,
    of_experts,
    of_extrema,
    of_joining,
    of_layers,
    of_loops,
    of_normalisation,
    of_packing,
    of_products,
    of_tables,
)
EXAMPLES = {name: example for module in MODULES for name, example in module.EXAMPLES.items()}


def more(module):
    return getattr(module, "ALSO_SAME", {})


def fingerprints(example, forwards):
    x = torch.empty(example.shape)
    graphs = [trace(example.model(forward), x) for forward in forwards]
    assert {graph.method for graph in graphs} <= {"meta", "real"}  # no fallback differs for free
    return [graph.fingerprint for graph in graphs]


def operations(example, forwards):
    x = torch.empty(example.shape)
    return [[str(op) for op in trace(example.model(forward), x).ops] for forward in forwards]


@pytest.mark.parametrize("name", EXAMPLES)
def test_one_design_in_several_spellings(name):
    example = EXAMPLES[name]
    assert len(example.same) > 1
    assert len(set(fingerprints(example, example.same))) == 1, operations(example, example.same)


@pytest.mark.parametrize("name", EXAMPLES)
def test_near_misses_are_other_designs(name):
    example = EXAMPLES[name]
    forwards = [example.same[0], *example.different]
    assert len(set(fingerprints(example, forwards))) == len(forwards), operations(example, forwards)


def test_every_rule_has_an_example():
    assert set(EXAMPLES) == set(RULES)


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module in MODULES for name in more(module)]
)
def test_more_spellings(module, name):
    example = EXAMPLES.get(name, next(iter(module.EXAMPLES.values())))
    forwards = more(module)[name]
    assert len(set(fingerprints(example, forwards))) == 1, operations(example, forwards)


# What the second spelling of a rule becomes, in order.
BECOMES = {
    "SiLU and quick GELU by hand": ["linear", "silu"],
    "GELU by hand": ["linear", "gelu"],
    "tanh GELU by hand": ["linear", "gelu"],
    "Mish by hand": ["linear", "mish"],
    "hard swish by hand": ["linear", "hardswish"],
    "hard sigmoid by hand": ["linear", "hardsigmoid"],
    "gated linear unit": ["linear", "sigmoid", "mul"],
    "layer norm by hand": ["linear", "layer_norm"],
    "instance norm by hand": ["conv", "instance_norm"],
    "group norm by hand": ["conv", "group_norm"],
    "global layer norm by hand": ["conv", "group_norm"],
    "RMS norm by hand": ["linear", "rms_norm"],
    "L2 norm": ["linear", "l2_norm"],
    "attention by hand": ["linear", "attention", "linear"],
    "biases of query and value": ["linear", "attention", "linear"],
    "packed projections": ["linear", "attention", "linear"],
    "packed gates": ["linear", "silu", "mul", "linear"],
    "low-rank adapters": ["linear", "relu", "linear"],
    "rotary positions": ["linear", "rotary"],
    "partial rotary positions": ["linear", "rotary"],
    "sums of biases": ["linear", "linear", "linear", "attention", "linear"],
    "frozen batch normalisation": ["conv", "batch_norm"],
    "positions of tokens": ["embedding", "embedding", "add", "layer_norm"],
    "positions of features": ["linear", "add", "layer_norm"],
    "bias by hand": ["linear"],
    "embedding by hand": ["embedding"],
    "global pooling": ["conv", "mean"],
    "recurrent layers": ["lstm"],
    "sigmoid by hand": ["linear", "sigmoid"],
    "one dimension after the other": ["conv", "mean"],
    "sum over how many": ["conv", "mean"],
    "sum of a stack": ["conv", "conv", "conv", "add"],
    "groups one by one": ["conv", "conv"],
    "projected patches": ["conv"],
    "views and copies": ["linear"],
    "arithmetic on weights": ["linear"],
    "linear attention": ["linear", "linear_attention", "linear"],
    "masks that come in": ["linear"],
    "scaled inputs": ["linear"],
    "division by hand": ["linear", "linear", "div"],
    "steps of a loop": [*["linear", "linear", "add", "tanh"] * 2, "cat", "linear"],
}


@pytest.mark.parametrize("name", BECOMES)
def test_what_a_spelling_becomes(name):
    example = EXAMPLES[name]
    graph = trace(example.model(example.same[1]), torch.empty(example.shape))
    assert [op.kind for op in graph.ops] == BECOMES[name]
