"""`nar dev bench motifs` prints a row for each model, or JSON."""

import json

import pytest
import typer
from typer.testing import CliRunner

from nar_plugin.cli.dev.bench_motifs import motifs

pytest.importorskip("timm")


@pytest.fixture
def app():
    command = typer.Typer()
    command.command()(motifs)
    return command


def test_json(app):
    result = CliRunner().invoke(app, ["timm:resnet18", "timm:vgg11", "timm:none_such", "--json"])
    printed = json.loads(result.stdout)
    assert [model["model"] for model in printed["models"]] == ["timm:resnet18"]
    assert printed["undeclared"] == ["timm:vgg11"]
    assert list(printed["failed"]) == ["timm:none_such"]
    assert printed["summary"]["stacks"] == 4


def test_table(app):
    result = CliRunner().invoke(app, ["timm:vit_tiny_patch16_224"])
    assert result.exit_code == 0
    assert "1 of 1" in result.stdout
