"""Exports known models to each format, asks the files, and writes docs/benchmarks/files.md.

    python docs/benchmarks/files.py export FOLDER [--seconds N] [--only TEXT]
    python docs/benchmarks/files.py ask FOLDER [--seconds N] [--only TEXT]
    python docs/benchmarks/files.py write FOLDER

`export` and `ask` can be stopped and go on where they were: FOLDER/exports.jsonl and
FOLDER/answers.jsonl say what was done. Models of transformers get two layers and 1,000 tokens.
"""

from __future__ import annotations

import argparse
import gc
import inspect
import json
import re
import signal
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import torch
from torch import nn

HERE = Path(__file__).parent
TIMM = """resnet18 mobilenetv3_small_050 efficientnet_b0 vit_tiny_patch16_224 deit_tiny_patch16_224
convnext_atto regnetx_002 ghostnet_050 swin_tiny_patch4_window7_224 mixer_s32_224 densenet121
mobilenetv2_050 resnet26d seresnet18 edgenext_xx_small repvgg_a0 hrnet_w18_small poolformer_s12
cait_xxs24_224 gmlp_ti16_224 convnextv2_atto resmlp_12_224 xcit_nano_12_p16_224 levit_128s
mobilevit_xxs mobileone_s0 fastvit_t8 tinynet_a lcnet_050 mnasnet_small rexnet_100 efficientvit_b0
resnext50_32x4d res2net50_14w_8s skresnet18 inception_v3 vgg11 dpn68 dla34 nfnet_l0 botnet26t_256
coat_lite_tiny crossvit_tiny_240 pit_ti_224 visformer_tiny pvt_v2_b0 twins_svt_small
tnt_s_patch16_224
starnet_s1 repghostnet_050 beit_base_patch16_224 vovnet39a selecsls42b spnasnet_100 hardcorenas_a
semnasnet_075 mambaout_femto focalnet_tiny_srf davit_tiny maxvit_tiny_tf_224""".split()
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
falcon""".split()
FORMATS = ("pt2", "core.pt2", "dynamo.onnx", "script.onnx", "pt")
SAID = {
    "pt2": ".pt2",
    "core.pt2": ".pt2 after run_decompositions()",
    "dynamo.onnx": "ONNX, dynamo exporter",
    "script.onnx": "ONNX, TorchScript exporter",
    "pt": "TorchScript, traced",
}
_LAYERS = """num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers
num_decoder_layers num_encoder_layers encoder_num_hidden_layers decoder_num_hidden_layers
num_hidden_groups_""".split()
_TOKENS = 1000
_LARGEST = 90_000_000  # parameters: each is written five times


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


def _train(model: nn.Module) -> None:
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


def export(
    model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], kind: str, file: Path
) -> None:
    """Write the model to a file of this kind."""
    if kind == "pt":
        named = {"example_kwarg_inputs": kwargs} if kwargs else {"example_inputs": args}
        traced = torch.jit.trace(model, strict=False, check_trace=False, **named)
        torch.jit.save(traced, file)
    elif kind.endswith("pt2"):
        program = torch.export.export(model, args, kwargs, strict=False)
        program = program.run_decompositions() if kind == "core.pt2" else program
        torch.export.save(program, file)
    else:
        dynamo = kind == "dynamo.onnx"
        if kwargs and not dynamo:  # the older exporter gives a keyword its place
            model, args, kwargs = ByName(model, list(kwargs)), tuple(kwargs.values()), {}
        torch.onnx.export(model, args, str(file), kwargs=kwargs, dynamo=dynamo, verbose=False)


class Log:
    """Lines of JSON that are added one by one, so that a run goes on where it was stopped."""

    def __init__(self, file: Path) -> None:
        self._file = file
        lines = file.read_text().splitlines() if file.exists() else []
        self.rows = [json.loads(line) for line in lines]
        self.done = {(row["model"], row["kind"]) for row in self.rows}

    def add(self, **row: Any) -> None:
        """Keep a row."""
        self.rows.append(row)
        self.done.add((row["model"], row["kind"]))
        with self._file.open("a") as out:
            out.write(json.dumps(row) + "\n")


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raise TimeoutError where the block takes longer."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _problem(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip()}"[:300]


def run_exports(folder: Path, seconds: float, only: str) -> None:
    """Export each model to each format, where that was not done."""
    end, log = time.monotonic() + seconds, Log(folder / "exports.jsonl")
    for reference in references():
        kinds = [kind for kind in FORMATS if (reference, kind) not in log.done]
        if only not in reference or not kinds or time.monotonic() > end:
            continue
        try:
            model = model_of(reference)
            if (size := sum(item.numel() for item in model.parameters())) > _LARGEST:
                raise ValueError(f"left out for its {size / 1e6:.0f}M parameters")
            args, kwargs = inputs_of(model)
            _train(model)
        except Exception as error:
            for kind in kinds:
                log.add(model=reference, kind=kind, problem="not built: " + _problem(error))
            continue
        for kind in kinds:
            if time.monotonic() > end:
                break
            start, file = (
                time.monotonic(),
                folder / f"{reference.replace(':', '.').replace('/', '.')}.{kind}",
            )
            try:
                with at_most(150), torch.no_grad():
                    export(model, args, kwargs, kind, file)
                problem = ""
            except Exception as error:
                problem = _problem(error)
                file.unlink(missing_ok=True)
            took = round(time.monotonic() - start, 1)
            log.add(model=reference, kind=kind, file=file.name, problem=problem, seconds=took)
            print(reference, kind, took, problem[:100], flush=True)
        del model
        gc.collect()


def run_questions(folder: Path, seconds: float, only: str) -> None:
    """Ask each file that was exported, and its module."""
    import nar_plugin

    end, log = time.monotonic() + seconds, Log(folder / "answers.jsonl")
    exported = defaultdict(list)
    for row in Log(folder / "exports.jsonl").rows:
        if not row["problem"]:
            exported[row["model"]].append(row)
    for reference, rows in exported.items():
        rows = [row for row in rows if (reference, row["kind"]) not in log.done]
        if only not in reference or not rows or time.monotonic() > end:
            continue
        try:
            model = model_of(reference)
            args, kwargs = inputs_of(model)
            given = {"example_inputs": kwargs or args}
            own = nar_plugin.trace(model, **given)
            first = nar_plugin.find_similar(model, 1, **given)[0]
        except Exception as error:
            print(reference, "the module itself:", _problem(error), flush=True)
            continue
        for row in rows:
            start = time.monotonic()
            answer: dict[str, Any] = {"model": reference, "kind": row["kind"], "first": first.name}
            try:
                path = folder / row["file"]
                graph = nar_plugin.trace(path)
                hit = nar_plugin.find_similar(path, 1)[0]
                answer |= {
                    "equal": graph.fingerprint == own.fingerprint,
                    "design": graph.design == own.design,
                    "own": hit.name in {first.name, *first.names, *first.variants},
                    "hit": hit.name,
                    "score": round(hit.score, 3),
                    "ops": [len(own), len(graph)],
                    "method": graph.method,
                    "problem": "",
                }
            except Exception as error:
                answer |= {"equal": False, "own": False, "problem": _problem(error)}
            log.add(**answer, seconds=round(time.monotonic() - start, 1))
            print(
                reference,
                row["kind"],
                {k: answer.get(k) for k in ("equal", "own", "hit", "score", "ops", "problem")},
                flush=True,
            )


def write_page(folder: Path, page: Path) -> None:
    """Put the tables between the marks of the page."""
    exports = {(row["model"], row["kind"]): row for row in Log(folder / "exports.jsonl").rows}
    answers = {(row["model"], row["kind"]): row for row in Log(folder / "answers.jsonl").rows}
    lines = [
        "| format | exported | asked | fingerprint equal | first hit as the module's |",
        "|---|---|---|---|---|",
    ]
    causes: list[str] = []
    for kind in FORMATS:
        made = [key for key, row in exports.items() if key[1] == kind and not row["problem"]]
        rows = [answers[key] for key in made if key in answers]
        if not rows:
            continue
        equal, own = (sum(row[name] for row in rows) for name in ("equal", "own"))
        lines.append(
            f"| {SAID[kind]} | {len(made)} | {len(rows)} | {equal} ({equal / len(rows):.0%}) | "
            f"{own} ({own / len(rows):.0%}) |"
        )
        causes += [_cause(row) for row in rows if not row["equal"]]
    lines += [
        "",
        "| model | format | operations, module and file | first hit |",
        "|---|---|---|---|",
    ]
    text = page.read_text()
    start, end = "<!-- tables -->", "<!-- end of tables -->"
    before, _, rest = text.partition(start)
    made_text = "\n".join([start, *lines, *causes, end])
    page.write_text(before + made_text + rest.partition(end)[2])


def _cause(row: dict[str, Any]) -> str:
    found = row["problem"].replace("|", "/").replace("\n", " ")
    found = re.sub(r"/\S+/", "", found)[:160]  # no path of this machine
    ops = " / ".join(map(str, row.get("ops", ()))) or "-"
    hit = found or f"{row['hit']}, {row['score']}{'' if row['own'] else ' (another)'}"
    return f"| {row['model']} | {SAID[row['kind']]} | {ops} | {hit} |"


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("export", "ask", "write"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if given.what == "export":
        run_exports(given.folder, given.seconds, given.only)
    elif given.what == "ask":
        run_questions(given.folder, given.seconds, given.only)
    else:
        write_page(given.folder, HERE / "files.md")


if __name__ == "__main__":
    main()
