"""Cutting, the macro graph and the contexts, by hand."""

import numpy as np
import pytest

pytest.importorskip("tqdm")

from nar_plugin.encoder.paper.cutting import cut
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.paper.ablations import Recipe

KINDS = {kind: number for number, kind in enumerate("abcde", start=1)}


def chain(kinds, starts, *, width=8, shortcut=()):
    ops = tuple(Op(kind, (("out", width),)) for kind in kinds)
    edges = [(a, a + 1) for a in range(len(ops) - 1)] + list(shortcut)
    graph = ArchitectureGraph(ops, np.array(sorted(edges), dtype=np.int32), ("",) * len(ops))
    return CorpusGraph(graph, kinds, "", "", np.array(starts, dtype=np.int32), (), ())


def letters(piece):
    return "".join("?abcde"[kind] for kind in piece.kinds)


def test_motifs_are_the_corpus_own_and_blind_to_widths():
    items = [chain("ababc", [0, 2, 4]), chain("abc", [0, 2], width=64)]
    data = cut(items, KINDS, Recipe())
    assert [letters(motif) for motif in data.motifs] == ["ab", "c"]
    assert data.motifs[0].edges.tolist() == [[0, 1]]
    assert data.nodes.tolist() == [0, 0, 1, 0, 1]
    assert data.edges.tolist() == [[0, 1], [1, 2], [3, 4]]
    assert data.sizes.tolist() == [3, 2]


def test_two_motifs_meet_once_however_many_edges_lead_over():
    item = chain("abcd", [0, 2], shortcut=[(0, 2), (0, 3)])
    data = cut([item], KINDS, Recipe())
    assert data.edges.tolist() == [[0, 1]]


def test_the_context_graph_of_figure_3():
    item = chain("abcde", [0, 1, 3])  # a | bc | de
    data = cut([item], KINDS, Recipe(), hops=1)
    assert [letters(context) for context in data.contexts] == ["ab", "abcd", "cde"]
    assert data.contexts[1].edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    wider = cut([item], KINDS, Recipe(), hops=2)
    assert [letters(context) for context in wider.contexts] == ["abc", "abcde", "bcde"]


def test_a_context_has_the_edges_among_neighbours():
    # b is the motif; a and c are its neighbours and neighbours of one another.
    item = chain("abc", [0, 1, 2], shortcut=[(0, 2)])
    data = cut([item], KINDS, Recipe(), hops=1)
    assert sorted(data.contexts[1].edges.tolist()) == [[0, 1], [0, 2], [1, 2]]


@pytest.mark.parametrize(
    ("steps", "shortcut", "apart"),
    [
        (1, [], {(0, 2), (0, 3), (0, 4), (1, 3), (1, 4), (2, 4)}),
        (2, [], {(0, 4)}),  # 0 with its neighbours has the edges 01 and 12, and 4 has 23 and 34
        (1, [(0, 2), (0, 3), (0, 4)], {(1, 4)}),  # 01, 12 and 02; 03, 04 and 34
    ],
)
def test_sampled_motifs_meet_where_they_share_an_edge(steps, shortcut, apart):
    item = chain("abcde", [0], shortcut=shortcut)  # nothing repeats: five motifs
    data = cut([item], KINDS, Recipe(splitting="sequence", steps=steps, longest=20))
    every = {(a, b) for a in range(5) for b in range(a + 1, 5)}
    assert set(map(tuple, data.edges.tolist())) == every - apart


def test_the_cuts_of_table_2():
    item = chain("abcdeabcdeab", [0, 6])  # 12 operations
    sizes = {
        "nodes": cut([item], KINDS, Recipe(splitting="nodes", piece=5)),
        "count": cut([item], KINDS, Recipe(splitting="count", pieces=3)),
    }
    lengths = {
        name: [len(data.motifs[node].kinds) for node in data.nodes] for name, data in sizes.items()
    }
    assert lengths == {"nodes": [5, 5, 2], "count": [4, 4, 4]}
    short = cut([chain("ab", [0])], KINDS, Recipe(splitting="count", pieces=3))
    assert short.sizes.tolist() == [2]


def test_a_graph_is_always_cut_at_the_same_random_places():
    items = [chain("abcde" * 20, [0]), chain("edcba" * 20, [0])]
    recipe = Recipe(splitting="random")
    both = cut(items, KINDS, recipe, seed=3)
    alone = cut(items[1:], KINDS, recipe, seed=3)
    pieces = [letters(both.motifs[node]) for node in both.nodes[both.sizes[0] :]]
    assert pieces == [letters(alone.motifs[node]) for node in alone.nodes]
    assert "".join(pieces) == "edcba" * 20
    assert all(5 <= len(piece) <= 10 for piece in pieces[:-1])
    other = cut(items[1:], KINDS, recipe, seed=4)
    assert pieces != [letters(other.motifs[node]) for node in other.nodes]


def test_an_unknown_kind_is_zero():
    data = cut([chain("ab", [0])], {"a": 1}, Recipe())
    assert data.motifs[0].kinds.tolist() == [1, 0]
