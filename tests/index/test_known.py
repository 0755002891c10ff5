"""Which names an index answers for without a trace."""

import json
from importlib import metadata

import pytest

from nar_plugin.errors import IndexUnavailable
from nar_plugin.index.known import agreeing, known
from nar_plugin.index.store.manifest import Manifest, own_hash
from nar_plugin.tracing.fingerprint import FINGERPRINT_VERSION

HERE = metadata.version("numpy")  # a library that is installed wherever the tests run


@pytest.fixture
def names(row, build):
    """An index of one row with names of two libraries, and the versions that it is told."""

    def make(fingerprint=FINGERPRINT_VERSION, **versions):
        rows = [
            row("numpy:net", ("numpy:net", "elsewhere:net"), library="numpy"),
            row("elsewhere:other", library="elsewhere-models"),
            row("hub:owner/net", library="transformers"),
        ]
        return build(rows, [[1, 0], [0, 1], [1, 1]], fingerprint=fingerprint, versions=versions)

    return make


def test_a_library_of_the_version_that_was_traced(names):
    found = known(names(numpy=HERE), "numpy:net")
    assert (found.row.name, found.library) == ("numpy:net", "numpy")
    assert found.vector.tolist() == [1, 0]


@pytest.mark.parametrize("versions", [{}, {"numpy": "0.0.1"}])
def test_a_library_of_another_version_is_traced(names, versions):
    assert known(names(**versions), "numpy:net") is None


@pytest.mark.parametrize("name", ["elsewhere:net", "elsewhere:other"])
def test_nothing_else_can_answer_for_a_library_that_is_not_installed(names, name):
    assert known(names(), name).library == "elsewhere-models"


def test_a_module_without_a_distribution_is_traced(names, tmp_path, monkeypatch):
    (tmp_path / "elsewhere.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert known(names(), "elsewhere:other") is None


@pytest.mark.parametrize("name", ["numpy:none", "hub:owner/net", "./folder"])
def test_what_may_have_changed_or_is_not_there(names, name):
    assert known(names(numpy=HERE), name) is None


def test_fingerprints_of_another_version(names):
    assert known(names("nar0", numpy=HERE), "numpy:net") is None


def test_a_users_own_models_are_traced(names):
    index = names(numpy=HERE)
    assert known(index.with_overlay(index), "numpy:net") is None


def test_versions_survive_a_save(names, tmp_path):
    names(numpy=HERE).save(tmp_path)
    content = (tmp_path / "manifest.json").read_bytes()
    assert Manifest.from_json(content).versions == {"numpy": HERE}


def test_a_version_on_which_two_indexes_differ_is_not_known():
    assert agreeing({"a": "1", "b": "1"}, {"b": "2", "c": "3"}) == {"a": "1", "c": "3"}


@pytest.mark.parametrize("versions", ["numpy 2", {"numpy": 2}, {"numpy": "\x1b[2J"}])
def test_versions_that_are_no_texts_are_refused(names, versions):
    fields = json.loads(names().manifest.to_json()) | {"versions": versions}
    del fields["sha256"]
    fields["sha256"] = own_hash(fields)
    with pytest.raises(IndexUnavailable, match="versions"):
        Manifest.from_json(json.dumps(fields).encode())
