"""A structural twin of a model on the meta device, sharing no container with the original.

`torch.func.functional_call` swaps tensors in place while it runs, and models cache tensors in
plain dicts; both would be seen by the user's model or by a thread that runs it. The twin is built
by copying the `__dict__` of every submodule, with each tensor replaced by an empty meta tensor.
"""

from __future__ import annotations

import copy
import enum
import functools
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

import torch
from torch import nn
from torch.nn.parameter import UninitializedParameter
from torch.utils.hooks import RemovableHandle

from nar_plugin.errors import TraceError
from nar_plugin.tracing.record.host_copies import on_host, out_of_reach
from nar_plugin.tracing.twin.arrays import private_array
from nar_plugin.tracing.twin.dequantized import is_packed, is_scale
from nar_plugin.tracing.twin.generators import in_fixed_state
from nar_plugin.tracing.twin.own_hooks import keep_own_hooks
from nar_plugin.tracing.twin.parts import modules, parameters, referent
from nar_plugin.tracing.twin.plain_modules import own_class, plain_module
from nar_plugin.tracing.twin.tensors import empty, is_setting, real_copy

Copy = Callable[[torch.Tensor], torch.Tensor]
Scope = Callable[[str, Callable[..., Any]], Callable[..., Any]]

_HOOK_DICTS = frozenset(
    {
        "_forward_hooks",
        "_forward_pre_hooks",
        "_forward_hooks_with_kwargs",
        "_forward_pre_hooks_with_kwargs",
        "_forward_hooks_always_called",
        "_backward_hooks",
        "_backward_pre_hooks",
        "_state_dict_hooks",
        "_state_dict_pre_hooks",
        "_load_state_dict_pre_hooks",
        "_load_state_dict_post_hooks",
    }
)
# No forward adds to these, so that all modules of a twin share one that is empty.
_NEVER_RUN = frozenset(name for name in _HOOK_DICTS if "forward" not in name)
# Left out of the twin: in-place compilation, and accelerate's forward with its device moves.
_LEFT_OUT = frozenset({"_compiled_call_impl", "_hf_hook", "_old_forward"})
# Every attribute that is not copied as a value is.
_SPECIAL = (
    _HOOK_DICTS
    | _LEFT_OUT
    | {"_parameters", "_buffers", "_modules", "_non_persistent_buffers_set", "training", "forward"}
)
# Shared with the twin: a Lightning trainer holds data and loops, not architecture.
_SHARED = frozenset({"_trainer", "_fabric"})
_ATOMS = frozenset(
    {
        type(None),
        bool,
        int,
        float,
        complex,
        str,
        bytes,
        type,
        torch.dtype,
        torch.device,
        torch.Size,
        slice,
        range,
        types.FunctionType,
        types.BuiltinFunctionType,
        types.ModuleType,
    }
)


class Twin:
    """Builds and afterwards dissolves the twin of one model.

    Args:
        model: The module to copy. It is only read.
        scope: Wraps each submodule's forward, so that operations learn their module path.
        copy_tensor: Makes the twin's tensor for one of the model's; by default an empty one on
            meta, but for small integers, which say where and how much, a copy of the values.
    """

    def __init__(self, model: nn.Module, scope: Scope, copy_tensor: Copy | None = None) -> None:
        self._copy_tensor = copy_tensor or empty
        self.parameters: list[torch.Tensor] = []  # those in plain attributes too
        self.tensors: list[torch.Tensor] = []  # buffers and tensors in plain attributes
        self.classes: dict[str, str] = {}
        self._scope = scope
        self._no_hooks: OrderedDict[int, Any] = OrderedDict()
        self._memo: dict[int, Any] = {}
        self._keep: list[Any] = []  # ids in the memo stay valid while these live
        self._originals: list[nn.Module] = []
        self.modules: list[tuple[str, nn.Module]] = []  # of the twin; "" where no path leads there
        self.model = self._module(model, "")
        self.registered = list(parameters(self.model))  # those that the model counts itself
        for original, (_, twin) in zip(self._originals, self.modules, strict=True):
            keep_own_hooks(original, twin, self._memo)

    def dissolve(self) -> None:
        """Break the twin's reference cycles, so that nothing of it waits for the collector."""
        for _, twin in self.modules:
            twin.__dict__.clear()
        self._originals.clear()
        self.modules.clear()
        self._memo.clear()
        self._keep.clear()

    def require_gradients(self) -> None:
        """Let autograd follow all weights, for a forward that differentiates."""
        for parameter in self.parameters:
            parameter.requires_grad_(parameter.is_floating_point() or parameter.is_complex())

    def _module(self, module: nn.Module, path: str) -> nn.Module:
        module = referent(module)
        known = self._memo.get(id(module))
        if known is not None:
            return cast(nn.Module, known)
        cls = own_class(module)
        if isinstance(module, torch.jit.ScriptModule):
            raise TraceError(
                f"The submodule {path!r} is a TorchScript module, whose Python forward is gone. "
                "Put the eager nn.Module that it was made from in its place."
            )
        plain = plain_module(module)
        if plain is not None:
            self._keep.append(plain)
            twin = self._module(plain, path)
            self._remember(module, twin)
            return twin
        twin = object.__new__(cls)
        self._remember(module, twin)
        self._originals.append(module)
        self.modules.append((path, twin))
        self.classes.setdefault(path, cls.__name__)
        contents = twin.__dict__
        own_forward: Any = None
        for name, value in module.__dict__.items():
            if name not in _SPECIAL:
                atom = type(value) in _ATOMS and not getattr(value, "__closure__", None)
                contents[name] = value if atom or name in _SHARED else self._value(value)
            elif name in _NEVER_RUN:
                contents[name] = self._no_hooks
            elif name in _HOOK_DICTS:
                contents[name] = OrderedDict()
            elif name == "_parameters":
                contents[name] = {
                    key: None if item is None else self._parameter(item)
                    for key, item in value.items()
                }
            elif name == "_buffers":
                contents[name] = {
                    key: None if item is None else self._buffer(key, item)
                    for key, item in value.items()
                }
            elif name == "_modules":
                prefix = path + "." if path else ""
                contents[name] = {
                    key: None if item is None else self._module(item, prefix + key)
                    for key, item in value.items()
                }
            elif name == "_non_persistent_buffers_set":
                contents[name] = set(value)
            elif name == "training":
                contents[name] = False
            elif name == "forward":
                own_forward = value
        if own_forward is not None and "_hf_hook" not in module.__dict__:
            forward = self._value(own_forward)
        else:  # the class's own; accelerate has put its device moves over the instance's
            forward = types.MethodType(cls.forward, twin)
        contents["forward"] = self._scope(path, forward)
        return twin

    def _parameter(self, parameter: torch.Tensor) -> nn.Parameter:
        known = self._memo.get(id(parameter))
        if known is None:
            copied = self._copy_tensor(parameter)
            lazy = isinstance(copied, UninitializedParameter)
            known = copied if lazy else nn.Parameter(copied, requires_grad=False)
            self._remember(parameter, known)
            self.parameters.append(known)
        return cast(nn.Parameter, known)

    def _buffer(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in self._memo and is_scale(name, tensor) and not out_of_reach(tensor):
            self.tensors.append(real_copy(tensor))
            self._remember(tensor, self.tensors[-1])
        return self._tensor(tensor)

    def _tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        known = self._memo.get(id(tensor))
        if known is None:
            if self._copy_tensor is empty and is_setting(tensor) and not out_of_reach(tensor):
                known = on_host(tensor)
            else:
                known = self._copy_tensor(tensor)
            self.tensors.append(known)
            self._remember(tensor, known)
        return cast(torch.Tensor, known)

    def _value(self, value: Any) -> Any:
        """The twin's own of a value; what cannot even be looked at is shared."""
        try:
            return self._own(value)
        except TraceError:
            raise
        except (
            Exception,
            SystemExit,
        ):  # somebody else's `__getattr__` or `__class__`, or a reference to nothing
            return value

    def _own(self, value: Any) -> Any:
        kind = type(value)
        if kind is types.FunctionType and value.__closure__:
            return self._function(value)
        if kind in _ATOMS:
            return value
        if isinstance(value, RemovableHandle):  # it would remove the user's hook
            return RemovableHandle(OrderedDict())
        known = self._memo.get(id(value))
        if known is not None:
            return known
        if isinstance(value, weakref.ref):
            return self._reference(value)
        if kind in weakref.ProxyTypes:  # of a part of the model, most often; the twin holds its own
            return self._value(referent(value))
        other = in_fixed_state(value)
        other = private_array(value) if other is None else other
        if other is not None:
            self._remember(value, other)
            return other
        if isinstance(value, nn.Parameter):
            return self._parameter(value)
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, nn.Module):
            return self._module(value, "")
        if isinstance(value, types.MethodType):
            return types.MethodType(value.__func__, self._value(value.__self__))
        if kind is functools.partial:
            return functools.partial(
                self._value(value.func),
                *(self._value(item) for item in value.args),
                **{key: self._value(item) for key, item in value.keywords.items()},
            )
        if isinstance(value, tuple):
            items = [self._value(item) for item in value]
            return kind(*items) if hasattr(kind, "_fields") else tuple(items)
        if isinstance(value, dict):
            return self._dict(value)
        if isinstance(value, list | set | deque):
            return self._collection(value)
        return self._object(value)

    def _function(self, function: types.FunctionType) -> types.FunctionType:
        """A closure over the model, as in `model.forward = lambda x: old(x)`, over the twin."""
        known = self._memo.get(id(function))
        if known is not None:
            return cast(types.FunctionType, known)
        closure = function.__closure__ or ()
        cells = tuple(types.CellType() for _ in closure)
        twin = types.FunctionType(
            function.__code__,
            function.__globals__,
            function.__name__,
            function.__defaults__,
            cells,
        )
        twin.__kwdefaults__ = function.__kwdefaults__
        twin.__dict__.update(function.__dict__)
        self._remember(function, twin)
        for cell, own in zip(cells, closure, strict=True):
            with suppress(ValueError):  # not filled yet
                cell.cell_contents = self._value(own.cell_contents)
        return twin

    def _reference(self, reference: weakref.ref[Any]) -> weakref.ref[Any]:
        """A weak reference to the twin's own of what it refers to."""
        referent = reference()
        own = None if referent is None else self._value(referent)
        if own is referent or id(referent) not in self._memo:
            return reference  # nothing else would keep what was made for it alone
        return type(reference)(own)

    def _dict(self, value: dict[Any, Any]) -> dict[Any, Any]:
        try:
            twin = _empty_as(value)
        except Exception:
            return value
        self._remember(value, twin)
        for key, item in value.items():
            dict.__setitem__(twin, key, item if type(item) in _ATOMS else self._value(item))
        attributes = getattr(value, "__dict__", {})  # of diffusers' FrozenDict, of yacs' CfgNode
        if attributes is value:  # its entries are its attributes
            object.__setattr__(twin, "__dict__", twin)
            return twin
        for key, item in attributes.items():
            twin.__dict__[key] = self._value(item)
        return twin

    def _collection(self, value: Any) -> Any:
        try:
            twin = copy.copy(value)  # keeps a subclass and deque's length
        except Exception:
            return value
        self._remember(value, twin)
        if isinstance(value, set):
            return twin
        for index, item in enumerate(twin):
            if type(item) not in _ATOMS:
                twin[index] = self._value(item)
        return twin

    def _object(self, value: Any) -> Any:
        """A plain Python object is copied with its attributes; anything else is shared."""
        kind = type(value)
        plain = (
            hasattr(value, "__dict__")
            and not isinstance(value, type | enum.Enum)
            and not callable(getattr(value, "__fspath__", None))
            and _inherits(kind, "__new__")
            and _inherits(kind, "__reduce__")
        )
        if not plain:
            return value
        try:
            twin = object.__new__(kind)
        except TypeError:
            return value
        self._remember(value, twin)
        for key, item in value.__dict__.items():
            twin.__dict__[key] = item if type(item) in _ATOMS else self._value(item)
        return twin

    def _remember(self, original: Any, twin: Any) -> None:
        self._memo[id(original)] = twin
        self._keep.append(original)


def dequantized(model: nn.Module) -> nn.Module:
    """A model with packed layers as its float design on meta, any other as it is.

    Plugins guess inputs from layers that they know, and no packed layer is one.
    """
    if not any(is_packed(module) for module in modules(model)):
        return model
    return Twin(model, lambda path, forward: forward).model


def _empty_as(value: dict[Any, Any]) -> dict[Any, Any]:
    """A dict of the same class, made without its `__init__`: a config's may want anything."""
    kind = type(value)
    if isinstance(value, OrderedDict | defaultdict):  # keeps order and factory
        return value.copy()
    twin: dict[Any, Any] = kind.__new__(kind)
    return twin


def _inherits(kind: type, method: str) -> bool:
    return getattr(kind, method) is getattr(object, method)
