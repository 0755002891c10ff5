"""Import a model library, or say which package brings it."""

from __future__ import annotations

from importlib import import_module

from nar_plugin.errors import NarError, PluginError, UnknownReference

PACKAGES = {
    "huggingface_hub": "nar-plugin[transformers]",
    "timm": "nar-plugin[timm]",
    "diffusers": "diffusers",
    "monai": "monai",
    "open_clip": "open_clip_torch",
    "pytorchcv": "pytorchcv",
    "segmentation_models_pytorch": "segmentation-models-pytorch",
    "sentence_transformers": "sentence-transformers",
    "torch_geometric": "torch_geometric",
    "torchvision": "torchvision",
    "transformers": "nar-plugin[transformers]",
    "ultralytics": "ultralytics",
    "vit_pytorch": "vit-pytorch",
    "x_transformers": "x-transformers",
}
# What a library imports only when its first model is built, when the meta device is on.
_LOADED_LATER = {
    "transformers": ("transformers.modeling_utils", "transformers.models.auto.modeling_auto"),
}


class NotInstalled(UnknownReference, PluginError):
    """The library of a reference is not here; an index may know whether it has such a name."""


def want(library: str, *, for_what: str) -> None:
    """Import the library here: on the meta device its own tensors would be lost for good.

    Raises:
        NarError: When it is not installed, with the package to install; or when it is broken.
    """
    try:
        import_module(library)
        for module in _LOADED_LATER.get(library, ()):
            import_module(module)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name == library:
            problem = f"which is not installed: pip install '{PACKAGES[library]}'"
            raise NotInstalled(for_what, f"{for_what} wants {library}, {problem}") from error
        problem = f"whose import failed: {type(error).__name__}: {error}"
        raise NarError(f"{for_what} wants {library}, {problem}") from error
