"""The data card, and the corpus as other people's tools read it."""

import shutil
from pathlib import Path

import pytest

import nar_plugin

pytest.importorskip("tqdm")
pytest.importorskip("matplotlib")

from nar_plugin.train.corpus.card import write_card
from nar_plugin.train.corpus.corpus import read_names

CORPUS = Path(nar_plugin.__file__).parent / "data" / "corpus"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    if not (CORPUS / "names.parquet").is_file():
        pytest.skip("the corpus is not part of the wheel")
    folder = tmp_path_factory.mktemp("corpus")
    for name in ("names", "graphs", "ops"):
        shutil.copy(CORPUS / f"{name}.parquet", folder)
    write_card(folder)
    return folder


def test_the_card_counts_what_is_there(folder):
    page = (folder / "README.md").read_text()
    rows = read_names(folder)
    traced = [row for row in rows if row["fingerprint"]]
    assert f"{len(traced):,} names" in page
    resnets = [row for row in traced if row["family"] == "resnet"]
    graphs = {row["fingerprint"] for row in resnets}
    assert f"| resnet | {len(resnets):,} | {len(graphs):,} |" in page
    assert (folder / "card.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert page == (CORPUS / "README.md").read_text()  # the committed card is up to date


@pytest.mark.slow
def test_the_folder_loads_as_a_dataset(folder, tmp_path):
    datasets = pytest.importorskip("datasets")
    for config in ("names", "graphs", "ops"):
        found = datasets.load_dataset(str(folder), config, cache_dir=str(tmp_path))["train"]
        assert len(found) > 1000
    assert {"ops", "steps", "reaches", "starts", "paths"} <= set(
        datasets.load_dataset(str(folder), "graphs", cache_dir=str(tmp_path))["train"].features
    )
