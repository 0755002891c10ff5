"""The models of docs/benchmarks/files.py, with random weights, and torch's exporters."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cached_property
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import torch
from torch import nn

TIMM = """resnet18 mobilenetv3_small_050 efficientnet_b0 vit_tiny_patch16_224 deit_tiny_patch16_224
convnext_atto regnetx_002 ghostnet_050 swin_tiny_patch4_window7_224 mixer_s32_224 densenet121
mobilenetv2_050 resnet26d seresnet18 edgenext_xx_small repvgg_a0 hrnet_w18_small poolformer_s12
cait_xxs24_224 gmlp_ti16_224 convnextv2_atto resmlp_12_224 xcit_nano_12_p16_224 levit_128s
mobilevit_xxs mobileone_s0 fastvit_t8 tinynet_a lcnet_050 mnasnet_small rexnet_100 efficientvit_b0
resnext50_32x4d res2net50_14w_8s skresnet18 inception_v3 vgg11 dpn68 dla34 nfnet_l0 botnet26t_256
coat_lite_tiny crossvit_tiny_240 pit_ti_224 visformer_tiny pvt_v2_b0 twins_svt_small
tnt_s_patch16_224
starnet_s1 repghostnet_050 beit_base_patch16_224 vovnet39a selecsls42b spnasnet_100 hardcorenas_a
semnasnet_075 mambaout_femto focalnet_tiny_srf davit_tiny maxvit_tiny_tf_224 mobilevitv2_050
efficientformer_l1 gcvit_xxtiny cspresnet50 convmixer_768_32 xception41""".split()
TORCHVISION = """resnet18 alexnet squeezenet1_1 mobilenet_v3_small shufflenet_v2_x0_5 mnasnet0_5
efficientnet_b0 regnet_y_400mf googlenet densenet121 vgg11_bn swin_t convnext_tiny vit_b_32
inception_v3 mobilenet_v2 resnext50_32x4d wide_resnet50_2 swin_v2_t maxvit_t""".split()
TRANSFORMERS = """bert gpt2 t5 vit whisper/WhisperModel distilbert llama bart swin wav2vec2 roberta
gpt_neox mt5 deit hubert albert opt pegasus convnext wavlm electra bloom marian dinov2
speech_to_text mobilebert phi mbart beit data2vec-audio deberta-v2 qwen2 blenderbot segformer sew
mpnet mistral longt5 poolformer unispeech xlm-roberta gemma m2m_100 resnet
audio-spectrogram-transformer
camembert gpt_neo bigbird_pegasus regnet mctct nystromformer qwen3 fsmt mobilevit clap_audio_model
squeezebert codegen prophetnet levit univnet fnet stablelm plbart cvt moonshine convbert
falcon roformer rembert gpt_bigcode xglm yolos vit_mae layoutlm olmo""".split()
_LAYERS = """num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers
num_decoder_layers num_encoder_layers encoder_num_hidden_layers decoder_num_hidden_layers
num_hidden_groups_""".split()
_TOKENS = 1000
LARGEST = 90_000_000  # parameters: each is written five times


def references() -> Iterator[str]:
    """The libraries in turn, so that any first part is balanced."""
    columns = (
        [f"timm:{name}" for name in TIMM],
        [f"torchvision:{name}" for name in TORCHVISION],
        [f"transformers:{name}" for name in TRANSFORMERS],
    )
    return (each for each in chain(*zip_longest(*columns)) if each)


def model_of(reference: str) -> nn.Module:
    """The model with random weights on the CPU."""
    from nar_plugin.references import resolve

    torch.manual_seed(0)
    library, _, name = reference.partition(":")
    if library == "timm":
        import timm

        return timm.create_model(name).eval()
    if library == "torchvision":
        import torchvision

        return (
            torchvision.models.get_model(name, weights=None, init_weights=None).eval()
            if (name in ("googlenet", "inception_v3"))
            else torchvision.models.get_model(name).eval()
        )
    named = resolve(reference)
    config = named.config
    _shorten(config)
    return type(named)(config).eval()


def _shorten(config: Any) -> None:
    for name in _LAYERS:
        if isinstance(getattr(config, name, None), int):
            setattr(config, name, min(2, getattr(config, name)))
    if isinstance(getattr(config, "layer_types", None), list):
        config.layer_types = config.layer_types[:2]
    if isinstance(getattr(config, "attention_layers", None), list):
        config.attention_types = [[["global", "local"], 1]]
        config.attention_layers = ["global", "local"]
    if (getattr(config, "vocab_size", 0) or 0) > _TOKENS:
        config.vocab_size = _TOKENS
        for name in ("pad", "bos", "eos", "decoder_start", "forced_eos", "forced_bos"):
            if isinstance(getattr(config, f"{name}_token_id", None), int):
                setattr(config, f"{name}_token_id", 1)
    config.use_cache = False
    config.return_dict = bool(getattr(config, "is_encoder_decoder", False))


def inputs_of(model: nn.Module) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Real inputs, of the kind with which nar-plugin traces the model."""
    from nar_plugin.tracing.run.attempts import Attempts
    from nar_plugin.tracing.run.inputs import changed, guesses, stated

    attempts = Attempts(model)
    attempts.with_guesses(stated(model))
    found = attempts.accepted or next((guess for guess, _ in guesses(model)), None)
    if found is None:
        raise RuntimeError("no inputs")
    generator = torch.Generator().manual_seed(0)

    def real(tensor: torch.Tensor) -> torch.Tensor:
        if not tensor.is_meta:
            return tensor
        if tensor.is_floating_point():
            return torch.rand(tensor.shape, generator=generator)
        return torch.zeros(tensor.shape, dtype=tensor.dtype)

    args, kwargs = list(changed(tuple(found.args), real)), changed(dict(found.kwargs), real)
    names = list(inspect.signature(model.forward).parameters)
    if kwargs:  # by name alone, as jit.trace wants them
        kwargs |= dict(zip(names, args, strict=False))
        args = []
    kept = {name: value for name, value in kwargs.items() if not isinstance(value, bool)}
    return tuple(args), {name: kept[name] for name in names if name in kept}


def train(model: nn.Module) -> None:
    """Let no two weights be equal, as trained ones never are: exporters keep one of equals."""
    generator = torch.Generator().manual_seed(0)
    for tensor in chain(model.parameters(), model.buffers()):
        if tensor.is_floating_point() and tensor.ndim and not tensor.is_inference():
            tensor.data += 0.01 * torch.rand(tensor.shape, generator=generator)


class ByName(nn.Module):
    """Takes its inputs in order, and hands them on by name."""

    def __init__(self, model: nn.Module, names: list[str]) -> None:
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *given: Any) -> Any:
        """What the model gives for inputs in this order."""
        return self.model(**dict(zip(self.names, given, strict=True)))


class Exports:
    """Writes one model to files; the program of `torch.export` is made once for the formats of it.

    Args:
        model: With its weights.
        args: Positional inputs.
        kwargs: Inputs by name.
    """

    def __init__(self, model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._model, self._args, self._kwargs = model, args, kwargs

    @cached_property
    def _program(self) -> torch.export.ExportedProgram:
        return torch.export.export(self._model, self._args, self._kwargs, strict=False)

    def write(self, kind: str, file: Path) -> None:
        """Write a file of this kind."""
        model, args, kwargs = self._model, self._args, self._kwargs
        if kind == "pt":
            named = {"example_kwarg_inputs": kwargs} if kwargs else {"example_inputs": args}
            traced = torch.jit.trace(model, strict=False, check_trace=False, **named)
            torch.jit.save(traced, file)
        elif kind == "pt2":
            torch.export.save(self._program, file)
        elif kind == "core.pt2":
            torch.export.save(self._program.run_decompositions(), file)
        elif kind == "dynamo.onnx":
            torch.onnx.export(self._program, (), str(file), dynamo=True, verbose=False)
        else:
            if kwargs:  # this exporter gives a keyword its place
                model, args = ByName(model, list(kwargs)).eval(), tuple(kwargs.values())
            torch.onnx.export(model, args, str(file), dynamo=False, verbose=False)
