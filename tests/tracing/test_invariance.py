"""One design has one fingerprint, whatever the model was built on, wrapped in, or run with."""

import copy
import io

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrize
from tracing.invariant_models import ALL, QUICK

from nar_plugin.tracing import trace


def fingerprint(subject, model=None, batch=1):
    model = subject.new() if model is None else model
    return trace(model, subject.inputs(batch)).fingerprint


def trained(subject):
    return fingerprint(subject, subject.new().train())


def evaluated(subject):
    return fingerprint(subject, subject.new().eval())


def half_precision(subject):
    return fingerprint(subject, subject.new().to(torch.bfloat16))


def without_weights(subject):
    with torch.device("meta"):
        model = subject.new()
    return fingerprint(subject, model)


def batch_of_two(subject):
    return fingerprint(subject, batch=2)


def eager_attention(subject):
    return fingerprint(subject, subject.build(subject.attentions[-1]))


def compiled(subject):
    return fingerprint(subject, torch.compile(subject.new(), backend="aot_eager"))


def saved_and_loaded(subject):
    model, file = subject.new(), io.BytesIO()
    whole = not any(parametrize.is_parametrized(module) for module in model.modules())
    torch.save(model if whole else model.state_dict(), file)  # torch refuses to pickle these
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    if not whole:
        model = subject.new()
        model.load_state_dict(loaded)
    return fingerprint(subject, loaded if whole else model)


def in_a_sequential(subject):
    inputs = subject.inputs(1)
    model = subject.new()
    if isinstance(model, nn.Sequential):  # cut in two
        model = nn.Sequential(model[:2], model[2:])
    elif isinstance(inputs, torch.Tensor):
        model = nn.Sequential(nn.Identity(), nn.Sequential(model, nn.ReLU())[:1])
    return fingerprint(subject, model)


def copied(subject):
    return fingerprint(subject, copy.deepcopy(subject.new()).requires_grad_(False))


ROUTES = [
    trained,
    evaluated,
    half_precision,
    without_weights,
    batch_of_two,
    eager_attention,
    compiled,
    saved_and_loaded,
    in_a_sequential,
    copied,
]
names = pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.__name__)


@pytest.fixture(scope="module")
def reference():
    known = {}

    def of(name):
        if name not in known:
            known[name] = fingerprint(ALL[name])
        return known[name]

    return of


@pytest.fixture
def distributed(tmp_path):
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{tmp_path / 'rendezvous'}", rank=0, world_size=1
    )
    yield
    torch.distributed.destroy_process_group()


@names
@pytest.mark.parametrize("name", QUICK)
def test_the_route_does_not_matter(name, route, reference):
    library = name.split()[0]
    if library in ("timm", "torchvision", "transformers"):
        pytest.importorskip(library)
    assert route(ALL[name]) == reference(name)


@pytest.mark.slow
@names
@pytest.mark.parametrize("name", [name for name in ALL if name not in QUICK])
def test_the_route_does_not_matter_for_many_models(name, route, reference):
    test_the_route_does_not_matter(name, route, reference)


@pytest.mark.parametrize("name", ["hand-written ConvNet", "hand-written NanoGPT"])
def test_in_distributed_training(name, reference, distributed):
    model = nn.parallel.DistributedDataParallel(ALL[name].new())
    assert fingerprint(ALL[name], model) == reference(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_in_distributed_training_for_many_models(name, reference, distributed):
    test_in_distributed_training(name, reference, distributed)


def test_there_are_at_least_forty_models():
    assert len(ALL) >= 40


@pytest.mark.slow
def test_only_two_libraries_twins_are_one_design(reference):
    by_design = {}
    for name in ALL:
        by_design.setdefault(reference(name), set()).add(name)
    assert sorted(sorted(names) for names in by_design.values() if len(names) > 1) == [
        ["timm resnet18", "torchvision resnet18"],
        ["timm swin_tiny", "torchvision swin_t"],
    ]
