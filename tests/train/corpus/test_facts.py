"""Facts about names: what a plugin says, and the tables with their sources."""

import re

import pytest

from nar_plugin.train.corpus import facts
from nar_plugin.train.corpus.corpus import read_names, write_corpus
from nar_plugin.train.corpus.facts import facts_of, line_of, papers, runtimes

RUNTIMES = {"vLLM", "llama.cpp", "MLX", "TGI"}


def row(**fields):
    known = {"name": "timm:resnet50", "library": "timm", "family": "resnet"}
    return known | {"task": "image-classification"} | fields


def test_a_family_has_its_paper():
    found = facts_of(row())
    assert found["paper"] == "arXiv:1512.03385"
    assert found["title"] == "Deep Residual Learning for Image Recognition"
    assert found["year"] == 2015
    assert found["build"] == "timm.create_model('resnet50')"
    assert found["weights_license"] is None
    assert found["runtimes"] is None


def test_what_a_plugin_says_stands():
    said = {"year": 2014, "paper": "doi:1", "title": "Mine", "build": "mine()"}
    found = facts_of(row(weights_license="mit", **said))
    assert {key: found[key] for key in said} == said
    assert found["weights_license"] == "mit"


def test_nothing_is_made_up_for_a_family_that_no_table_has():
    found = facts_of(row(family="nobody_s", library="nobody", name="nobody:net"))
    assert set(found.values()) == {None}
    assert set(found) == set(facts.COLUMNS)


def test_runtimes_are_those_of_language_models():
    mistral = row(family="mistral", library="transformers", name="transformers:mistral")
    assert facts_of(mistral | {"task": "text-generation"})["runtimes"] == [
        "MLX",
        "TGI",
        "llama.cpp",
        "vLLM",
    ]
    assert facts_of(mistral | {"task": "text-classification"})["runtimes"] is None


@pytest.mark.parametrize(
    ("family", "paper"),
    [
        ("bert", "arXiv:1810.04805"),
        ("vgg", "arXiv:1409.1556"),
        ("vit", "arXiv:2010.11929"),
        ("mamba", "arXiv:2312.00752"),
        ("unet", "arXiv:1505.04597"),
        ("dit", "arXiv:2212.09748"),  # of diffusers, not transformers' document image transformer
    ],
)
def test_well_known_papers(family, paper):
    assert papers()[family]["paper"] == paper


def test_every_row_of_the_tables_is_whole():
    rows = facts._rows("papers.tsv")
    assert len({item["family"] for item in rows}) == len(rows) > 500
    for item in rows:
        arxiv = re.fullmatch(r"arXiv:(\d{2})(\d{2})\.\d{4,5}", item["paper"])
        assert arxiv or item["paper"].startswith("doi:"), item
        assert not arxiv or int(item["year"]) == 2000 + int(arxiv[1]), item
        assert item["title"] and item["source"], item
        assert item["source"] == "recalled" or ": " in item["source"], item
    for item in facts._rows("runtimes.tsv"):
        assert item["runtime"] in RUNTIMES and item["source"], item


def test_families_are_those_of_the_corpus():
    from pathlib import Path

    import nar_plugin

    folder = Path(nar_plugin.__file__).parent / "data" / "corpus"
    if not (folder / "names.parquet").is_file():
        pytest.skip("the corpus is not part of the wheel")
    known = {name["family"] for name in read_names(folder)}
    assert set(papers()) <= known
    assert set(runtimes()) <= known


def test_a_library_with_one_function_has_a_line_for_each_name():
    torchvision = pytest.importorskip("torchvision")
    line = line_of("torchvision", "torchvision:resnet18")
    assert line == "torchvision.models.get_model('resnet18')"
    assert type(eval(line, {"torchvision": torchvision})).__name__ == "ResNet"
    assert line_of("mmdet", "mmdet:detr_r50_8xb2-150e_coco") is None


def test_a_corpus_keeps_the_facts_of_its_names(tmp_path):
    name = row(year=2015, paper="arXiv:1512.03385", build="timm.create_model('resnet50')")
    write_corpus(tmp_path, [name], [])
    (read,) = read_names(tmp_path)
    assert {key: read[key] for key in ("year", "paper", "build", "title")} == {
        "year": 2015,
        "paper": "arXiv:1512.03385",
        "build": "timm.create_model('resnet50')",
        "title": None,
    }
