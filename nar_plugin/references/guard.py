"""A second wall around the construction of a model that is described by data.

`config_values.py` takes out of a config what loads, fetches or executes. This wall stands behind
it, for what a library does with a value that nobody thought of. Inside the block, Python refuses to
open files for writing, to read files that no installed package brings, to reach the network, to
start a process, to unpickle an object, to load a shared library of unknown origin, and to ask a
question on the terminal. Only the thread that is in the block is watched, and no thread of its own.

Python tells an audit hook what it is about to do (PEP 578). What compiled code does by itself is
not told: torch opens its zip files, and safetensors its own, out of Python's sight.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
from collections.abc import Iterator
from functools import cache
from importlib.machinery import all_suffixes
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from nar_plugin.errors import NarError

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_SOURCE = tuple(all_suffixes())  # .py, .pyc and the endings of extension modules
_METADATA = (".dist-info", ".egg-info")  # what an editable install says of itself
# Where a system keeps what programs ask about it: locales, fonts, time zones, the processor.
_SYSTEM = ("/proc", "/sys", "/usr/share", "/usr/lib", "/usr/lib64", "/lib", "/lib64")
_SYSTEM_FILES = frozenset(("/dev/null", "/dev/random", "/dev/urandom", "/etc/localtime"))
# Deletions are not here: the garbage collector may run a finalizer of the user's in this thread.
_DEEDS = {
    "builtins.input": "ask a question on the terminal",
    "ctypes.dlopen": "load the library",
    "os.exec": "run the program",
    "os.fork": "start a process",
    "os.forkpty": "start a process",
    "os.link": "write the file",
    "os.mkdir": "make the folder",
    "os.posix_spawn": "run the program",
    "os.rename": "write the file",
    "os.spawn": "run the program",
    "os.symlink": "write the file",
    "os.system": "run the program",
    "os.truncate": "write the file",
    "pickle.find_class": "unpickle",
    "pty.spawn": "run the program",
    "socket.bind": "open a port",
    "socket.connect": "connect to",
    "socket.getaddrinfo": "connect to",
    "socket.gethostbyaddr": "connect to",
    "socket.gethostbyname": "connect to",
    "socket.sendmsg": "send to",
    "socket.sendto": "send to",
    "sqlite3.connect": "open the database",
    "subprocess.Popen": "run the program",
}
_IMPORT = ("_find_and_load", "<frozen importlib._bootstrap>")  # what an import statement calls
_OF_THREAD = threading.local()


class Refused(NarError, PermissionError):
    """A model's description wanted more than to be read.

    It is a PermissionError too: a library that can do without the file or the network goes on.
    """


class DataOnly:
    """Refuses, inside the block, what building a model from its description never needs.

    Example:
        ```python
        with DataOnly("./folder/config.json"):
            model = AutoModel.from_config(config)
        ```

    Args:
        what: What describes the model, for the error's text.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._outside: DataOnly | None = None
        self._outermost: FrameType | None = None
        self._temporary: list[str] = []  # files and folders of tempfile's, made inside the block

    def __enter__(self) -> None:
        """Begin to watch this thread."""
        _install()
        self._outermost = sys._getframe(1)
        self._importable = tuple(os.path.abspath(entry) for entry in sys.path)  # noqa: PTH100
        self._outside = getattr(_OF_THREAD, "wall", None)
        _OF_THREAD.wall = self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Stop watching; an error that hides a refusal in the library's words is replaced."""
        _OF_THREAD.wall = self._outside
        self._outermost = None
        if error is not None and not isinstance(error, Refused):
            for cause in _causes(error):
                if isinstance(cause, Refused):
                    raise cause from None

    def watch(self, event: str, args: tuple[Any, ...]) -> None:
        """Raise Refused where the event is none of what a description may cause."""
        if event == "open":
            self._open(*args)
        elif event in ("tempfile.mkdtemp", "tempfile.mkstemp"):
            self._temporary.append(os.path.abspath(args[0]))  # noqa: PTH100
        elif event in _DEEDS and not self._is_harmless(event, args):
            raise self._refusal(_DEEDS[event], _named(event, args))

    def _open(self, path: Any, mode: Any, flags: Any) -> None:
        if not isinstance(path, str | bytes | os.PathLike):
            return  # a file that is open already
        name = os.path.abspath(os.fsdecode(path))  # noqa: PTH100
        # A folder cannot be written to by opening it; tempfile opens the one that its files go to.
        if name in _SYSTEM_FILES or self._is_own(name) or Path(name).is_dir():
            return
        if isinstance(flags, int) and flags & _WRITING:
            if not self._imports():
                raise self._refusal("write the file", name)
        elif not (self._may_read(name) or (self._imports() and not name.endswith(_SOURCE))):
            raise self._refusal("read the file", name)

    def _is_harmless(self, event: str, args: tuple[Any, ...]) -> bool:
        if event == "ctypes.dlopen":
            name = os.fsdecode(args[0] or "")
            if os.sep not in name or self._may_read(name):
                return True
        elif event in ("os.mkdir", "os.rename", "os.symlink", "os.link", "os.truncate"):
            paths = [os.fsdecode(item) for item in args if isinstance(item, str | bytes)]
            if all(map(self._is_own, paths)):
                return True
        return self._imports()

    def _is_own(self, name: str) -> bool:
        return name in self._temporary or _is_below(name, self._temporary)

    def _may_read(self, name: str) -> bool:
        """Whether an installed package, or the system, brings the file."""
        true_name = os.path.realpath(name)
        if _is_below(true_name, _SYSTEM):
            return True
        if _is_below(name, _installed()) or _is_below(true_name, _installed()):
            return True
        folder = os.path.dirname(name)  # noqa: PTH120
        if name.endswith(_SOURCE) and _is_below(name, self._importable):
            return True
        if folder.endswith(_METADATA) and os.path.dirname(folder) in self._importable:  # noqa: PTH120
            return True
        return name in self._importable or _is_below(name, _imported_packages())

    def _imports(self) -> bool:
        """Whether an import statement runs: what a module does then is not the config's doing."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame is not self._outermost:
            code = frame.f_code
            if (code.co_name, code.co_filename) == _IMPORT:
                return True
            frame = frame.f_back
        return False

    def _refusal(self, deed: str, what: str) -> Refused:
        return Refused(
            f"{self._what} would {deed} {what}".rstrip()
            + ", which nar-plugin never lets the description of a model do. If you trust it, build "
            "the model yourself and call find_similar(model)"
        )


@cache
def _install() -> None:
    """Put the hook there for good: none can be taken away. Outside a block it does nothing."""
    sys.addaudithook(_hook)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    wall = getattr(_OF_THREAD, "wall", None)
    if wall is None:
        return
    _OF_THREAD.wall = None  # what the wall itself does is not watched
    try:
        wall.watch(event, args)
    finally:
        _OF_THREAD.wall = wall


def _named(event: str, args: tuple[Any, ...]) -> str:
    """What the event is about: a path, an address, the words of a command."""
    if event == "pickle.find_class":
        return ".".join(map(str, args))
    if event.startswith("socket."):
        args = tuple(item for item in args if isinstance(item, str | tuple))
    known = [item for item in args if isinstance(item, str | bytes | tuple | list | os.PathLike)]
    return repr(known[-1] if event == "os.rename" else known[0])[:200] if known else ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _is_below(name: str, folders: Any) -> bool:
    return any(name.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


@cache
def _installed() -> tuple[str, ...]:
    """The folders of the standard library and of what pip installs, for this process."""
    named = [path for key, path in sysconfig.get_paths().items() if key.endswith("lib")]
    named += [entry for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
    return tuple({*map(os.path.abspath, named), *map(os.path.realpath, named)})


def _imported_packages() -> Iterator[str]:
    """The folders of packages that are imported from elsewhere, such as editable installs."""
    for module in list(sys.modules.values()):
        known = getattr(module, "__dict__", {})  # asking the module itself may import another one
        if known.get("__path__") and isinstance(file := known.get("__file__"), str):
            yield os.path.dirname(os.path.abspath(file))  # noqa: PTH100, PTH120
