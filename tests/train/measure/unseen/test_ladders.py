"""Origins and ladders: made from one seed, kept on disk, measured by hand-worked answers."""

import json

import numpy as np
import pytest

from nar_plugin.mining import mine
from nar_plugin.tracing.fingerprint import design, topology
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.fit.edits import HELD_OUT, TRAINED
from nar_plugin.train.fit.written_operations import layer_norm, linear
from nar_plugin.train.measure.unseen import ladder_files
from nar_plugin.train.measure.unseen.ladders import Edited, edits_quality, make, origins, trained_on
from nar_plugin.train.measure.unseen.scoring import asked
from nar_plugin.train.measure.unseen.sides import validates


def perceptrons(width, blocks=6):
    """Residual perceptrons behind an embedding, and a head."""
    ops, edges = [Op("embedding", (("vocabulary", 100), ("width", width)))], []
    for _ in range(blocks):
        start = len(ops) - 1
        inside = [layer_norm(width), linear(width, 4 * width), Op("relu"), linear(4 * width, width)]
        edges += [(start + step, start + step + 1) for step in range(5)] + [(start, start + 5)]
        ops += [*inside, Op("add")]
    edges.append((len(ops) - 1, len(ops)))
    ops.append(linear(width, 10))
    return ArchitectureGraph(tuple(ops), np.array(edges, np.int32), ("",) * len(ops))


def item(graph, family, name):
    macro = mine(graph)
    row = {"name": name, "family": family, "composed": False, "params": 1, "library": "lib"}
    return CorpusGraph(
        *(macro.graph, graph.fingerprint, design(graph), topology(graph)),
        *(macro.spans[:, 0].astype(np.int32), macro.table(), (row,)),
    )


@pytest.fixture(scope="module")
def items():
    return [item(perceptrons(8 * n), f"family {n}", f"lib:{n}") for n in range(2, 12)]


def test_a_side_has_designs_of_its_own_families(items):
    sides = [set(origins(items, 0, validation=side).tolist()) for side in (False, True)]
    assert not sides[0] & sides[1]
    assert len(sides[0] | sides[1]) == len(items)
    assert all(validates(f"family {number + 2}") for number in sides[1])


def test_edited_graphs_are_the_same_from_one_seed_and_from_disk(items, tmp_path):
    once, again = make(items, 3), make(items, 3)
    assert [each.item.fingerprint for each in once] == [each.item.fingerprint for each in again]
    ladder_files.write(once, tmp_path / "made")
    read = ladder_files.read(tmp_path / "made")
    for kept, each in zip(read, once, strict=True):
        assert (kept.origin, kept.kinds, kept.ladder) == (each.origin, each.kinds, each.ladder)
        assert kept.item.graph.fingerprint == each.item.fingerprint
        assert kept.item.starts.tolist() == each.item.starts.tolist()
    singles = [each for each in once if not each.ladder]
    assert {len(each.kinds) for each in singles} == {1}
    assert all(len(set(each.kinds)) == len(each.kinds) for each in once)
    held = set(trained_on(items, once).tolist())
    assert not held & {each.origin for each in once}


def test_some_kinds_are_held_out():
    assert not set(TRAINED) & set(HELD_OUT)
    assert len(TRAINED) + len(HELD_OUT) >= 12
    assert len(HELD_OUT) / (len(TRAINED) + len(HELD_OUT)) == pytest.approx(1 / 3, abs=0.05)


class Told:
    """Compares by a table of likenesses to each graph of the corpus."""

    parameters = 0

    def __init__(self, numbers, table):
        self.numbers, self.table = numbers, table

    def rank(self, queries, candidates):
        return np.array([self.table[self.numbers[id(query)]] for query in queries])

    def likeness(self, firsts, seconds):
        places = (
            [self.numbers[id(one)] for one in firsts],
            [self.numbers[id(two)] for two in seconds],
        )
        return np.array([self.table[a][b] for a, b in zip(*places, strict=True)])


def test_quality_of_told_answers(items):
    corpus = items[:3]
    graph = corpus[0].graph
    kinds = [("norm",), ("gated residual",), ("norm",), ("norm", "gate")]
    made = [
        Edited(item(graph, "a", json.dumps(number)), 0, names, number >= 2)
        for number, names in enumerate(kinds)
    ]
    table = [
        *([1.0, 0.2, 0.1], [0.2, 1.0, 0.1], [0.1, 0.1, 1.0]),
        [0.9, 0.3, 0.1],  # norm: found
        [0.2, 0.3, 0.1],  # gated residual: another one comes first
        [0.8, 0.3, 0.1],  # on the ladder, lower than the origin itself
        [0.85, 0.3, 0.1],  # and after two edits higher than after one
    ]
    every = [*corpus, *(each.item for each in made)]
    method = Told({id(each): number for number, each in enumerate(every)}, table)
    found = edits_quality(asked(method, every), corpus, made)
    assert (found.first, found.held_out) == (0.5, 0)
    assert found.by_kind == {"norm": 1.0, "gated residual": 0.0}
    assert (found.by_rung["1"], found.by_rung["2"], found.asked["8"]) == (1, 1, 0)
    assert found.falling == 0.5
    assert found.falling_by_rung["1"] == 1
    assert found.likeness["2"] == pytest.approx(0.85)
