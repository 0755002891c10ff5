"""keras_cv_attention_models: image models of the years 2019 to 2024, on its own torch backend."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import patch

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn

_PACKAGE = "keras_cv_attention_models"
_TASKS = {
    "gpt2": "text-generation",
    "llama2": "text-generation",
    "efficientdet": "object-detection",
    "yolox": "object-detection",
    "yolor": "object-detection",
    "yolov7": "object-detection",
    "yolov8": "object-detection",
    "yolo_nas": "object-detection",
    "unet": "text-to-image",
    "encoder_decoder": "image-to-image",
}
_ENDINGS = {"_SEG": "image-segmentation", "_CLS": "image-classification"}


def _entries() -> Mapping[str, Entry]:
    import inspect

    with _torch_backend():
        from keras_cv_attention_models import backend, models

    if not backend.is_torch_backend:
        return {}
    entries = {}
    for name, builder in vars(models).items():
        if inspect.isfunction(builder) and name[0].isupper() and _family(builder) != "sam":
            weights = inspect.signature(builder).parameters.keys() & {"pretrained"}
            build = partial(_build, builder, dict.fromkeys(weights))
            entries[name] = Entry(build=build, family=_family(builder), task=_task(builder))
    return entries


@contextmanager
def _torch_backend() -> Iterator[None]:
    """While the library is imported here for the first time: torch, and no word on stdout."""
    chosen = {} if _PACKAGE in sys.modules else {"KECAM_BACKEND": "torch"}
    with patch.dict(os.environ, chosen), redirect_stdout(sys.stderr):
        yield


def _build(builder: Callable[..., nn.Module], options: Mapping[str, None]) -> nn.Module:
    import torch
    from keras_cv_attention_models.backend import layers

    shape_of: Callable[..., Sequence[int]] = layers.Lambda.compute_output_shape

    def on_cpu(layer: nn.Module, shape: Sequence[int]) -> Sequence[int]:
        with torch.device("cpu"):  # it runs an empty batch, which torch does not upsample on meta
            return shape_of(layer, shape)

    with redirect_stdout(sys.stderr), patch.object(layers.Lambda, "compute_output_shape", on_cpu):
        model = builder(**options)
    _unlink(cast("Any", model).inputs)
    return model


def _unlink(nodes: Iterable[Any]) -> None:
    """Leave each node the names of its neighbours, by which a model runs, and each layer no nodes.

    Their links make a chain as long as the model is deep, too deep to be copied.
    """
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if isinstance(node, str):  # of a neighbour that was here before
            continue
        pending += (*node.pre_nodes, *node.next_nodes)
        if hasattr(node, "layer"):
            vars(node.layer).update(input=None, inputs=[])
        node.pre_nodes, node.next_nodes = list(node.pre_node_names), []


def _family(builder: Callable[..., nn.Module]) -> str:
    return str(builder.__module__).rpartition(".")[2]


def _task(builder: Callable[..., nn.Module]) -> str:
    by_ending = (task for ending, task in _ENDINGS.items() if builder.__name__.endswith(ending))
    return next(by_ending, _TASKS.get(_family(builder), "image-classification"))


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    shapes = getattr(model, "input_shape", (None, 3, 224, 224))
    shapes = shapes if isinstance(shapes, list) else [shapes]
    found = []
    for shape in shapes:
        found.append(torch.empty([side or 224 for side in (1, *shape[1:])], device="meta"))
    return [ExampleInputs((found if len(found) > 1 else found[0],))]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package=_PACKAGE,
    distribution="keras-cv-attention-models",
    licence="MIT",
    url="https://github.com/leondgarse/keras_cv_attention_models",
    entries=_entries,
    inputs=_inputs,
).hooks()
