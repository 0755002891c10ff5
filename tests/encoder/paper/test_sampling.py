"""Motifs as the paper samples them, by hand."""

import numpy as np

from nar_plugin.encoder.paper.cutting import cut
from nar_plugin.encoder.paper.reading import Reading
from nar_plugin.encoder.paper.sampling import sampled_starts
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.corpus.corpus import CorpusGraph

KINDS = {kind: number for number, kind in enumerate("abcdxyz", start=1)}


def graph_of(kinds, shortcut=()):
    edges = [(a, a + 1) for a in range(len(kinds) - 1)] + list(shortcut)
    ops = tuple(Op(kind) for kind in kinds)
    return ArchitectureGraph(ops, np.array(sorted(edges), dtype=np.int32), ("",) * len(ops))


def pieces(kinds, steps, longest):
    """The motifs of a chain, written as its operations."""
    starts = sampled_starts(graph_of(kinds), steps, longest).tolist()
    stops = [*starts[1:], len(kinds)]
    return [kinds[start:stop] for start, stop in zip(starts, stops, strict=True)]


def test_the_longest_repeats_are_motifs_and_the_rest_single_operations():
    # One step sees the neighbours: the first a follows x and the last c precedes y, so that b alone
    # is twice what it is, and no two operations in a row are.
    assert pieces("xabcabcy", steps=1, longest=4) == list("xabcabcy")
    # Four times: a, b and c in the middle stand as their neighbours in the next block do.
    assert pieces("xabcabcabcabcy", 1, 3) == ["x", "a", "bca", "bca", "bca", "b", "c", "y"]


def test_no_motif_is_longer_than_the_bound():
    assert pieces("abababab", 1, 2) == ["a", "ba", "ba", "ba", "b"]
    assert max(map(len, pieces("ab" * 20, 1, 6))) == 6


def test_more_steps_see_further_so_less_repeats():
    # At two steps an operation tells its neighbours' neighbours: the ends differ for two places.
    assert pieces("abababab", 2, 2) == ["a", "b", "ab", "ab", "a", "b"]


def test_what_overlaps_itself_counts_once():
    assert pieces("aaa", 0, 2) == list("aaa")  # "aa" at 0 and at 1 share an operation
    assert pieces("aaaa", 0, 2) == ["aa", "aa"]


def item(graph):
    return CorpusGraph(graph, "f", "", "", np.zeros(1, np.int32), (), ())


def letters(piece):
    return "".join("?abcdxyz"[kind] for kind in piece.kinds)


def test_motifs_hold_their_neighbours_and_meet_in_the_edges_that_they_share():
    reading = Reading(splitting="sequence", longest=2)
    data = cut([item(graph_of("xabababy"))], KINDS, reading, hops=1)
    # The subsequences: x, a, ba, ba, b, y; with a neighbour on each side.
    found = [letters(data.motifs[node]) for node in data.nodes]
    assert found == ["xa", "xab", "abab", "abab", "aby", "by"]
    assert len(data.motifs) == 5  # the two in the middle are one
    assert data.motifs[2].edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    # x-a is in the first two, a-b in the second and third, ...; the first and the third share none.
    assert data.edges.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]
    assert letters(data.contexts[2]) == "xababa"


def test_two_steps_hold_neighbours_of_neighbours():
    reading = Reading(splitting="sequence", steps=2, longest=2)
    data = cut([item(graph_of("abcd"))], KINDS, reading)
    assert [letters(data.motifs[node]) for node in data.nodes] == ["abc", "abcd", "abcd", "bcd"]
    assert data.edges.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
