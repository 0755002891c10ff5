"""The Ray engine, on real clusters of this machine."""

import json
import sys
import threading
import time

import pytest

pytest.importorskip("tqdm")
pytest.importorskip("timm")

from nar_plugin.errors import NarError
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.train.corpus.workers import read_records, trace_all


def architectures(*names):
    return [
        NamedArchitecture(f"timm:{name}", "timm", "family", "image-classification", "MIT")
        for name in names
    ]


def test_without_ray(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(NarError, match=r"pip install 'nar-plugin\[ray\]'"):
        trace_all(architectures("resnet10t"), tmp_path / "records", workers=1, engine="ray")


@pytest.mark.slow
def test_a_node_is_killed_in_the_middle_and_nothing_is_lost_or_doubled(tmp_path):
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster
    from timm import list_models

    wanted = architectures(*list_models("test_*"), *list_models("resnet1*"), "no_such_model")
    assert len(wanted) > 15
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    ray.init(address=cluster.address, log_to_driver=False)
    records = tmp_path / "records.jsonl"
    when_killed = []

    def kill_a_node():
        while len(list(read_records(records))) < 3:
            time.sleep(0.2)
        cluster.remove_node(nodes[0], allow_graceful=False)
        when_killed.append(len(list(read_records(records))))

    killer = threading.Thread(target=kill_a_node, daemon=True)
    killer.start()
    try:
        trace_all(wanted, records, workers=1, engine="ray")
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert when_killed
    assert 3 <= when_killed[0] < len(wanted) - 3  # in the middle
    names = [record["name"] for record in read_records(records)]
    assert sorted(names) == sorted(item.name for item in wanted)

    # The same as from processes, apart from the seconds.
    by_processes = tmp_path / "processes.jsonl"
    trace_all(wanted, by_processes, workers=1)
    assert _told(records) == _told(by_processes)


def _told(records):
    said = {}
    for record in read_records(records):
        record.pop("seconds")
        record.pop("graph", None)  # kept once for each fingerprint, whoever came first
        said[record["name"]] = json.dumps(record, sort_keys=True)
    return said
