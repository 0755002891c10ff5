"""Calls that leave the dispatcher: numpy round trips, `tolist`, and devices that are not there.

A dispatch mode sees ATen calls only. `x.numpy()` and `x.tolist()` read memory that a meta tensor
does not have, and `device="cuda"` asks the driver before any operator runs. This function mode
answers those calls. It costs a fifth of a trace, so it is put on only after a forward has failed.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from nar_plugin.tracing.record.arguments import without_values
from nar_plugin.tracing.record.choices import counts
from nar_plugin.tracing.record.kernels import map_tensors
from nar_plugin.tracing.record.recorder import Recorder

_SIGNS = re.compile(
    r"\bmeta\b|inference tensor|scalarType|allocated|format string|constraint|numpy|no data"
    r"|Device index|not linked with|CUDA|cuda|NVIDIA|HIP|XPU|MPS|mps|NPU|driver"
)
_WITHOUT_GRADIENTS = re.compile(
    r"does not require grad|not to have been used in the graph|requires_grad=False"
    r"|returned an invalid gradient|can only be accessed on .*requires_grad"
    r"|grad can be implicitly created"
)
# An extension that was not built, where a forward asks which device it is on.
_ABSENT = (AttributeError, NameError, ImportError)
_ASKS_DEVICE = ({"device", "type"}, {"is_cpu"})
_TENSOR: Any = torch.Tensor
_DEVICE = _TENSOR.device.__get__
_IS_CPU = _TENSOR.is_cpu.__get__
_ON_ONE_DEVICE = frozenset({torch.stft, torch.Tensor.stft})
_INVERSES = frozenset({torch.istft, torch.Tensor.istft})
_MOVES = frozenset({torch.Tensor.cuda, torch.Tensor.cpu, torch.Tensor.xpu, torch.Tensor.pin_memory})


def told(error: BaseException) -> str:
    """An error's type and text, whatever its `__str__` does; of an assertion its line as well."""
    try:
        text = str(error).strip()
    except Exception:
        text = "(its text cannot be read)"
    if isinstance(error, AssertionError):
        line = "".join(str(frame.line) for frame in traceback.extract_tb(error.__traceback__, -1))
        if not text or line.startswith("assert "):
            text = f"{text}; {line}" if text else line
    return f"{type(error).__name__}: {text}"


def may_help(error: BaseException) -> bool:
    """Whether a forward failed by asking for values or for a device that are not there."""
    if isinstance(error, _ABSENT) and _asked_device(error):
        return True
    return _SIGNS.search(told(error)) is not None


def wants_gradients(error: BaseException) -> bool:
    """Whether a forward differentiates, as a potential does whose forces are a gradient."""
    return _WITHOUT_GRADIENTS.search(told(error)) is not None


def _asked_device(error: BaseException) -> bool:
    """Whether a function that the error went through may have chosen its way by a device.

    StyleGAN2 calls its own kernels where `x.device.type` is not `"cpu"`.
    """
    for frame, _ in traceback.walk_tb(error.__traceback__):
        own = not str(frame.f_globals.get("__name__")).startswith("torch.")
        if own and any(asked.issubset(frame.f_code.co_names) for asked in _ASKS_DEVICE):
            return True
    return False


class Escapes(TorchFunctionMode):
    """Answers what would leave the recorder.

    Args:
        recorder: The recorder that runs inside this mode; it learns where arrays came from.
    """

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Answer a call that needs values or a device; let all others through."""
        kwargs = kwargs or {}
        reading = _READINGS.get(func)
        if reading is not None and not self._recorder.sources.is_known(args[0]):
            return self._read(reading, args, kwargs)
        if func in _MOVES:
            return args[0]
        if func is torch.Tensor.get_device:  # asked for by who runs on a GPU alone
            return 0
        if func == _DEVICE:  # a library that knows no meta device is told of the CPU
            return torch.device("cpu")
        if func == _IS_CPU:
            return True
        if func is torch.Tensor.type:
            return _typed(*args, **kwargs)
        if func in _ON_ONE_DEVICE:  # a check below the dispatcher
            emptied = partial(without_values, self._recorder)
            args = map_tensors(args, emptied)
            kwargs = {key: map_tensors(item, emptied) for key, item in kwargs.items()}
        if func in _INVERSES:
            return _inverse_spectrogram(*args, **kwargs)
        if func is torch.Tensor.new_tensor:
            values, *rest = args[1:]
            return torch.tensor(
                values, *rest, **{"dtype": args[0].dtype, **kwargs, "device": "cpu"}
            )
        if func is torch.Tensor.to:
            args = (args[0], *(item for item in args[1:] if not _elsewhere(item)))
            if len(args) == 1 and not kwargs.keys() - {"device", "non_blocking", "copy"}:
                return args[0]
        if _elsewhere(kwargs.get("device")):
            kwargs = {**kwargs, "device": "cpu"}
        return func(*args, **kwargs)

    def _read(self, reading: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        tensor = args[0]
        self._recorder.ask(1 + tensor.numel() // 1000)
        self._recorder.exported.append(tensor)
        dtype = tensor.dtype if tensor.dtype != torch.bfloat16 else torch.float32
        values = counts(self._recorder.sources, tensor)
        if values is None:
            values = np.full(tuple(tensor.shape), dtype != torch.bool)
        stand_in = values.astype(_numpy_type(dtype))
        return reading(stand_in, *args[1:], **kwargs)


def _inverse_spectrogram(
    spectrogram: torch.Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: torch.Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> torch.Tensor:
    """`torch.istft`, whose window is checked for zeros below the dispatcher: shapes and operators.

    Griffin and Lim 1984, Eq. 6, without the division by the sum of the squared windows.

    Shapes:
        spectrogram complex[..., frequencies, frames]; result float[..., samples].
    """
    hop = hop_length or n_fft // 4
    frames = torch.fft.irfft(spectrogram, n_fft, dim=-2)  # (..., n_fft, frames)
    if window is not None:
        missing = n_fft - window.shape[0]
        padded = torch.nn.functional.pad(window, (missing // 2, missing - missing // 2))
        frames = frames * padded.to(frames.device)[:, None]
    lead, count = frames.shape[:-2], frames.shape[-1]
    whole = n_fft + hop * (count - 1)
    samples = torch.nn.functional.fold(
        frames.reshape(-1, n_fft, count), (1, whole), (1, n_fft), stride=(1, hop)
    ).reshape(*lead, whole)
    begin = n_fft // 2 if center else 0
    wanted = length if length is not None else whole - 2 * begin
    missing = max(0, begin + wanted - whole)
    return torch.nn.functional.pad(samples, (0, missing))[..., begin : begin + wanted]


def _typed(tensor: torch.Tensor, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
    """`Tensor.type` without its device: `torch.FloatTensor`, or a tensor of such a type."""
    if dtype is None:
        return "torch." + tensor.type().rpartition(".")[2]
    if isinstance(dtype, str):
        dtype = getattr(torch, dtype.rpartition(".")[2])
    return tensor.to(dtype if isinstance(dtype, torch.dtype) else dtype.dtype)


def _numpy_type(dtype: torch.dtype) -> Any:
    return torch.empty(0, dtype=dtype, device="cpu").numpy().dtype


def _as_array(array: Any, *args: Any, **kwargs: Any) -> Any:
    return array


def _cast(array: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
    return array if dtype is None else array.astype(dtype)


def _as_list(array: Any) -> Any:
    return array.tolist()


def _formatted(array: Any, specification: str) -> str:
    return format(array.item() if array.size == 1 else "tensor", specification)


_READINGS: dict[Any, Callable[..., Any]] = {
    torch.Tensor.numpy: _as_array,
    torch.Tensor.__array__: _cast,
    torch.Tensor.tolist: _as_list,
    torch.Tensor.__format__: _formatted,
}


def _elsewhere(device: Any) -> bool:
    """Whether a device is neither the CPU nor meta; a number is one of a GPU."""
    if type(device) is int:
        return True
    if isinstance(device, str):
        device = torch.device(device) if re.fullmatch(r"[a-z]+(:\d+)?", device) else None
    return isinstance(device, torch.device) and device.type not in ("cpu", "meta")
