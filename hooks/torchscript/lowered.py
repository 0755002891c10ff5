"""A TorchScript module as a program whose weights are arguments.

torch inlines the modules into one graph, fixes what does not change, and makes each weight an
input of the graph. Its interpreter then runs the graph on meta tensors, and a recorder sees every
call.
"""

from __future__ import annotations

import warnings
from io import BytesIO
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from .._shared.program import Program
from .._shared.program_steps import Step, Value
from .._shared.program_tensors import empty, is_known
from .inputs import guesses

_LEAST_WEIGHT = 2  # elements; a constant with fewer is a number

_plainly: Any = torch.jit.optimized_execution  # type: ignore[attr-defined]


def program(script: Any) -> nn.Module:
    """The forward of a `torch.jit.ScriptModule`.

    Raises:
        ValueError: torch cannot make one graph of it.
    """
    try:
        graph, tensors, learned = _lowered(script)
        call = _Call(_written_again(graph))
    except (RuntimeError, AttributeError) as error:
        raise ValueError(f"torch cannot make one graph of it: {error}") from error
    inputs = list(graph.inputs())
    own = len(inputs) - len(tensors)
    names = [f"input {place}" for place in range(own)]
    weights = {
        f"weight {place}": _weight(tensor, id(tensor) in learned or not learned)
        for place, tensor in enumerate(tensors)
    }
    shapes = {
        value.debugName(): list(tensor.shape)
        for value, tensor in zip(inputs[own:], tensors, strict=True)
    }
    found = guesses(graph, inputs[:own], shapes)
    step = Step(call, [Value(name) for name in (*names, *weights)], result="result")
    made = _Script(names, [step], [Value("result")], weights)
    made.script_inputs = found
    return made


class _Script(Program):
    script_inputs: list[tuple[Any, ...]]


class _Call:
    """Runs the graph as it stands: torch would fuse its calls and compile it."""

    __slots__ = ("_script",)  # nothing to copy into a twin

    def __init__(self, script: Any) -> None:
        self._script = script

    def __call__(self, *args: Any) -> Any:
        with _plainly(False), _Refusals() as refusals:
            try:
                return self._script.forward(*args)
            except RuntimeError as error:
                if refusals.last is not None:
                    raise refusals.last from error
                # The lines of the program that led there come first in its text.
                raise type(error)(str(error).rpartition("\nRuntimeError: ")[2]) from error


class _Refusals(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps the error of a call: the interpreter raises another, without its type and text."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.last: BaseException | None = None

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        try:
            return func(*args, **(kwargs or {}))
        except BaseException as error:  # one that ends a loop is no Exception
            self.last = error
            raise


def _written_again(graph: Any) -> Any:
    """The graph as a module that torch has written and read once more.

    A node that was inlined knows the function from which it came, and freezing deletes that
    function. The interpreter reads its name when a call fails, and ends the process. What is
    written has no such nodes.
    """
    function: Any = torch._C._create_function_from_graph("forward", graph)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that TorchScript is deprecated
        return torch.jit.load(BytesIO(function.save_to_buffer()))  # type: ignore[no-untyped-call]


def _lowered(script: Any) -> tuple[Any, list[Tensor], set[int]]:
    """The graph, the tensors that its last inputs stand for, and the ids of the parameters."""
    script.eval()
    frozen: Any = torch._C._freeze_module(script._c, [], True, True)
    graph = frozen._get_method("forward").graph
    torch._C._jit_pass_inline(graph)
    lowered: Any = torch._C._jit_pass_lower_graph(graph, frozen)
    graph, tensors = lowered
    if any(not isinstance(tensor, Tensor) for tensor in tensors):
        raise ValueError("it has packed weights, which only its own kernels can read")
    learned = {id(item) for item in script.parameters()}  # some are fixed, such as sinusoids
    tensors = [*tensors, *_frozen(graph)]
    return graph, tensors, learned


def _frozen(graph: Any) -> list[Tensor]:
    """Weights that are constants of the graph, since somebody froze it; each becomes an input."""
    found = []
    for node in list(graph.nodes()):
        if node.kind() != "prim::Constant" or node.output().type().kind() != "TensorType":
            continue
        tensor = node.t("value")
        if is_weight(tensor):
            value = graph.addInput()
            value.setType(node.output().type())
            node.output().replaceAllUsesWith(value)
            found.append(tensor)
    return found


def is_weight(tensor: Tensor) -> bool:
    """Whether the values are not read: a constant number, places, sizes and masks are."""
    return tensor.numel() >= _LEAST_WEIGHT and not is_known(tensor.dtype, tensor.shape)


def _weight(tensor: Tensor, is_learned: bool) -> Tensor:
    dtype = torch.float32 if tensor.is_floating_point() else tensor.dtype
    if is_learned and tensor.is_floating_point():
        return nn.Parameter(empty(dtype, tensor.shape), requires_grad=False)
    if is_known(dtype, tensor.shape) and not tensor.is_meta:
        return tensor.detach().clone()
    return empty(dtype, tensor.shape)
