"""FAISS multiplies rows of 8-bit integers exactly, whatever the processor offers."""

import numpy as np
import pytest

from nar_plugin.index.search.integers import FaissCandidates

faiss = pytest.importorskip("faiss", exc_type=ImportError)


@pytest.fixture(params=["as it comes", "NONE", "AVX2", "AVX512", "ARM_NEON"])
def instructions(request):
    if request.param == "as it comes":
        yield
        return
    config = getattr(faiss, "SIMDConfig", None)
    level = getattr(faiss, f"SIMDLevel_{request.param}", None)
    if config is None or level is None or not config.is_simd_level_available(level):
        pytest.skip(f"this FAISS or processor has no {request.param}")
    before = config.get_level()
    config.set_level(level)
    yield
    config.set_level(before)


@pytest.mark.parametrize("dim", [2, 24, 512])
def test_products_of_integers_are_exact(instructions, dim):
    rng = np.random.default_rng(0)
    rows = rng.integers(-127, 128, (500, dim)).astype(np.float32)
    rows[0], rows[1] = 127, -127  # the largest sums that there are
    query = rows[1]
    found = FaissCandidates(rows).best(query, 500, None)
    true = (rows.astype(int) @ query.astype(int))[found.rows]
    # Steps are one here: the columns' largest number is 127, and so is the query's.
    np.testing.assert_array_equal(found.scores, true)
