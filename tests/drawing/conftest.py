import numpy as np
import pytest

from nar_plugin.tracing.graph import ArchitectureGraph, Op


def conv(width, stride="1x1"):
    attributes = {"groups": 1, "in": width, "kernel": "3x3", "out": width, "stride": stride}
    return Op("conv", tuple(attributes.items()))


@pytest.fixture
def stack():
    """A graph of residual layers: `stack(12)`; each is three convolutions with norms, and a sum."""

    def make(layers, prefix="layers", name="Layer", width=64):
        ops, edges, paths = [conv(width, "2x2")], [], ["stem"]
        classes = {"stem": "Conv2d"}
        last = 0
        for layer in range(layers):
            start = last
            for number in range(3):
                for kind in (conv(width), Op("batch_norm", (("width", width),)), Op("relu")):
                    ops.append(kind)
                    paths.append(f"{prefix}.{layer}.{kind.kind}{number}")
                    edges.append((last, len(ops) - 1))
                    last = len(ops) - 1
            ops.append(Op("add"))
            paths.append(f"{prefix}.{layer}")
            edges += [(last, len(ops) - 1), (start, len(ops) - 1)]
            last = len(ops) - 1
            classes[f"{prefix}.{layer}"] = name
        array = np.array(sorted(edges, key=lambda edge: edge[::-1]), dtype=np.int32)
        return ArchitectureGraph(tuple(ops), array, tuple(paths), classes, params=7)

    return make
