"""Configs that try to load, fetch or execute; run in the tests and under the lowest versions.

As a program it prints what became of each attack, as JSON: `python config_attacks.py FOLDER`.
"""

import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path

ENDS = "an answer", "a NarError"
_EVENTS = (
    "socket.connect",
    "socket.getaddrinfo",
    "subprocess.Popen",
    "os.system",
    "builtins.input",
)
_SEEN = None


def attacks(folder):
    """Name to config: each wants `pwned` to appear in the folder, or the network to be asked."""
    bad = str(folder / "evil.bin")
    loading = {"checkpoint_path": bad}
    wrapper = {"model_type": "timm_wrapper", "architecture": "resnet18", "num_classes": 10}
    small = {"model_type": "bert", "num_hidden_layers": 1}
    blip = {"model_type": "blip_text_model", "architectures": [], "num_hidden_layers": 1}
    weights = {"file": bad, "url": "https://evil.example/x", "hf_hub_id": "evil/model"}
    return {
        "checkpoint of timm_wrapper": {
            **{**wrapper, "architectures": ["TimmWrapperModel"], "model_args": loading},
        },
        "checkpoint of a timm file": {
            "architecture": "resnet18",
            "pretrained_cfg": {"num_classes": 10},
            "model_args": loading,
        },
        "weights of a timm file": {
            **{"architecture": "resnet18", "pretrained_cfg": weights},
            "model_args": {"pretrained": True, "cache_dir": str(folder)},
        },
        "custom load of a timm file": {
            "architecture": "vit_tiny_patch16_224",
            "pretrained_cfg": {"custom_load": True, "file": bad},
            "model_args": {"pretrained": True},
        },
        "another repository": {"architecture": "hf-hub:evil/model", "pretrained_cfg": {}},
        "another repository, wrapped": {**wrapper, "architecture": "hf_hub:evil/model"},
        "another folder": {**wrapper, "architecture": f"local-dir:{folder}"},
        "a folder with a line break": {**wrapper, "architecture": f"local-\ndir:{folder}"},
        "backbone from the Hub": {"model_type": "timm_backbone", "backbone": "hf-hub:evil/model"},
        "pretrained backbone": {
            **{"model_type": "timm_backbone", "backbone": "resnet18"},
            "use_pretrained_backbone": True,
        },
        "backbone of transformers": {
            **{"model_type": "detr", "backbone": "evil/model", "use_timm_backbone": False},
        },
        "backbone without an owner": {
            **{"model_type": "detr", "backbone": "gpt2", "use_timm_backbone": False},
        },
        "backbone with arguments": {
            **{"model_type": "detr", "backbone": "resnet18", "use_pretrained_backbone": True},
            "backbone_kwargs": {"out_indices": [1, 2], "checkpoint_path": bad},
        },
        "nested": {
            **{"model_type": "vision-encoder-decoder", "decoder": {**small, "is_decoder": True}},
            "encoder": {**wrapper, "model_args": loading, "hidden_size": 512},
        },
        "code of its own": {**blip, "auto_map": {"AutoModel": "code.Evil"}},
        "code of a config": {**blip, "auto_map": {"AutoConfig": "code.Evil"}},
        "code of a type of its own": {
            "model_type": "evil",
            "auto_map": {"AutoConfig": "code.Evil"},
        },
        "code of a repository": {**blip, "auto_map": {"AutoModel": "evil/repo--code.Evil"}},
        "code by trust": {
            **{**blip, "auto_map": {"AutoModel": "code.Evil"}, "trust_remote_code": True},
        },
        "kernels of the Hub": {**small, "attn_implementation": "evil/kernels"},
        "kernels of the community": {
            **small,
            "_attn_implementation": "kernels-community/flash-attn2",
        },
        "kernels of each part": {**small, "attn_implementation": {"": "evil/kernels:attend"}},
        "flash attention": {
            **small,
            "attn_implementation": "flash_attention_2",
            "use_kernels": True,
        },
        "kernels of experts": {
            **{"model_type": "mixtral", "num_hidden_layers": 1},
            "experts_implementation": "evil/kernels",
        },
        "quantization": {**small, "quantization_config": {"quant_method": "bitsandbytes"}},
        "another file": {**small, "configuration_files": [bad], "gguf_file": bad},
        "a dtype that is a function": {**small, "dtype": "load"},
        "an architecture that is a function": {**small, "architectures": ["pipeline"]},
        "an activation that is a path": {**small, "hidden_act": bad},
    }


def prepare(folder):
    """Put the files there that an attack would run."""
    import torch

    marker = folder / "pwned"
    torch.save(_Evil(str(marker)), folder / "evil.bin")
    (folder / "code.py").write_text(f"open({str(marker)!r}, 'w').close()\nclass Evil: ...\n")


class _Evil:
    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return open, (self.marker, "w")


@contextmanager
def effects(folder):
    """A list of all that is opened in the folder, connected to, started, asked or written."""
    global _SEEN
    if _SEEN is None:
        sys.addaudithook(_hook)
    _SEEN = (folder, seen := [])
    try:
        yield seen
    finally:
        _SEEN = (None, [])


def _hook(event, args):
    folder, seen = _SEEN or (None, [])
    if folder is None:
        return
    if event in _EVENTS:
        seen.append(f"{event} {args!r}"[:200])
    if event == "open" and isinstance(args[0], str) and "__pycache__" not in args[0]:
        inside = args[0].startswith(f"{folder}{os.sep}") and not args[0].endswith("config.json")
        writes = args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and args[0] != os.devnull
        if inside or writes:
            seen.append(f"{'write' if writes else 'read'} {args[0]}")  # os.open tells no mode


def outcome(ask, folder):
    """How a question ends, and what it did besides."""
    from nar_plugin.errors import NarError

    with effects(folder) as seen:
        try:
            ask()
            end = ENDS[0]
        except NarError:
            end = ENDS[1]
        except BaseException as error:
            end = f"{type(error).__name__}: {error}"[:300]
    if (folder / "pwned").exists():
        seen.append("the attack ran")
    return end, seen


def main(folder):
    """Run every attack by its path, and print the outcomes."""
    from nar_plugin.references import as_model

    prepare(folder)
    outcomes = {}
    for name, config in attacks(folder).items():
        (folder / "config.json").write_text(json.dumps(config))
        outcomes[name] = outcome(lambda: as_model(str(folder)), folder)
    sys.stdout.write(json.dumps(outcomes))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
