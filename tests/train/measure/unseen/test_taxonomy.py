"""Grades of families, worked by hand from the papers' lineages."""

import tomllib
from importlib.resources import files

import pytest

from nar_plugin.train.measure.unseen import taxonomy
from nar_plugin.train.measure.unseen.taxonomy import grade, lineage


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("resnext", "senet", 3),  # both descend from ResNet
        ("resnet", "resnext", 3),  # the parent itself
        ("resnext", "regnet", 2),  # ResNeXt's grandparent is RegNet's parent
        ("phimoe", "mixtral", 3),
        ("llama", "mixtral", 2),
        ("swin", "vit", 1),  # image transformers of two lineages
        ("bpr", "resnet", 0),  # a recommender for an image network
        ("gcn", "unet", 0),
    ],
)
def test_grades(one, other, expected):
    assert grade(one, other) == grade(other, one) == expected


def test_every_line_is_of_a_known_lineage_and_covers_its_families():
    table = tomllib.loads(files("nar_plugin.train.corpus").joinpath("families.toml").read_text())
    parents = table["parents"]
    for family in (family for children in parents.values() for family in children):
        assert lineage(family).kinds, family
        assert lineage(family).fields, family
    lines = taxonomy.taxonomy_table().splitlines()[1:]
    names = [line.split("\t")[0] for line in lines]
    assert len(set(names)) == len(names)
