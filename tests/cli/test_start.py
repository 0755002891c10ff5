"""What a command imports: nothing heavy for what the index knows; each in its own process."""

import json
import os
import subprocess
import sys

import pytest

from nar_plugin.index import EMBEDDED
from nar_plugin.index.store.manifest import Manifest

HEAVY = {"torch", "timm", "transformers", "torchvision", "faiss", "pandas"}
MAIN = (
    "import sys\n"
    "from nar_plugin.cli import main\n"
    "try:\n"
    "    main()\n"
    "except SystemExit as stopped:\n"
    "    print(*sys.modules, file=sys.stderr)\n"
    "    sys.exit(stopped.code)\n"
)


def run(*words, program=MAIN):
    """What a command printed, and the top modules that it imported."""
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "100", "NAR_STRICT": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, {name.partition(".")[0] for name in done.stderr.split()}


def traced_version(library):
    manifest = Manifest.from_json((EMBEDDED / "manifest.json").read_bytes())
    return manifest.versions[library]


@pytest.fixture
def timm():
    """The name of a model of timm that the index answers for."""
    module = pytest.importorskip("timm")
    if module.__version__ != traced_version("timm"):
        pytest.skip(f"the index was made with another timm than {module.__version__}")
    return "timm:resnet50"


@pytest.mark.parametrize("words", [("index", "info"), ("plugins",), ("dev", "--help"), ("--help",)])
def test_what_asks_about_no_model_imports_no_framework(words):
    printed, imported = run(*words)
    assert printed
    assert not imported & HEAVY


@pytest.mark.parametrize("room", ["index", "report", "cli", "manager", "hub", "references", "api"])
def test_these_rooms_import_no_framework(room):
    program = f"import sys, nar_plugin.{room}; print(*sys.modules, file=sys.stderr)"
    assert not run(program=program)[1] & HEAVY


def test_a_known_name_is_answered_from_the_index(timm):
    printed, imported = run("find", timm, "-k", "3")
    assert "from the index" in printed
    assert "identical" in printed
    assert not imported & HEAVY


def test_two_known_names_are_compared_from_the_index(timm):
    printed, imported = run("compare", timm, "timm:resnet101")
    assert "from the index" in printed
    assert "Bottleneck" in printed
    assert not imported & HEAVY


@pytest.mark.slow
def test_a_fresh_trace_where_it_is_asked_for(timm):
    printed, imported = run("find", timm, "--trace", "-k", "1", "--json")
    assert json.loads(printed)["query"]["method"] == "meta"
    assert {"torch", "timm"} <= imported


def test_a_model_by_hand_costs_no_other_library():
    program = (
        "import sys, torch, nar_plugin\n"
        "layers = [torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Conv2d(8, 8, 3)]\n"
        "print(nar_plugin.find_similar(torch.nn.Sequential(*layers), k=1))\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    printed, imported = run(program=program)
    assert "this Sequential" in printed
    assert not imported & (HEAVY - {"torch"})
