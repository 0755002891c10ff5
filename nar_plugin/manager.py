"""Loads the plugins, asks each of them apart from the others, and lists them.

pluggy isolates nothing by itself: one raising hook would lose everybody's answer. Here a plugin
that raises, while it loads, while it is called or while its answer is read, is marked failed,
named once in a warning, and the others go on. `NAR_DISABLE_PLUGINS=a,b` (`*` for all) keeps plugins
from being imported; `NAR_STRICT=1` raises instead of going on.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module, metadata
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any, Literal

import pluggy

from nar_plugin import hookspecs, isolation
from nar_plugin.errors import PluginError
from nar_plugin.version import VERSION

GROUP = "nar_plugin"
DISTRIBUTION = "nar-plugin"
HOOKS = "nar_plugin.hooks"
_ANSWERS: dict[str, type] = {
    "nar_library": str,
    "nar_provenance": hookspecs.Provenance,
    "nar_example_inputs": hookspecs.ExampleInputs,
    "nar_mended_inputs": hookspecs.ExampleInputs,
    "nar_architectures": hookspecs.NamedArchitecture,
    "nar_file_formats": hookspecs.FileFormat,
}
_MANY = frozenset(
    {"nar_example_inputs", "nar_mended_inputs", "nar_architectures", "nar_file_formats"}
)

_log = logging.getLogger("nar_plugin")


@dataclass(frozen=True)
class PluginInfo:
    """One line of `nar plugins`.

    Attributes:
        name: The entry point's name, or the last word of a built-in module.
        distribution: The distribution that brought it, if known.
        version: That distribution's version, if known.
        status: `disabled` was never imported, `failed` raised at least once.
        hooks: Names of the hooks that it fills.
        installed: Whether the model library that it is about can be imported here. Where not, its
            architectures are known from the index alone.
        error: The last error, as text: an exception would keep the model in its frames alive.
    """

    name: str
    distribution: str | None
    version: str | None
    status: Literal["active", "disabled", "failed"] = "active"
    hooks: tuple[str, ...] = ()
    installed: bool = True
    error: str | None = None


@dataclass
class _Plugin:
    """A plugin and what became of it.

    Attributes:
        info: As listed.
        load: Imports it; None once that was done.
        manager: A pluggy manager with this plugin alone; None if it was not loaded.
        library: What its `nar_library` names, if anything; of a built-in one, its file's name.
    """

    info: PluginInfo
    load: Callable[[], object] | None
    library: str | None = None
    manager: pluggy.PluginManager | None = None


_lock = threading.RLock()
_plugins: tuple[_Plugin, ...] | None = None


def reset() -> None:
    """Forget every plugin, so that the next call reads the environment again; for tests."""
    global _plugins
    with _lock:
        _plugins = None


def list_plugins() -> tuple[PluginInfo, ...]:
    """Every plugin that was found, in the order in which they are asked.

    Example:
        ```python
        [plugin.name for plugin in list_plugins() if plugin.status == "failed"]
        ```
    """
    for plugin in _found():
        _load(plugin)
    return tuple(plugin.info for plugin in _found())


def load_imported() -> None:
    """Load the plugins that a model in hand can be about: those whose library is imported."""
    for plugin in _found():
        if _imported(plugin.library):
            _load(plugin)


def library_of(name: str) -> str | None:
    """The import name of the library that a plugin is about, if it names one."""
    return next((plugin.library for plugin in _found() if plugin.info.name == name), None)


def libraries() -> frozenset[str]:
    """The import names of the libraries that plugins are about."""
    return frozenset(plugin.library for plugin in _found() if plugin.library)


def _plainly(ask: Callable[[], list[Any]]) -> list[Any]:
    return ask()


def call_each(
    hook_name: str,
    *,
    only_imported: bool = False,
    libraries: Container[str] | None = None,
    around: Callable[[Callable[[], list[Any]]], list[Any]] = _plainly,
    **kwargs: Any,
) -> Iterator[tuple[str, Any]]:
    """Ask every plugin in turn: external ones first, then the built-in, `torch` last.

    A plugin is asked when the answer before it has been used, so stopping early saves the rest.
    One that fails is asked again the next time: what it said about one model must not depend on
    the models before. A `PluginError` from `nar_build` is no failure but a refusal, such as of a
    name that the library does not have; it is raised once nobody else has answered.

    Example:
        ```python
        for plugin, provenance in call_each("nar_provenance", only_imported=True, model=model):
            ...
        ```

    Args:
        hook_name: A function of `nar_plugin.hookspecs`, such as `nar_provenance`.
        only_imported: Leave out a plugin whose library is not imported: no model can be its own.
        libraries: Import names; leave out a plugin of any other library. One that names no
            library is always asked.
        around: Makes each plugin's call, such as `references.construction.built`, which makes it
            again in another way when it failed in the first.
        **kwargs: The hook's arguments.

    Yields:
        The plugin's name and its answer, where that is not None; of hooks that give several, a
        tuple.

    Raises:
        PluginError: Nobody could build what is asked for and one plugin says why, or a plugin
            failed and `NAR_STRICT=1`.
    """
    answered, refusal = False, None
    for plugin in _found():
        if only_imported and not _imported(plugin.library):
            continue
        if not (libraries is None or plugin.library is None or plugin.library in libraries):
            continue
        _load(plugin)
        if plugin.manager is None:
            continue
        hook = getattr(plugin.manager.hook, hook_name)
        try:
            answers = around(partial(_ask, hook, kwargs))
        except (Exception, SystemExit) as error:
            if hook_name == "nar_build" and isinstance(error, PluginError):
                refusal = refusal or error
            else:
                _fail(plugin, hook_name, error)
            continue
        for answer in answers:
            answered = True
            yield plugin.info.name, answer
    if refusal is not None and not answered:
        raise refusal


def _importable(library: str) -> bool:
    """Whether there is such a module, without importing it."""
    if library in sys.modules:
        return sys.modules[library] is not None
    return find_spec(library.partition(".")[0]) is not None


def _imported(library: str | None) -> bool:
    return library is None or sys.modules.get(library) is not None


def _ask(hook: pluggy.HookCaller, kwargs: Mapping[str, Any]) -> list[Any]:
    """One plugin's answers, read to their end and checked, so that nothing can raise later."""
    answers: list[Any] = hook(**kwargs)
    if hook.name in _MANY:
        answers = [tuple(answer) for answer in answers]
    expected = _ANSWERS.get(hook.name, object)
    for answer in answers:
        for item in answer if hook.name in _MANY else (answer,):
            if not isinstance(item, expected):
                raise TypeError(f"it returned {item!r:.80}, expected {expected.__name__}")
    return answers


def _found() -> tuple[_Plugin, ...]:
    """The plugins; external ones are loaded, since nothing else says what they are about.

    Nothing is kept when loading raises, so that the next call raises too.
    """
    global _plugins
    with _lock:
        if _plugins is None:
            external = [_external(point) for point in _entry_points()]
            for plugin in external:
                _load(plugin)
            _plugins = (*external, *_built_in())
        return _plugins


def _built_in() -> list[_Plugin]:
    """The files of `hooks/` by name; `torch` last, as it knows any module."""
    hooks = import_module(HOOKS)
    files = [file.name for file in iter_modules(hooks.__path__)]
    names = sorted(name for name in files if not name.startswith("_") and name != "torch")
    return [
        _Plugin(
            PluginInfo(name, DISTRIBUTION, VERSION),
            partial(import_module, f"{HOOKS}.{name}"),
            None if name in hooks.OF_MANY else name,
        )
        for name in (*names, "torch")
    ]


def _entry_points() -> list[metadata.EntryPoint]:
    """The external plugins by name; none where the metadata of a package cannot be read."""
    try:
        return sorted(metadata.entry_points(group=GROUP), key=lambda point: point.name)
    except Exception as error:
        _log.warning("The installed plugins cannot be listed: %s: %s", type(error).__name__, error)
        return []


def _external(point: metadata.EntryPoint) -> _Plugin:
    try:
        distribution, version = point.dist.name, point.dist.version  # type: ignore[union-attr]
    except Exception:  # it has no metadata, or none that can be read
        distribution = version = None
    return _Plugin(PluginInfo(point.name, distribution, version), point.load)


def _load(plugin: _Plugin) -> None:
    """Import a plugin once, unless it is disabled; what goes wrong is noted on it."""
    with _lock:
        if plugin.load is None:
            return
        if _disabled(plugin.info.name):
            plugin.info, plugin.load = replace(plugin.info, status="disabled"), None
            return
        try:
            manager = _manager_of(plugin.load())
            library = next(iter(_ask(manager.hook.nar_library, {})), None)
            if plugin.library not in (None, library):
                raise PluginError(f"it is named {plugin.library} and is about {library}")
            installed = library is None or _importable(library)
            plugin.info = replace(plugin.info, hooks=_filled(manager), installed=installed)
            plugin.library, plugin.manager = library, manager
        except (Exception, SystemExit) as error:
            _fail(plugin, "loading", error)  # raises where NAR_STRICT=1: then it is tried again
        plugin.load = None


def _disabled(name: str) -> bool:
    names = {word.strip() for word in os.environ.get("NAR_DISABLE_PLUGINS", "").split(",")}
    return name in names or "*" in names


def _manager_of(implementation: object) -> pluggy.PluginManager:
    """A manager with this one plugin, checked more strictly than pluggy does.

    Raises:
        PluginValidationError: A hook is unknown or takes an unknown argument.
        PluginError: A hook's argument has a default, which pluggy would always pass.
    """
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    manager.register(implementation)
    manager.check_pending()
    for name in _filled(manager):
        for function in getattr(manager.hook, name).get_hookimpls():
            if function.kwargnames:
                raise PluginError(
                    f"{name} gives {function.kwargnames[0]!r} a default, which it would always "
                    "get instead of the real argument: remove the default"
                )
    return manager


def _filled(manager: pluggy.PluginManager) -> tuple[str, ...]:
    """Names of the hooks that have an implementation."""
    return tuple(sorted(name for name, hook in vars(manager.hook).items() if hook.get_hookimpls()))


def _fail(plugin: _Plugin, doing: str, error: BaseException) -> None:
    """Mark a plugin failed and warn about it once, or raise if `NAR_STRICT=1`."""
    text = f"{type(error).__name__}: {error}"
    message = _note(plugin, doing, text)
    if _is_strict():
        raise PluginError(message) from error
    # pluggy's frame holds the error, whose traceback holds that frame and the model in it.
    error.__traceback__ = None


def _note(plugin: _Plugin, doing: str, text: str) -> str:
    """Mark a plugin failed, and warn about it once; a child leaves that to its parent."""
    info = plugin.info
    plugin.info = replace(info, status="failed", error=text)
    _failures.noted.append((info.name, doing, text))
    owner = f"{info.distribution or 'unknown distribution'} {info.version or ''}".strip()
    message = f"The plugin {info.name!r} of {owner} failed in {doing}: {text}"
    if info.status != "failed" and not _is_strict() and not _failures.of_child:
        _log.warning("%s (NAR_DISABLE_PLUGINS=%s turns it off)", message, info.name)
    return message


def _is_strict() -> bool:
    return os.environ.get("NAR_STRICT", "0") not in {"", "0"}


class _Failures:
    """What failed in a forked child, for its parent to list and to log (`isolation.Memory`)."""

    def __init__(self) -> None:
        self.of_child = False
        self.noted: list[tuple[str, str, str]] = []  # plugin, doing, text

    def begin(self) -> None:
        self.of_child = True
        self.noted.clear()

    def news(self) -> list[tuple[str, str, str]]:
        return self.noted

    def learn(self, news: list[tuple[str, str, str]]) -> None:
        by_name = {plugin.info.name: plugin for plugin in _found()}
        for name, doing, text in news:
            _note(by_name[name], doing, text)


_failures = _Failures()
isolation.remember(_failures)
