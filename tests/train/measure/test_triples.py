"""The table of triples and pairs: its names, its balance, and that nothing in it contradicts."""

import re
import tomllib
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import nar_plugin
from nar_plugin.index import EMBEDDED

TABLE = tomllib.loads(
    (Path(nar_plugin.__file__).parent / "train" / "measure" / "unseen" / "triples.toml").read_text()
)
TRIPLES, PAIRS = TABLE["triple"], TABLE["pair"]
HALVES = ("dev", "test")


@pytest.fixture(scope="module")
def fingerprints():
    """The fingerprint of every name in the index that ships with the package."""
    found = {}
    for shard in sorted(EMBEDDED.glob("shards/*.rows.parquet")):
        columns = pq.ParquetFile(shard).read(columns=["names", "fingerprint"]).to_pylist()
        found |= {name: row["fingerprint"] for row in columns for name in row["names"]}
    return found


def test_every_name_is_in_the_index(fingerprints):
    named = [t[key] for t in TRIPLES for key in "abc"] + [p[key] for p in PAIRS for key in "ab"]
    assert [name for name in named if name not in fingerprints] == []


def test_a_triple_is_three_designs_and_a_pair_two(fingerprints):
    for triple in TRIPLES:
        assert len({fingerprints[triple[key]] for key in "abc"}) == 3, triple["id"]
    for pair in PAIRS:
        assert fingerprints[pair["a"]] != fingerprints[pair["b"]], pair


def test_no_triples_contradict_each_other(fingerprints):
    """Likeness is symmetric, so 'nearer' is an order of pairs: it has no cycles."""
    nearer: dict[frozenset[str], set[frozenset[str]]] = {}
    for triple in TRIPLES:
        a, b, c = (fingerprints[triple[key]] for key in "abc")
        nearer.setdefault(frozenset((a, c)), set()).add(frozenset((a, b)))
    assert list(TopologicalSorter(nearer).static_order())  # a cycle raises CycleError


def test_triples_are_enough_and_said_once(fingerprints):
    said = {
        (frozenset((fingerprints[t["a"]], fingerprints[t["b"]])), fingerprints[t["c"]])
        for t in TRIPLES
    }
    assert len(TRIPLES) == len(said) >= 300
    assert len({t["id"] for t in TRIPLES}) == len(TRIPLES)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9.-]*", t["id"]) for t in TRIPLES)


def test_every_triple_has_a_reason_of_its_own():
    reasons = [t["reason"] for t in TRIPLES]
    assert len(set(reasons)) == len(reasons)
    assert all(len(reason.split()) >= 5 and reason.endswith(".") for reason in reasons)


def test_every_area_is_covered_in_both_halves():
    areas = {t["task"] for t in TRIPLES}
    count = Counter((t["task"], t["half"]) for t in TRIPLES)
    assert {t["half"] for t in TRIPLES} == set(HALVES)
    for area in areas:
        dev, test = (count[area, half] for half in HALVES)
        assert dev + test >= 8, area
        assert abs(dev - test) <= 3, area
    dev, test = (sum(t["half"] == half for t in TRIPLES) for half in HALVES)
    assert abs(dev - test) <= len(TRIPLES) * 0.05


def test_no_two_designs_are_asked_in_both_halves(fingerprints):
    """What is called near, in a triple or in a pair, is either tuned on or reported."""
    halves: dict[frozenset[str], set[str]] = {}
    for row in TRIPLES + PAIRS:
        pair = frozenset(fingerprints[row[key]] for key in "ab")
        halves.setdefault(pair, set()).add(row["half"])
    assert [sorted(pair) for pair, half in halves.items() if len(half) > 1] == []


@pytest.mark.parametrize("near", [True, False])
def test_pairs_are_enough_and_balanced(near, fingerprints):
    rows = [p for p in PAIRS if p["near"] is near]
    pairs = {frozenset(fingerprints[p[key]] for key in "ab") for p in rows}
    assert len(rows) == len(pairs) >= 100
    dev, test = (sum(p["half"] == half for p in rows) for half in HALVES)
    assert abs(dev - test) <= len(rows) * 0.1


def test_no_pair_is_near_and_far(fingerprints):
    pairs = [(frozenset(fingerprints[p[key]] for key in "ab"), p["near"]) for p in PAIRS]
    near, far = ({pair for pair, close in pairs if close is wanted} for wanted in (True, False))
    assert near.isdisjoint(far)
