"""The ENAS data, read once."""

from pathlib import Path

import pytest

DATA = Path(__file__).parents[4] / "shared" / "data"


@pytest.fixture(scope="session")
def data_folder():
    """The folder of the tables; skips where there is none."""
    if not DATA.is_dir():
        pytest.skip("needs ../shared/data")
    return DATA


@pytest.fixture(scope="session")
def enas_data(data_folder):
    """All networks of ENAS."""
    pytest.importorskip("tqdm")
    from nar_plugin.train.vae.spaces import enas

    return enas.read(data_folder)
