from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_its_results(path):
    """Every cell runs in a fresh kernel; no result carries a script."""
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)  # none is committed
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    pages = [
        output.data["text/html"]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if "text/html" in output.get("data", ())
    ]
    assert pages
    assert not any("<script" in page for page in pages)


def test_there_are_notebooks():
    assert {path.stem for path in NOTEBOOKS} == {
        "is_it_new",
        "mystery_weights",
        "search",
        "what_is_it_like",
        "which_class",
    }
