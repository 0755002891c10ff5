"""The forward hooks that a model needs to work, put on its twin."""

from __future__ import annotations

import functools
import types
from typing import Any

from torch import nn

from nar_plugin.tracing.twin.parts import module_name

_RUN_HOOKS = ("_forward_pre_hooks", "_forward_hooks")


def keep_own_hooks(original: nn.Module, twin: nn.Module, memo: dict[int, Any]) -> None:
    """Copy the hooks that a model needs to work, and none that a user has put there to look.

    Needed are those of `torch.nn.utils` (weight_norm, spectral_norm, pruning), those of
    transformers, those bound to an object that the model itself holds (timm's FeatureHooks), and
    functions that know a dict or a list that it holds (the activations of MiDaS).
    """
    for name in _RUN_HOOKS:
        for key, hook in original.__dict__.get(name, {}).items():
            own = _rebound(hook, memo)
            if own is not None:
                twin.__dict__[name][key] = own
                with_kwargs = f"{name}_with_kwargs"
                if key in original.__dict__.get(with_kwargs, {}):
                    twin.__dict__[with_kwargs][key] = True


def _rebound(hook: Any, memo: dict[int, Any]) -> Any:
    if module_name(type(hook)).startswith("torch.nn.utils."):
        return hook
    if str(getattr(hook, "__module__", "")).startswith("transformers."):
        return hook  # transformers collects hidden states by hooks, put there once
    if isinstance(hook, functools.partial):
        inner = _rebound(hook.func, memo)
        return None if inner is None else functools.partial(inner, *hook.args, **hook.keywords)
    if isinstance(hook, types.FunctionType):
        return _knowing_the_twins(hook, memo)
    owner = memo.get(id(getattr(hook, "__self__", None)))
    if owner is None or module_name(type(owner)).startswith("torch.distributed."):
        return None
    return types.MethodType(hook.__func__, owner)


def _knowing_the_twins(function: types.FunctionType, memo: dict[int, Any]) -> Any:
    """The function with the twin's dicts and lists for the model's; None where it knows none."""
    code, scope = function.__code__, function.__globals__
    names = {name: scope[name] for name in code.co_names if name in scope}
    try:
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # one is not filled
        return None
    known = (*names.values(), *cells)
    if not any(isinstance(item, dict | list) and id(item) in memo for item in known):
        return None
    own = types.FunctionType(
        code,
        {**scope, **{name: memo.get(id(item), item) for name, item in names.items()}},
        function.__name__,
        function.__defaults__,
        tuple(types.CellType(memo.get(id(item), item)) for item in cells),
    )
    own.__kwdefaults__ = function.__kwdefaults__
    return own
