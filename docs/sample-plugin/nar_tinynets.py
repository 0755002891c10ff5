"""Teaches nar-plugin the models of tinynets: docs/plugins.md goes through it."""

from functools import partial

import torch

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

WIDTHS = {"small": 16, "large": 32}


def entries():
    from tinynets import TinyNet

    return {
        name: Entry(partial(TinyNet, width), family="tinynet", task="time-series-classification")
        for name, width in WIDTHS.items()
    }


def inputs(model):
    return [ExampleInputs((torch.empty(1, 64, 100, device="meta"),))]


catalogue = Catalogue("tinynets", "tinynets", "MIT", "https://tinynets.example", entries, inputs)
nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = catalogue.hooks()
