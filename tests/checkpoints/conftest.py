"""An index of four small designs, traced here."""

import numpy as np
import pytest
from checkpoint_designs import DESIGNS

import nar_plugin
from nar_plugin.index import ArchitectureIndex, ArchitectureRow
from nar_plugin.index.store.graphs import to_table


@pytest.fixture(scope="session")
def index():
    graphs = [nar_plugin.trace(model, example_inputs=given) for model, given in DESIGNS.values()]
    rows = [
        ArchitectureRow(
            name,
            (name,),
            library=name.partition(":")[0],
            family=name.partition(":")[2],
            task="image-classification",
            params=graph.params,
            flops=graph.flops,
            fingerprint=graph.fingerprint,
            design=graph.design,
            licence="MIT",
        )
        for name, graph in zip(DESIGNS, graphs, strict=True)
    ]
    return ArchitectureIndex.from_rows(
        rows,
        np.eye(len(rows), 8, dtype=np.float32),
        "encoder",
        "0" * 64,
        tracer="1",
        fingerprint="1",
        graphs=to_table((graph, np.array([0], dtype=np.int32)) for graph in graphs),
    )
