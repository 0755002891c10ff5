"""Puts `find_similar` on `torch.nn.Module`, and takes it off again.

One non-data descriptor on the class: nothing is stored on a model, so copying, pickling, compiling
and freeing it are as before, and whatever a user calls `find_similar` wins. It is put there once
torch is imported; this module imports no torch itself.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import update_wrapper
from types import MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from nar_plugin.errors import NarError

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

    from nar_plugin.report import SimilarArchitectures, SimilarBlocks

_NAME = "find_similar"
_TARGET = "torch.nn.modules.module"


def attach() -> None:
    """Give every `nn.Module` the method `find_similar`; a second call changes nothing.

    `import nar_plugin` calls this, unless `NAR_PLUGIN_DISABLE=1`. If torch is not imported yet, the
    method is added as soon as it is.

    Your own method, attribute, field or submodule called `find_similar` wins, also that of a mixin
    after `nn.Module`. To register a buffer, parameter or module under that name, annotate it in
    the class or call `detach()`; otherwise `nn.Module` raises a KeyError.

    Example:
        ```python
        nar_plugin.detach()
        nar_plugin.attach()
        model.find_similar(k=3)
        ```

    Raises:
        NarError: Another library has put its own `find_similar` on `nn.Module`.
    """
    module = _module_class()
    if module is None:
        if not any(_is_ours(finder, _AfterTorch) for finder in sys.meta_path):
            sys.meta_path.insert(0, _AfterTorch())
        return
    present = vars(module).get(_NAME)
    if present is not None and not _is_ours(present, _Attached):
        raise NarError(
            f"torch.nn.Module already has a `find_similar` that is not nar-plugin's: {present!r}. "
            "It was left as it is; call nar_plugin.find_similar(model, k=10) instead."
        )
    if type(present) is not _Attached:
        setattr(module, _NAME, _Attached(module))


def detach() -> None:
    """Take `find_similar` off `nn.Module`, also if torch is imported later.

    A `find_similar` of another library stays. A second call changes nothing.

    Example:
        ```python
        nar_plugin.detach()
        ```
    """
    sys.meta_path[:] = [finder for finder in sys.meta_path if not _is_ours(finder, _AfterTorch)]
    module = _module_class()
    if module is not None and _is_ours(vars(module).get(_NAME), _Attached):
        delattr(module, _NAME)


def attach_on_import() -> None:
    """As `attach`, but what goes wrong is logged: nobody's import may fail because of it."""
    try:
        attach()
    except Exception as error:
        _warn(error)


def find_similar(
    model: Any,
    k: int = 10,
    *,
    at: str | None = None,
    index: Any = None,
    where: Mapping[str, Any] | None = None,
    example_inputs: Any = None,
    distinct: str = "backbone",
) -> SimilarArchitectures | SimilarBlocks:
    """The known architectures that this model resembles most: `model.find_similar(k=10)`.

    It reads the structure only: no weights, no data, no network. `nar_plugin.find_similar` is the
    same function for typed code.

    Args:
        model: The module that the method was called on.
        k: Number of hits.
        at: A module of it, such as `layer3.0`: asks which known designs contain that block.
        index: Folder, repository or loaded index to search instead of the default one.
        where: Metadata that a hit must have, such as `{"library": "timm"}`.
        example_inputs: A tensor, a tuple or a dict that the model's forward accepts, where the
            plugins cannot guess it.
        distinct: `backbone` gives one hit for each backbone, `graph` one for each graph.

    Returns:
        The hits, best first.

    Raises:
        NarError: The model could not be traced, or no index could be read.
        RuntimeError: An AttributeError inside the search: `nn.Module` would hide it behind its own.
    """
    try:
        from nar_plugin import api

        return api.find_similar(
            model,
            k,
            at=at,
            index=index,
            where=where,
            example_inputs=example_inputs,
            distinct=distinct,
        )
    except AttributeError as error:
        raise RuntimeError(f"find_similar failed: AttributeError: {error}") from error


class _Attached:
    """The descriptor on `nn.Module`: non-data, so that an instance's own attribute wins.

    It hides what stands after `nn.Module` in the order of classes, and hands it on: the answer is
    the one that Python would give without nar-plugin, and ours only where that is an error. On
    `nn.Module` itself it gives itself, not the plain function: torch.jit copies every function
    that it finds there to its own classes.
    """

    def __init__(self, module: Any) -> None:
        update_wrapper(self, find_similar)
        self._module = module

    def __call__(self, *args: Any, **kwargs: Any) -> SimilarArchitectures | SimilarBlocks:
        return find_similar(*args, **kwargs)

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self._of_class(owner)
        if type(model).__mro__[-2] is not self._module:  # torch.compile cannot follow a vain super
            with suppress(AttributeError):
                return super(self._module, model).find_similar  # type: ignore[misc]
        # nn.Module's lookup of submodules, parameters and buffers, or a wrapper's that passes the
        # name on to the model inside it.
        try:
            found = type(model).__getattr__(model, _NAME)
        except Exception:
            if _declared(type(model)):
                raise
            return MethodType(find_similar, model)
        # A wrapper that passed the name on would have searched for its inside, not for itself.
        if isinstance(found, MethodType) and found.__func__ is find_similar:
            return MethodType(find_similar, model)
        return found

    def _of_class(self, owner: Any) -> Any:
        """What a class answers: a mixin's, else its metaclass's own, else the descriptor.

        Raises:
            AttributeError: The class declares the name without a value, as a field of a dataclass.
        """
        with suppress(AttributeError):
            return super(self._module, owner).find_similar  # type: ignore[misc]
        for kind in type(owner).__mro__:
            if _NAME in vars(kind):
                found = vars(kind)[_NAME]
                return found.__get__(owner, type(owner)) if hasattr(found, "__get__") else found
        if _declared(owner):
            raise AttributeError(f"type object {owner.__name__!r} has no attribute {_NAME!r}")
        return self


def _declared(owner: type) -> bool:
    """Whether a class or one of its bases annotates the name, for an attribute of its own."""
    return any(_declares(kind) for kind in owner.__mro__)


def _declares(kind: type) -> bool:
    if sys.version_info >= (3, 14):  # annotations are computed, and may name what is not there yet
        from annotationlib import Format, get_annotations

        return _NAME in get_annotations(kind, format=Format.FORWARDREF)
    return _NAME in (vars(kind).get("__annotations__") or ())


class _AfterTorch:
    """A finder that only watches: it attaches after the module that defines `nn.Module` has run."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that the next finders give, its loader told to attach afterwards."""
        if fullname != _TARGET or self not in sys.meta_path:
            return None
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            find = getattr(finder, "find_spec", None)  # finders of old have none
            spec: ModuleSpec | None = find(fullname, path, target) if find else None
            if spec is not None:
                self._attach_after(spec.loader)
                return spec
        return None

    def _attach_after(self, loader: Any) -> None:
        """Let this one loader attach once it has executed the module; leaves no trace on it."""
        try:
            execute = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                vars(loader).pop("exec_module", None)
                execute(module)
                if self in sys.meta_path:  # not detached meanwhile
                    sys.meta_path.remove(self)
                    attach_on_import()

            vars(loader)["exec_module"] = exec_module  # a class as loader refuses this
        except Exception as error:
            _warn(error)


def _module_class() -> type | None:
    """`torch.nn.Module`, or None before torch is imported."""
    return getattr(sys.modules.get(_TARGET), "Module", None)


def _is_ours(thing: object, kind: type) -> bool:
    """Whether it is of this kind, also one made before this file was reloaded."""
    same = type(thing).__module__ == kind.__module__
    return same and type(thing).__qualname__ == kind.__qualname__


def _warn(error: Exception) -> None:
    import logging

    logging.getLogger("nar_plugin").warning(
        "find_similar was not attached to torch.nn.Module: %s", error
    )
