"""Catalogues of libraries whose classes show in their docstrings how to make and call them.

An example is code, so only that of a class which the library itself ships is ever executed. A
subclass of the user's is asked with the example of the library's class that it extends.
"""

from __future__ import annotations

import doctest
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Entry
from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.references.guard import DataOnly

if TYPE_CHECKING:
    from torch import nn

_TIME_FIRST = ("Prenet",)  # the batch is their second side


class _Called(Exception):
    """Carries what the example called the model with."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.args, self.kwargs = args, kwargs


def entries(
    classes: Iterable[type[nn.Module]], *, task: str | Callable[[type], str]
) -> dict[str, Entry]:
    """One entry for each class whose docstring has an example that constructs it.

    Args:
        classes: Candidates; of two with the same name the first counts.
        task: Of all of them, or of each class.

    Returns:
        Class name to entry; the family is the module that defines the class.
    """
    found: dict[str, Entry] = {}
    for item in classes:
        if f"{item.__name__}(" in "".join(_statements(item)):
            family = str(item.__module__).rpartition(".")[2].lower()
            label = task if isinstance(task, str) else task(item)
            found.setdefault(item.__name__, Entry(partial(construct, item), family, label))
    return found


def construct(owner: type[nn.Module]) -> nn.Module:
    """The first model of the class that its example makes.

    Raises:
        LookupError: The example makes none.
    """
    import torch

    try:
        return next(_run(owner))
    except (NotImplementedError, RuntimeError):  # the example looks at values, or runs a forward
        with torch.device("cpu"):
            return next(_run(owner)).to("meta")


def inputs(model: nn.Module, *, package: str) -> list[ExampleInputs]:
    """What the example of the library's class calls its model with, in its first call."""
    import torch
    from torch.utils._pytree import tree_leaves, tree_map

    owner = next((item for item in type(model).__mro__ if is_shipped(item, package)), None)
    if owner is None:
        return []
    try:
        with torch.device("cpu"), DataOnly(f"the example of {owner.__name__}"):
            for made in _run(owner):
                made.forward = _stop
    except _Called as call:
        args, kwargs = tree_map(_unreal, (call.args, call.kwargs))
        shapes = [item.shape for item in tree_leaves((args, kwargs)) if hasattr(item, "shape")]
        place = 1 if owner.__name__ in _TIME_FIRST else 0
        samples = int(shapes[0][place]) if shapes and len(shapes[0]) > 1 else 1
        return [ExampleInputs(tuple(args), kwargs, batch=samples)]
    except Exception:  # whatever an example for other versions raises; the tracer's guesses remain
        return []
    return []


def is_shipped(owner: type, package: str) -> bool:
    """Whether the class stands under its name in a module file of the installed package."""
    module = sys.modules.get(owner.__module__)
    folders = getattr(sys.modules.get(package), "__path__", ())
    file = Path(getattr(module, "__file__", None) or "").absolute()
    return (
        f"{owner.__module__}.".startswith(f"{package}.")
        and getattr(module, owner.__name__, None) is owner
        and any(file.is_relative_to(Path(folder).absolute()) for folder in folders)
    )


def _run(owner: type[nn.Module]) -> Iterator[nn.Module]:
    """Run the example, and give each model of the class as soon as it is there."""
    names = dict(vars(sys.modules[owner.__module__]))
    given: list[nn.Module] = []
    for statement in _statements(owner):
        exec(statement, names)
        for made in list(names.values()):
            if type(made) is owner and not any(made is other for other in given):
                given.append(made)
                yield made
    if not given:
        raise LookupError(f"the example of {owner.__name__} makes no {owner.__name__}")


def _statements(owner: type) -> list[str]:
    try:
        examples = doctest.DocTestParser().get_examples(owner.__doc__ or "")
    except ValueError:  # not quite the form of a doctest
        return []
    return [example.source for example in examples]


def _stop(*args: Any, **kwargs: Any) -> None:
    raise _Called(args, kwargs)


def _unreal(item: Any) -> Any:
    """Floating point tensors belong on the meta device."""
    import torch

    real = isinstance(item, torch.Tensor) and item.is_floating_point()
    return item.to("meta") if real else item
