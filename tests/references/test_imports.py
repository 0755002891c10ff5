import json

import pytest

from nar_plugin.references import imports


@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_the_library_of_a_config_is_imported_before_the_fork(kind, tmp_path, monkeypatch):
    """A child that imports it takes it along when it ends, and its time counts."""
    wanted = []
    monkeypatch.setattr(imports, "want", lambda library, for_what: wanted.append(library))
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    imports.import_before(kind(tmp_path / "config.json"))
    imports.import_before(kind(tmp_path))
    assert wanted == ["transformers"] * 2
