"""`find_similar` on every `nn.Module` changes nothing about the modules themselves."""

import abc
import copy
import dataclasses
import functools
import gc
import inspect
import io
import logging
import pickle
import sys
import types
import typing
import weakref
from contextlib import contextmanager

import pytest
import torch
from models import ConvNet
from torch import nn

import nar_plugin
from nar_plugin import NarError, attachment

IMAGE = torch.ones(1, 3, 8, 8)


@pytest.fixture(autouse=True)
def attached():
    nar_plugin.attach()
    yield
    nar_plugin.detach()
    nar_plugin.attach()


@pytest.fixture
def answer(monkeypatch):
    """The api answers with what it was asked, without a trace."""
    fake = types.ModuleType("nar_plugin.api")
    fake.find_similar = lambda model, k=10, **rest: (type(model).__name__, k, rest)
    monkeypatch.setattr(nar_plugin, "api", fake, raising=False)
    monkeypatch.setitem(sys.modules, "nar_plugin.api", fake)
    return fake


@pytest.fixture
def index(tmp_path):
    """A folder with an untrained encoder and an index of three small models."""
    from nar_plugin.encoder import ArchitectureEncoder, encoder_sha256, save_encoder
    from nar_plugin.index import ArchitectureIndex, ArchitectureRow
    from nar_plugin.tracing.fingerprint import FINGERPRINT_VERSION

    torch.manual_seed(0)
    save_encoder(ArchitectureEncoder(0), tmp_path)
    rows = [
        ArchitectureRow(name, (name,), "mine", "net", "task", 1, 1, f"nar:{name}", name, "MIT")
        for name in ("mine:a", "mine:b", "mine:c")
    ]
    sha256 = encoder_sha256(tmp_path)
    versions = {"tracer": "1", "fingerprint": FINGERPRINT_VERSION}
    vectors = torch.randn(3, 512).numpy()
    ArchitectureIndex.from_rows(rows, vectors, "mine", sha256, **versions).save(tmp_path)
    yield tmp_path
    nar_plugin.clear_cache()


@contextmanager
def no_collector():
    """Only reference counting frees, as for a person who watches the GPU's memory."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def same_output(one, other):
    return torch.equal(one.eval()(IMAGE), other.eval()(IMAGE))


def plain_state(model):
    return {name: set(vars(part)) for name, part in model.named_modules()}


# The call


def test_the_method_is_the_function(answer):
    model = ConvNet()
    rest = {"index": "here", "where": {"library": "timm"}, "example_inputs": IMAGE}
    rest |= {"distinct": "graph", "at": "layers"}
    assert model.find_similar(3, **rest) == ("ConvNet", 3, rest)
    nothing = {"index": None, "where": None, "example_inputs": None, "at": None}
    nothing["distinct"] = "backbone"
    assert model.find_similar() == ("ConvNet", 10, nothing)
    assert nn.Module.find_similar(model, k=2) == ("ConvNet", 2, nothing)


def test_the_signature_is_that_of_the_documented_function():
    documented = dict(inspect.signature(nar_plugin.find_similar).parameters)
    del documented["trace"]  # of a name; a model is always traced
    attached = inspect.signature(nn.Module.find_similar).parameters
    bound = inspect.signature(ConvNet().find_similar).parameters
    kinds = [(p.name, p.kind, p.default) for p in documented.values()]
    assert [(p.name, p.kind, p.default) for p in attached.values()] == kinds
    assert [(p.name, p.kind, p.default) for p in bound.values()] == kinds[1:]
    assert "architectures" in nn.Module.find_similar.__doc__
    assert ConvNet().find_similar.__doc__ == nn.Module.find_similar.__doc__


def test_an_attribute_error_inside_stays_visible(answer):
    class Asking(nn.Module):
        @property
        def similar(self):
            return self.find_similar()

    def broken(model, k=10, **rest):
        return None.shape

    answer.find_similar = broken
    with pytest.raises(RuntimeError, match=r"NoneType.*shape") as caught:
        _ = Asking().similar
    assert isinstance(caught.value.__cause__, AttributeError)


def test_other_errors_come_through_as_they_are(answer):
    def broken(model, k=10, **rest):
        raise NarError("no")

    answer.find_similar = broken
    with pytest.raises(NarError, match=r"^no$"):
        ConvNet().find_similar()


def test_the_real_search_frees_the_model(index):
    model = ConvNet()
    model.find_similar(k=3, index=index)  # what is cached for later is cached now
    before = plain_state(model)
    with no_collector():
        result = model.find_similar(k=3, index=index)
        assert plain_state(model) == before
        gone = weakref.ref(model)
        parameter = weakref.ref(model.head.weight)
        del model
        assert gone() is None
        assert parameter() is None
    assert [hit.rank for hit in result] == [1, 2, 3]


# What a model is and does stays the same


@pytest.fixture(params=[False, True], ids=["untouched", "accessed"])
def model(request, answer):
    """A model as it was made, and one whose method was fetched and called."""
    torch.manual_seed(0)
    model = ConvNet()
    if request.param:
        assert model.find_similar.__self__ is model
        model.find_similar(k=1)
    return model


def test_nothing_is_stored(model):
    nar_plugin.detach()
    before = plain_state(ConvNet())
    assert plain_state(model) == before
    assert list(model.state_dict()) == list(ConvNet().state_dict())
    nar_plugin.attach()
    assert plain_state(model) == before
    assert list(model.state_dict()) == list(ConvNet().state_dict())
    assert repr(model) == repr(ConvNet())


def test_deepcopy(model):
    twin = copy.deepcopy(model)
    assert twin.find_similar.__self__ is twin
    assert same_output(twin, model)


def test_pickle(model):
    data = pickle.dumps(model)
    assert b"nar_plugin" not in data
    nar_plugin.detach()
    assert len(pickle.dumps(model)) == len(data)
    twin = pickle.loads(data)  # where nar-plugin is not attached, too
    assert not hasattr(twin, "find_similar")
    assert same_output(twin, model)


def test_save_and_load(model):
    file = io.BytesIO()
    torch.save(model, file)
    assert b"nar_plugin" not in file.getvalue()
    file.seek(0)
    assert same_output(torch.load(file, weights_only=False), model)
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    other = ConvNet()
    other.load_state_dict(torch.load(file, weights_only=True))
    assert same_output(other, model)


def test_the_bound_method_can_be_pickled(answer):
    assert pickle.loads(pickle.dumps(ConvNet().find_similar))()[0] == "ConvNet"


@pytest.mark.parametrize("backend", ["eager", pytest.param("aot_eager", marks=pytest.mark.slow)])
def test_compile(model, backend):
    torch.compiler.reset()
    compiled = torch.compile(model, fullgraph=True, backend=backend)
    assert torch.allclose(compiled(IMAGE), model(IMAGE))
    assert compiled.find_similar.__self__ is compiled


def test_attaching_recompiles_nothing():
    torch.compiler.reset()
    nar_plugin.detach()
    model = ConvNet().eval()
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    compiled(IMAGE)
    with torch.compiler.set_stance("fail_on_recompile"):
        nar_plugin.attach()
        compiled(IMAGE)
        nar_plugin.detach()
        compiled(IMAGE)


def test_export(model):
    model.eval()
    exported = torch.export.export(model, (IMAGE,))
    assert torch.allclose(exported.module()(IMAGE), model(IMAGE))
    assert "nar_plugin" not in str(exported.graph)


def test_script_trace_and_fx(model):
    model.eval()
    module = nn.Sequential(model.stem, model.norm, model.act)
    expected = module(IMAGE)
    for other in (
        torch.jit.script(module),
        torch.jit.trace(module, (IMAGE,)),
        torch.fx.symbolic_trace(module),
    ):
        assert torch.allclose(other(IMAGE), expected)


@pytest.mark.parametrize("use", ["nothing", "access", "call"])
def test_del_frees_at_once(answer, use):
    with no_collector():
        model = ConvNet()
        if use == "access":
            assert callable(model.find_similar)
        if use == "call":
            model.find_similar(k=3)
        gone = weakref.ref(model)
        del model
        assert gone() is None


# What a user calls find_similar


class Method(nn.Module):
    def find_similar(self, k):
        return "mine", k


class OwnProperty(nn.Module):
    @property
    def find_similar(self):
        return "mine"


class Slotted(nn.Module):
    __slots__ = ("find_similar",)


class ClassAttribute(nn.Module):
    find_similar = "mine"


class Delegating(nn.Module):
    """A wrapper, as many libraries have it: what it does not know, the model inside may."""

    def __init__(self, inside):
        super().__init__()
        self.inside = inside

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.inside, name)


def test_a_subclass_s_own_method_wins():
    assert Method().find_similar(3) == ("mine", 3)
    assert OwnProperty().find_similar == "mine"
    assert ClassAttribute().find_similar == "mine"


def test_a_slot_wins():
    model = Slotted()
    model.find_similar = "mine"
    assert model.find_similar == "mine"


@pytest.mark.parametrize("value", ["text", torch.ones(3), print], ids=["text", "tensor", "call"])
def test_a_plain_attribute_wins(value):
    model = ConvNet()
    model.find_similar = value
    assert model.find_similar is value
    assert str(copy.deepcopy(model).find_similar) == str(value)
    del model.find_similar
    assert model.find_similar.__func__ is attachment.find_similar


class Submodule(nn.Module):
    def __init__(self):
        super().__init__()
        self.find_similar = nn.Linear(4, 4)

    def forward(self, x):
        return self.find_similar(x)


def test_a_submodule_wins(tmp_path):
    model = Submodule()
    assert type(model.find_similar) is nn.Linear
    assert list(model.state_dict()) == ["find_similar.weight", "find_similar.bias"]
    x = torch.ones(2, 4)
    torch.compiler.reset()
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    assert torch.equal(compiled(x), model.find_similar(x))
    twin = pickle.loads(pickle.dumps(model))
    assert torch.equal(twin(x), model(x))
    model.find_similar = None
    assert model.find_similar is None


def with_buffer():
    model = nn.Module()
    model.register_buffer("find_similar", torch.ones(3))
    return model


def with_parameter():
    model = nn.Module()
    model.find_similar = nn.Parameter(torch.ones(3))
    return model


@pytest.mark.parametrize("make", [with_buffer, with_parameter])
def test_a_buffer_or_parameter_made_before_wins(make):
    nar_plugin.detach()
    model = make()
    nar_plugin.attach()
    assert torch.equal(model.find_similar, torch.ones(3))
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert torch.equal(twin.find_similar, torch.ones(3))
    model.load_state_dict({"find_similar": torch.zeros(3)})
    assert torch.equal(model.find_similar, torch.zeros(3))


@pytest.mark.parametrize(
    "make", [with_buffer, with_parameter, lambda: nn.ModuleDict({"find_similar": nn.ReLU()})]
)
def test_a_registration_while_attached_fails_loudly(make):
    with pytest.raises(KeyError, match="find_similar"):
        make()
    nar_plugin.detach()
    make()


def test_a_wrapper_that_passes_the_name_on():
    wrapper = Delegating(ConvNet())
    assert wrapper.find_similar.__self__ is wrapper, "the whole is asked about, not its inside"
    assert Delegating(Method()).find_similar(3) == ("mine", 3)
    assert type(Delegating(Submodule()).find_similar) is nn.Linear


def test_a_compiled_model_s_own_method_wins():
    assert torch.compile(Method()).find_similar(3) == ("mine", 3)


def test_a_getattr_that_raises_anything_else():
    class Broken(nn.Module):
        def __getattr__(self, name):
            raise RuntimeError("not initialised")

    model = Broken.__new__(Broken)
    assert model.find_similar.__self__ is model


def test_a_model_before_its_init_is_run():
    model = ConvNet.__new__(ConvNet)
    assert model.find_similar.__self__ is model


# A mixin after nn.Module, which comes first in the order of classes


class Mixin:
    def find_similar(self, k):
        return "mine", k


class Classmethod:
    @classmethod
    def find_similar(cls, k):
        return cls.__name__, k


class Staticmethod:
    @staticmethod
    def find_similar(k):
        return "mine", k


class Property:
    @property
    def find_similar(self):
        return lambda k: (type(self).__name__, k)


class Descriptor:
    """Not a function: it binds itself, as functools.partialmethod does."""

    find_similar = functools.partialmethod(lambda self, word, k: (word, k), "mine")


class Plain:
    find_similar = "mine"


@pytest.mark.parametrize(
    ("mixin", "word"),
    [
        (Mixin, "mine"),
        (Classmethod, "Model"),
        (Staticmethod, "mine"),
        (Property, "Model"),
        (Descriptor, "mine"),
    ],
)
def test_a_mixin_s_own_method_wins(mixin, word):
    model = type("Model", (nn.Module, mixin), {})()
    assert model.find_similar(3) == (word, 3)
    assert copy.deepcopy(model).find_similar(3) == (word, 3)
    assert Delegating(model).find_similar(3) == (word, 3)


def test_a_mixin_s_value_wins():
    assert type("Model", (nn.Module, Plain), {})().find_similar == "mine"


def test_a_mixin_s_own_method_wins_on_the_class():
    class Model(nn.Module, Mixin):
        pass

    class OfClass(nn.Module, Classmethod):
        pass

    assert Model.find_similar is Mixin.find_similar
    assert OfClass.find_similar(3) == ("OfClass", 3)
    assert type("Model", (nn.Module, Property), {}).find_similar is vars(Property)["find_similar"]
    assert type(nn.Module.find_similar) is attachment._Attached


def test_super_reaches_the_mixin():
    class Model(nn.Module, Mixin):
        def find_similar(self, k):
            return super().find_similar(k + 1)

    class OfClass(nn.Module, Classmethod):
        @classmethod
        def find_similar(cls, k):
            return super().find_similar(k + 1)

    assert Model().find_similar(3) == ("mine", 4)
    assert OfClass.find_similar(3) == ("OfClass", 4)


def test_super_reaches_ours(answer):
    class Model(nn.Module):
        def find_similar(self, k=2):
            return super().find_similar(k)

    assert Model().find_similar()[:2] == ("Model", 2)


def test_an_abstract_method_of_a_mixin_stays_abstract():
    class Searchable(abc.ABC):
        @abc.abstractmethod
        def find_similar(self, k): ...

    class Model(nn.Module, Searchable):
        pass

    class Whole(Model):
        def find_similar(self, k):
            return "mine", k

    with pytest.raises(TypeError, match="abstract"):
        Model()
    assert Whole().find_similar(3) == ("mine", 3)


def test_every_model_meets_a_protocol_of_the_method():
    @typing.runtime_checkable
    class Searchable(typing.Protocol):
        def find_similar(self, k): ...

    assert isinstance(ConvNet(), Searchable)


def test_a_metaclass_s_own_method_wins_on_the_class():
    class Kind(type):
        def find_similar(cls, k):
            return cls.__name__, k

    class Model(nn.Module, metaclass=Kind):
        pass

    assert Model.find_similar(3) == ("Model", 3)
    assert Model().find_similar.__func__ is attachment.find_similar


def test_a_property_that_raises_asks_getattr_as_ever():
    class Failing:
        @property
        def find_similar(self):
            raise AttributeError("not yet")

    class Model(nn.Module, Failing):
        def __getattr__(self, name):
            return f"instead of {name}"

    assert Model().find_similar == "instead of find_similar"


def test_torch_takes_a_model_with_a_mixin():
    class Model(nn.Module, Mixin):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            return self.layer(x).relu()

    model, x = Model(), torch.ones(2, 4)
    torch.compiler.reset()
    for other in (
        torch.jit.script(model),
        torch.jit.trace(model, (x,)),
        torch.fx.symbolic_trace(model),
        torch.compile(model, fullgraph=True, backend="eager"),
    ):
        assert torch.allclose(other(x), model(x))
    assert torch.compile(model).find_similar(3) == ("mine", 3)
    assert nn.DataParallel(model).find_similar.__func__ is attachment.find_similar


# A class that declares the name without a value


@dataclasses.dataclass(eq=False)
class Fields(nn.Module):
    find_similar: int
    more: int = 2

    def __post_init__(self):
        super().__init__()


def test_a_field_of_a_dataclass_has_no_default():
    with pytest.raises(TypeError, match="find_similar"):
        Fields()
    assert Fields(5).find_similar == 5
    assert dataclasses.fields(Fields)[0].default is dataclasses.MISSING
    assert not hasattr(Fields, "find_similar")
    twin = pickle.loads(pickle.dumps(Fields(5)))
    assert (twin.find_similar, twin.more) == (5, 2)


def test_a_field_with_a_default_keeps_it():
    @dataclasses.dataclass(eq=False)
    class Defaults(Fields):
        find_similar: int = 7

    assert Defaults().find_similar == 7


def test_fields_of_attrs_have_no_default():
    attrs = pytest.importorskip("attrs")

    @attrs.define(eq=False, slots=False)
    class Model(nn.Module):
        find_similar: int

        def __attrs_pre_init__(self):
            super().__init__()

    with pytest.raises(TypeError, match="find_similar"):
        Model()
    assert Model(5).find_similar == 5


class Declared(nn.Module):
    find_similar: torch.Tensor


def test_a_declared_name_is_the_class_s_own():
    with pytest.raises(AttributeError, match="'Declared' object has no attribute 'find_similar'"):
        _ = Declared().find_similar
    model = Declared()
    model.register_buffer("find_similar", torch.ones(3))
    assert torch.equal(model.find_similar, torch.ones(3))
    assert torch.equal(copy.deepcopy(model).find_similar, torch.ones(3))


# Attach and detach


def test_round_trip():
    before = dict(vars(nn.Module))
    nar_plugin.detach()
    assert not hasattr(ConvNet(), "find_similar")
    nar_plugin.detach()
    nar_plugin.attach()
    attached = vars(nn.Module)["find_similar"]
    nar_plugin.attach()
    assert vars(nn.Module)["find_similar"] is attached
    assert vars(nn.Module).keys() == before.keys()
    assert not any("nar_plugin" in type(finder).__module__ for finder in sys.meta_path)


def test_another_library_s_method_is_left_alone(monkeypatch, caplog):
    def theirs(self):
        return "theirs"

    nar_plugin.detach()
    monkeypatch.setattr(nn.Module, "find_similar", theirs, raising=False)
    with pytest.raises(NarError, match=r"theirs.*nar_plugin\.find_similar"):
        nar_plugin.attach()
    nar_plugin.detach()
    assert ConvNet().find_similar() == "theirs"
    with caplog.at_level(logging.WARNING, "nar_plugin"):
        attachment.attach_on_import()
    assert "theirs" in caplog.text
    monkeypatch.undo()


def test_a_reloaded_package_replaces_its_older_self(answer):
    import importlib

    importlib.reload(attachment)
    attachment.attach()
    assert type(vars(nn.Module)["find_similar"]) is attachment._Attached
    assert ConvNet().find_similar()[0] == "ConvNet"
    attachment.detach()
    assert not hasattr(nn.Module, "find_similar")
