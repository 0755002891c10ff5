"""Which of the names of one graph stands for all."""

from collections import Counter

import numpy as np
import pytest
import torch
from models import ConvNet

pytest.importorskip("tqdm")

from nar_plugin.tracing import trace
from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.fit.default import _row

GRAPH = trace(ConvNet(), torch.empty(1, 3, 32, 32))


def row_of(*names, families=None):
    rows = tuple(
        {"name": name, "family": family, "params": params, "composed": False, "flops": 1}
        | {"library": name.partition(":")[0], "task": "task", "licence": "MIT", "url": None}
        for name, family, params in names
    )
    item = CorpusGraph(GRAPH, "f", "d", "t", np.zeros(1, np.int32), (), rows)
    return _row(item, families or Counter())


def first_of(*names, families=None):
    return row_of(*names, families=families).name


def test_a_row_has_the_facts_of_its_first_name():
    row = row_of(("timm:resnet50", "resnet", 25), ("torchvision:resnet50", "resnet", 25))
    assert (row.year, row.paper) == (2015, "arXiv:1512.03385")
    assert row.build == "timm.create_model('resnet50')"
    assert row.runtimes == ()


def test_the_shortest_name_of_the_commonest_size():
    names = [("timm:resnet50", "resnet", 25), ("timm:resnet50.a1_in1k", "resnet", 25)]
    shared = ("pytorchcv:sharesnet50b", "resnet", 20)
    assert first_of(shared, *names) == "timm:resnet50"


def test_of_sizes_as_common_the_smallest():
    whole, text = ("transformers:idefics", "idefics", 90), ("transformers:llama", "llama", 70)
    assert first_of(whole, text) == "transformers:llama"


def test_no_name_of_a_rare_family():
    names = [("a:vit", "vit", 5), ("b:vit_b", "vit", 5), ("c:x", "clip", 5)]
    assert first_of(*names) == "a:vit"


def test_a_name_that_says_its_family_before_a_shorter_one():
    names = [("litgpt:Platypus2-7B", "llama", 7), ("litgpt:Llama-2-7b-hf", "llama", 7)]
    assert first_of(*names) == "litgpt:Llama-2-7b-hf"


def test_a_well_known_library_before_one_that_builds_on_it():
    names = [("torchgeo:swin_t", "swin", 28), ("torchvision:swin_t", "swin", 28)]
    assert first_of(*names) == "torchvision:swin_t"


def test_the_family_of_most_names_before_a_shorter_name():
    names = [("transformers:glpn", "glpn", 3), ("transformers:segformer", "segformer", 3)]
    assert first_of(*names) == "transformers:glpn"
    families = Counter({"glpn": 4, "segformer": 120})
    assert first_of(*names, families=families) == "transformers:segformer"
