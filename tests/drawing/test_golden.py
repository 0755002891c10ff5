import runpy
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"


@pytest.fixture(scope="module")
def draw():
    sys.path.insert(0, str(FOLDER))
    try:
        yield runpy.run_path(str(FOLDER / "draw.py"))
    finally:
        sys.path.remove(str(FOLDER))


@pytest.mark.parametrize(
    "name",
    ["hybrid", *(pytest.param(name, marks=pytest.mark.slow) for name in ("unet", "resnet50"))],
)
def test_a_picture_is_drawn_as_it_was_reviewed(draw, name):
    assert draw["picture"](name).svg() == (FOLDER / f"{name}.svg").read_text()


def test_pictures_are_small_and_all_there(draw):
    names = [*draw["ALONE"], *draw["OWN"], *draw["PAIRS"]]
    sizes = [(FOLDER / f"{name}.svg").stat().st_size for name in names]
    assert max(sizes) <= 60_000
    assert sum(sizes) <= 600_000
    assert {path.stem for path in FOLDER.glob("*.svg")} == set(names)
