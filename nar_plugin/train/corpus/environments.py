"""Libraries that cannot live beside the newest torch, transformers and timm, each traced apart.

`environments.toml` says what is installed where. An environment gets this package with its extra
`corpus` and the same torch as the process that asks, is made by uv, and is made once.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from packaging.requirements import Requirement

import nar_plugin
from nar_plugin.errors import NarError
from nar_plugin.hookspecs import NamedArchitecture

_SHARED = ("torch", "torchvision", "timm", "transformers", "numpy")


@dataclass(frozen=True)
class Environment:
    """One entry of `environments.toml`.

    Attributes:
        name: Of its folder.
        libraries: Requirements of the distributions whose architectures are traced in it. They
            are installed by themselves, since their pins exclude today's torch.
        packages: What they import, installed with all that it depends on.
        without_dependencies: What else is installed by itself, after all others.
    """

    name: str
    libraries: tuple[str, ...]
    packages: tuple[str, ...] = ()
    without_dependencies: tuple[str, ...] = ()

    @property
    def distributions(self) -> list[str]:
        """The names of the libraries."""
        return [Requirement(library).name for library in self.libraries]

    def make(self, folder: Path) -> Path:
        """Install the environment unless it is there already; returns its Python.

        Raises:
            NarError: uv is missing, or it could not install something.
        """
        place = folder / self.name
        python = place / "bin" / "python"
        wanted = json.dumps(asdict(self))
        ready = place / "installed.json"
        if ready.is_file() and ready.read_text() == wanted:
            return python
        _uv("venv", "--clear", "--python", sys.executable, str(place))
        shared = [f"{name}=={version(name)}" for name in _SHARED]
        install = ("pip", "install", "--python", str(python))
        _uv(*install, *_this_package(), *shared, *self.packages)
        alone = ("--no-deps", "--no-build-isolation-package", "mmcv")  # its setup.py imports torch
        _uv(*install, *alone, *self.libraries, *self.without_dependencies)
        ready.write_text(wanted)
        return python

    def trace(self, folder: Path, before: Path, records: Path, *, workers: int) -> Path:
        """Trace the new and changed names of its libraries, in its own Python.

        Args:
            folder: Holds the environments.
            before: Folder of the corpus as it is.
            records: Receives a JSON line for each name.
            workers: Number of processes.

        Returns:
            The file with what the environment lists, as `read_listing` reads it.

        Raises:
            NarError: The environment could not be made, or its process failed.
        """
        listing = records.with_suffix(".names.json")
        task: dict[str, object] = {
            "libraries": self.distributions,
            "before": str(before),
            "records": str(records),
        }
        task |= {"listing": str(listing), "workers": workers}
        command = [
            str(self.make(folder)),
            "-m",
            "nar_plugin.train.corpus.isolated",
            json.dumps(task),
        ]
        if subprocess.run(command).returncode:
            raise NarError(
                f"The environment {self.name} failed. What it traced is kept: run the command "
                "again, or look at the error above."
            )
        return listing


def environments() -> list[Environment]:
    """Every environment of `environments.toml`."""
    text = (
        files("nar_plugin.train.corpus").joinpath("environments.toml").read_text(encoding="utf-8")
    )
    return [
        Environment(name, **{key: tuple(value) for key, value in entry.items()})
        for name, entry in tomllib.loads(text).items()
    ]


def read_listing(path: Path) -> list[NamedArchitecture]:
    """The names that an environment's libraries list."""
    return [NamedArchitecture(**item) for item in json.loads(path.read_text())]


def _this_package() -> tuple[str, ...]:
    """How to install this very package: from its source tree, or the same version."""
    source = Path(nar_plugin.__file__).parents[1]
    if (source / "pyproject.toml").is_file():
        return ("--editable", f"{source}[corpus]")
    return (f"nar-plugin[corpus]=={version('nar-plugin')}",)


def _uv(*arguments: str) -> None:
    try:
        from uv import find_uv_bin
    except ImportError as error:
        raise NarError(
            "Isolated environments are made by uv: pip install 'nar-plugin[corpus]'"
        ) from error
    done = subprocess.run([find_uv_bin(), *arguments], capture_output=True, text=True)
    if done.returncode:
        raise NarError(f"uv {arguments[0]} failed: {done.stderr.strip()[-2000:]}")
