"""What ESM's plugin builds."""

import pytest
from nar_plugin.hooks import esm as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("esm")


@pytest.mark.parametrize(
    ("name", "millions"),  # the names say it
    [("esm2_t6_8M_UR50D", 8), ("esm2_t33_650M_UR50D", 650), ("esm2_t48_15B_UR50D", 15_000)],
)
def test_published_parameter_counts(name: str, millions: int):
    model = resolve(f"esm:{name}")
    counted = sum(item.numel() for item in model.parameters())
    assert counted == pytest.approx(millions * 1e6, rel=0.07)


def test_traces_on_meta():
    assert len(list(plugin.nar_architectures())) == 6
    assert trace(resolve("esm:esm2_t6_8M_UR50D")).method == "meta"
