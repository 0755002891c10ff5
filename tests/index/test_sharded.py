"""Sharded search on Ray: equal to one index, also while a node is lost."""

import sys
import threading
import time

import numpy as np
import pytest

from nar_plugin.errors import NarError
from nar_plugin.index.search.backends import open_on_cpu
from nar_plugin.index.search.nearest import nearest
from nar_plugin.index.search.sharded import Shard, ShardedSearch, merged


def unit_rows(seed, count, dim=32):
    rows = np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float32)
    rows[count // 2 :] = rows[: count - count // 2]  # each stands twice, in different shards
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def files(rows, count, folder):
    paths = [folder / f"{number}.npy" for number in range(count)]
    for path, part in zip(paths, np.array_split(rows.astype(np.float16), count), strict=True):
        np.save(path, part)
    return paths


def test_without_ray(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(NarError, match=r"pip install 'nar-plugin\[ray\]'"):
        ShardedSearch([tmp_path / "a.npy"])


def test_merged_by_hand():
    one = np.array([0.9, 0.5]), np.array([3, 1])
    other = np.array([0.9, 0.7]), np.array([2, 8])
    scores, rows = merged([one, other], 3)
    assert (scores.tolist(), rows.tolist()) == ([0.9, 0.9, 0.7], [2, 3, 8])  # ties in row order


def test_shards_together_answer_as_one_index(tmp_path):
    rows = unit_rows(1, 1000).astype(np.float16)
    parts, first = [], 0
    for path in files(rows, 3, tmp_path):
        parts.append(Shard(path, first))
        first += parts[-1].ready()
    one = open_on_cpu(rows)
    for query in unit_rows(2, 8):
        for k in (1, 10, 400):  # more than a shard has
            found = merged([part.nearest(query[None], k)[0] for part in parts], k)
            for mine, true in zip(found, nearest(one, rows, query, k), strict=True):
                np.testing.assert_array_equal(mine, true)


def test_a_file_that_holds_objects_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(ValueError, match="Python objects"):
        Shard(tmp_path / "a.npy", 0)


@pytest.mark.slow
def test_a_node_lost_in_the_middle_costs_no_answer(tmp_path):
    pytest.importorskip("ray")
    from nar_plugin.bench.sharded import local_cluster, same

    rows = unit_rows(3, 4000)
    paths, asked = files(rows, 2, tmp_path), unit_rows(4, 60)
    one = open_on_cpu(rows.astype(np.float16))
    expected = [nearest(one, rows.astype(np.float16), query, 10) for query in asked]
    with local_cluster(2, 2) as kill_a_node, ShardedSearch(paths, replicas=2) as search:
        assert all(map(same, search.nearest_of_each(asked, 10), expected))
        killer = threading.Thread(target=kill_a_node)
        found = [search.nearest(query, 10) for query in asked[:10]]
        killer.start()  # and on, while the node dies
        asked_on = 10
        while killer.is_alive() or asked_on < len(asked):
            at = asked_on % len(asked)
            assert same(search.nearest(asked[at], 10), expected[at])
            asked_on += 1
            time.sleep(0.01)
        killer.join()
        assert all(map(same, found, expected[:10]))
        assert all(map(same, search.nearest_of_each(asked, 10), expected))
