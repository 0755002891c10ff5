"""What a wheel of the project holds: every plugin, with its helpers and its tables."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def built(monkeypatch):
    """Modules and data files that a build copies, as setuptools says."""
    setuptools = pytest.importorskip("setuptools", "77")
    monkeypatch.chdir(ROOT)
    distribution = setuptools.Distribution({"script_name": "setup.py"})
    distribution.parse_config_files()
    distribution.set_defaults()
    command = distribution.get_command_obj("build_py")
    command.ensure_finalized()
    modules = {Path(path) for path in command.get_source_files()}
    data = {Path(folder) / name for _, folder, _, names in command.data_files for name in names}
    return modules | data


def test_every_file_of_the_hooks_is_in_the_wheel(built):
    files = {path.relative_to(ROOT) for path in (ROOT / "hooks").rglob("*.*")}
    wanted = {path for path in files if path.suffix in {".py", ".toml"}}
    assert Path("hooks/transformers/checkpoints/llama.toml") in wanted
    assert sorted(wanted - built) == []
