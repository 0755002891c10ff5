"""Runs the tests of `tests/hooks` where their libraries are: `make hooks`.

Each environment of `environments.toml` is made as `nar dev corpus build --isolated` makes it, once.
An environment whose tests passed at this commit is not run again, so an interrupted run goes on.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from uv import find_uv_bin

from nar_plugin.errors import NarError
from nar_plugin.train.corpus.environments import Environment, environments

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = ROOT / "runs" / "corpus" / "environments"
RESULTS = ROOT / "runs" / "hooks"


def main() -> int:
    """Test every environment; returns how many failed."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    commit = _output("git", "-C", str(ROOT), "rev-parse", "HEAD").strip()
    here, _ = _plugins(Path(sys.executable))
    failed = 0
    for environment in environments():
        record = RESULTS / f"{environment.name}.passed"
        if record.is_file() and record.read_text() == commit:
            continue
        try:
            passed, why = _passes(environment, here), f"see {RESULTS / environment.name}.txt"
        except NarError as error:  # it could not be made
            passed, why = False, str(error)
        if passed:
            record.write_text(commit)
        failed += not passed
        sys.stdout.write(f"{environment.name}: {'passed' if passed else f'failed; {why}'}\n")
    return failed


def _passes(environment: Environment, here: set[str]) -> bool:
    """Whether the tests of the plugins pass whose libraries are there and not here."""
    python = environment.make(ENVIRONMENTS)
    install = [find_uv_bin(), "pip", "install", "--quiet", "--python", str(python), "pytest"]
    subprocess.run(install, check=True)
    there, anywhere = _plugins(python)
    words = " or ".join(sorted(there - here | anywhere))
    with (RESULTS / f"{environment.name}.txt").open("w") as log:
        command = [str(python), "-m", "pytest", "tests/hooks", "-k", words]
        return not subprocess.run(command, cwd=ROOT, stdout=log, stderr=log).returncode


def _plugins(python: Path) -> tuple[set[str], set[str]]:
    """The plugins whose library a Python has, and those that name no one library."""
    program = (
        "import json; from dataclasses import asdict; from nar_plugin.manager import list_plugins;"
        "print(json.dumps([asdict(plugin) for plugin in list_plugins()]))"
    )
    found = json.loads(_output(str(python), "-c", program).splitlines()[-1])
    several = {item["name"] for item in found if "nar_library" not in item["hooks"]}
    return {item["name"] for item in found if item["installed"]} - several, several


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
