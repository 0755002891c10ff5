"""What the splits promise, on a corpus of counted families."""

import numpy as np
import pytest

pytest.importorskip("tqdm")

from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.corpus.splits import families, near_duplicates, split_corpus

GRAPH = ArchitectureGraph((Op("relu"),), np.zeros((0, 2), np.int32), ("",))


def item(number, family, *, names=1, composed=False, design=None):
    rows = tuple(
        {"name": f"lib:{number}.{alias}", "family": family, "params": 1, "composed": composed}
        for alias in range(names)
    )
    return CorpusGraph(
        GRAPH, f"f{number}", design or f"d{number}", "t", np.zeros(1, np.int32), (), rows
    )


@pytest.fixture(scope="module")
def items():
    # Twelve families of 30 graphs, twenty of 3, ten of one, and 40 composed graphs of the first.
    sizes = [30] * 12 + [3] * 20 + [1] * 10
    families = [f"family{number}" for number, size in enumerate(sizes) for _ in range(size)]
    found = [item(number, family, names=1 + number % 3) for number, family in enumerate(families)]
    return [*found, *(item(1000 + number, "family0", composed=True) for number in range(40))]


@pytest.mark.parametrize("name", ["paper", "unique", "unseen"])
@pytest.mark.parametrize("validation", [False, True])
def test_queries_are_not_trained_on_and_all_else_is(items, name, validation):
    split = split_corpus(items, name, 0, validation=validation)
    assert not set(split.queries) & set(split.train)
    assert set(split.queries) <= set(split.candidates)
    left_out = set(split.candidates) - set(split.train)
    families = {split.labels[entry] for entry in split.queries}
    if name == "unseen":
        assert left_out == {row for row in split.candidates if split.labels[row] in families}
    else:
        assert left_out == set(split.queries)
    again = split_corpus(items, name, 0, validation=validation)
    np.testing.assert_array_equal(split.queries, again.queries)
    other = split_corpus(items, name, 1, validation=validation)
    assert split.queries.tolist() != other.queries.tolist()


@pytest.mark.parametrize("name", ["paper", "unique", "unseen"])
def test_validation_lies_inside_the_training_side(items, name):
    test = split_corpus(items, name, 0)
    validation = split_corpus(items, name, 0, validation=True)
    np.testing.assert_array_equal(validation.candidates, test.train)
    assert not set(validation.candidates) & set(test.queries)


def test_a_tenth_of_each_large_family_asks(items):
    split = split_corpus(items, "unique", 0)
    asked = np.bincount(split.labels[split.queries], minlength=42)
    for family in range(12):
        label = split.labels[30 * family]
        assert asked[label] == 3
    assert len(split.queries) == 42  # of 12 * 30 + 20 * 3 graphs that may ask


def test_single_and_composed_graphs_never_ask(items):
    for name in ("paper", "unique", "unseen"):
        split = split_corpus(items, name, 3)
        asking = [items[graph] for graph in split.graphs[split.queries]]
        assert not any(item.is_composed for item in asking)
        sizes = np.bincount(split.labels[split.candidates])
        assert (sizes[split.labels[split.queries]] > 1).all()


def test_names_of_one_graph_may_lie_on_both_sides_of_the_papers_split_alone(items):
    split = split_corpus(items, "paper", 0)
    assert len(split.graphs) == sum(len(item.names) for item in items)
    assert set(split.graphs[split.queries]) & set(split.graphs[split.train])
    split = split_corpus(items, "unique", 0)
    assert not set(split.graphs[split.queries]) & set(split.graphs[split.train])


def test_a_quarter_of_the_large_families_is_unseen(items):
    split = split_corpus(items, "unseen", 0)
    assert len(set(split.labels[split.queries])) == 3  # of 12 with at least 5 graphs
    assert len(split.queries) == 90  # the composed ones of a family do not ask
    validation = split_corpus(items, "unseen", 0, validation=True)
    assert len(set(validation.labels[validation.queries])) == 2  # of the 9 that are left


def test_near_duplicates_are_counted():
    items = [item(number, "a", design=f"d{number // 4}") for number in range(20)]
    split = split_corpus(items, "unique", 0)
    assert len(split.queries) == near_duplicates(items, split) == 2


def test_a_design_is_of_the_family_that_others_descend_from():
    # RoBERTa and ERNIE descend from BERT, LLaMA and Mistral from neither of each other.
    named = [("roberta", "d0", 9), ("bert", "d0", 1), ("ernie", "d0", 2), ("roberta", "d1", 1)]
    named += [("mistral", "d2", 3), ("llama", "d2", 1), ("llama", "d3", 5)]
    found = [
        item(number, family, names=names, design=design)
        for number, (family, design, names) in enumerate(named)
    ]
    assert families(found) == ["bert"] * 3 + ["roberta"] + ["llama"] * 3
    assert families(found[::-1]) == families(found)[::-1]


def test_a_family_that_stands_between_two_need_not_be_there():
    # I-BERT descends from RoBERTa, and so from BERT.
    found = [item(0, "ibert", names=3, design="d"), item(1, "bert", design="d")]
    assert families(found) == ["bert", "bert"]


def test_no_design_of_an_unseen_family_is_trained_on_under_another_name(items):
    shared = [item(2000 + number, "other", design=f"d{number}") for number in range(0, 360, 3)]
    every = [*items, *shared]
    for seed in range(3):
        assert near_duplicates(every, split_corpus(every, "unseen", seed)) == 0
