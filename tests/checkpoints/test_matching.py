"""What a design explains of a file's shapes, worked by hand."""

from collections import Counter

from nar_plugin.checkpoints.account import Need
from nar_plugin.checkpoints.matching import match

QKV, SQUARE = (8, 24), (8, 8)


def matched(have, needs, params):
    wanted = {shape: Need(count, count) for shape, count in needs.items()}
    return match(Counter(have), Counter(), wanted, params, lambda shape: 1.0)


def test_a_file_that_lacks_one_matrix_lacks_that_one_alone():
    # Two layers of packed query, key and value, and three squares: nine squares in the file would
    # be all. Of the eight none is left over.
    found = matched({SQUARE: 8}, {QKV: 2, SQUARE: 3}, 2 * 192 + 3 * 64)
    assert (found.left, found.missing, found.explained) == ({}, {SQUARE: 1}, 8)


def test_a_packed_layer_is_no_layer_of_classes():
    # A head of nine classes differs from the packed layer in one side; there are three of these.
    found = matched({SQUARE: 8, (8, 9): 1}, {QKV: 3}, 3 * 192)
    assert found.resized == ()
    assert found.left[8, 9] == 1


def test_a_head_of_as_many_classes_as_a_table_has_rows():
    # The design has a head of two classes, and a table of two rows that no operation shows: 32
    # numbers, of which the head's are 16. The file has nine classes.
    found = matched({(2, 8): 1, (8, 9): 1, SQUARE: 4}, {(2, 8): 1, SQUARE: 4}, 4 * 64 + 32)
    assert found.resized == (((8, 9), (2, 8)),)
    assert (found.direct, found.left, found.exact) == ({(2, 8): 1}, {}, True)


def test_a_head_is_not_exchanged_where_the_design_hides_no_table():
    found = matched({(2, 8): 1, (8, 9): 1, SQUARE: 4}, {(2, 8): 1, SQUARE: 4}, 4 * 64 + 16)
    assert found.resized == ()
    assert found.left == {(8, 9): 1}


def test_words_that_come_in_and_go_out_by_two_matrices():
    # The design may share its table of 100 words with its output. The file has two, of 9 words.
    needs = {(8, 100): Need(1, 2), SQUARE: Need(4, 4)}
    have = Counter({(8, 9): 2, SQUARE: 4})
    found = match(have, Counter(), needs, 4 * 64 + 2 * 800, lambda shape: 1.0)
    assert (found.resized, found.exact) == ((((8, 9), (8, 100)),), True)
    assert not (found.left or found.missing)
    shared = match(have, Counter({(8, 9): 1}), needs, 4 * 64 + 800, lambda shape: 1.0)
    assert (shared.resized, shared.exact) == (found.resized, True)


def test_vectors_cost_nothing_where_the_design_hides_as_many_numbers():
    # A file that lacks one square of five has three gains that no operation shows.
    have = {(8,): 3, SQUARE: 4}
    found = matched(have, {SQUARE: 5}, 5 * 64 + 3 * 8)
    assert (found.direct, found.left, found.missing) == ({(8,): 3}, {}, {SQUARE: 1})
    other = matched(have, {SQUARE: 5}, 5 * 64 + 8)
    assert other.left == {(8,): 3}
    assert other.score < found.score
