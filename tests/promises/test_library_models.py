"""Two hundred models of the libraries, built for real at small size: equal before and after."""

import pytest
import torch
from process import no_child_is_left, random_numbers, seed
from torch import nn
from whole import part

from nar_plugin import api
from nar_plugin.errors import NarError
from nar_plugin.tracing.run import inputs as example

MOST_PARAMETERS = 6_000_000
SMALL = {  # what configs of transformers have in common
    "hidden_size": 32,
    "d_model": 32,
    "n_embd": 32,
    "dim": 32,
    "num_hidden_layers": 2,
    "n_layer": 2,
    "n_layers": 2,
    "num_layers": 2,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "n_head": 4,
    "n_heads": 4,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "intermediate_size": 64,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "ffn_dim": 64,
    "d_ff": 64,
    "d_kv": 8,
    "head_dim": 8,
    "vocab_size": 200,
}


def timm_models(count):
    timm = pytest.importorskip("timm")
    index, found = api.load_index(), 0
    for name in timm.list_models():
        known = index.by_name(f"timm:{name}")
        if known and known[0].params < MOST_PARAMETERS and found < count:
            found += 1
            yield name, timm.create_model(name)


def torchvision_models(count):
    torchvision = pytest.importorskip("torchvision")
    found = 0
    for name in torchvision.models.list_models(module=torchvision.models):
        with torch.device("meta"):
            try:
                model = torchvision.models.get_model(name)
            except (NotImplementedError, RuntimeError):
                continue
        if sum(item.numel() for item in model.parameters()) < 30_000_000 and found < count:
            found += 1
            yield name, torchvision.models.get_model(name)


def transformers_models(count):
    transformers = pytest.importorskip("transformers")
    found = 0
    for kind, config_class in sorted(transformers.CONFIG_MAPPING.items()):
        if found == count:
            return
        try:
            config = config_class()
            for key, value in SMALL.items():
                if type(getattr(config, key, None)) is int:
                    setattr(config, key, value)
            with torch.device("meta"):
                size = sum(
                    item.numel() for item in transformers.AutoModel.from_config(config).parameters()
                )
            if size > MOST_PARAMETERS:
                continue
            model = transformers.AutoModel.from_config(config)
        except Exception:  # sizes that do not go together
            continue
        found += 1
        yield kind, model


def accepted(model):
    """Real arguments that the forward takes, or None."""
    for guess, _ in example.guesses(model):
        args, kwargs = example.on_cpu(guess, [])
        try:
            with torch.no_grad():
                model(*args, **kwargs)
        except Exception:
            continue
        return args, kwargs
    return None


def outputs(model, args, kwargs):
    seed(0)
    with torch.no_grad():
        out = model(*args, **kwargs)
    return flat(out)


def flat(out):
    """The tensors in whatever a forward returns."""
    if isinstance(out, torch.Tensor):
        return [out.clone()]
    if isinstance(out, dict):
        return [item for value in out.values() for item in flat(value)]
    if isinstance(out, list | tuple):
        return [item for value in out for item in flat(value)]
    return []


def unchanged(model: nn.Module) -> bool:
    """Whether it runs on inputs of ours, and a question leaves its outputs as they were."""
    model.eval()
    arguments = accepted(model)
    if arguments is None:
        return False
    expected = outputs(model, *arguments)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    seed(1)
    numbers = random_numbers()
    seed(1)
    try:
        api.find_similar(model, 1)
    except NarError:
        pass
    assert random_numbers() == numbers
    after = outputs(model, *arguments)
    assert len(after) == len(expected) > 0
    assert all(torch.equal(a, b) or a.isnan().any() for a, b in zip(after, expected, strict=True))
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    return True


@pytest.mark.slow
def test_models_of_libraries_answer_as_before():
    checked = []
    counts = (part(count, 4) for count in (130, 90, 20))
    makers = (transformers_models, timm_models, torchvision_models)
    for models in map(lambda make, count: make(count), makers, counts):
        for name, model in models:
            if unchanged(model):
                checked.append(name)
    assert len(checked) >= part(200, 4)
    assert no_child_is_left()
