"""Plugins from real distributions: loaded, asked, failing, disabled."""

import gc
import importlib.util
import logging
import re
import subprocess
import sys
import textwrap
import threading
import types
import weakref
from pathlib import Path

import pytest
from torch import nn

from nar_plugin import PluginError, hookspecs, manager
from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance
from nar_plugin.manager import call_each, list_plugins
from nar_plugin.references import resolve
from nar_plugin.tracing import trace

HOOKS = Path(__file__).parents[1] / "hooks"
HEADER = """
from nar_plugin import hookimpl
from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance
"""
GOOD = """
@hookimpl
def nar_provenance(model):
    return Provenance("good:net", "good")

@hookimpl
def nar_example_inputs(model):
    yield ExampleInputs((1,))
    yield ExampleInputs((2,))

@hookimpl
def nar_architectures():
    return [NamedArchitecture("good:net", "good", "net", "task", "MIT")]
"""
FIRST = {"nar_provenance", "nar_example_inputs"}


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    for name in ("NAR_DISABLE_PLUGINS", "NAR_STRICT"):
        monkeypatch.delenv(name, raising=False)
    manager.reset()
    yield
    monkeypatch.undo()
    manager.reset()


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put a distribution with one plugin on sys.path: `install("mine", source)`."""
    monkeypatch.syspath_prepend(tmp_path)
    modules = []

    def put(name, source, *, target=""):
        module = f"nar_test_{name}"
        modules.append(module)
        (tmp_path / f"{module}.py").write_text(HEADER + textwrap.dedent(source))
        folder = tmp_path / f"{module}-1.2.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.2\n")
        entry = f"[nar_plugin]\n{name} = {module}{target}\n"
        (folder / "entry_points.txt").write_text(entry)
        monkeypatch.syspath_prepend(tmp_path)  # forgets what importlib has cached
        manager.reset()
        return module

    yield put
    for module in modules:
        sys.modules.pop(module, None)


def info(name):
    (found,) = (plugin for plugin in list_plugins() if plugin.name == name)
    return found


def answers(hook_name, **arguments):
    return dict(call_each(hook_name, **arguments))


# Loading


def test_the_core_asks_for_plugins_and_imports_none():
    package = HOOKS.parent / "nar_plugin"
    hooks = re.compile(r"nar_plugin(\.| import )hooks\b")
    naming = {file for file in package.rglob("*.py") if hooks.search(file.read_text())}
    # A search trains the very cells that its plugin builds from a text; no question does.
    searches = {package / "train" / room for room in ("nge", "vae")}
    assert {file for file in naming if file.parent not in searches} == {package / "manager.py"}


def test_the_built_in_plugins_are_listed_in_the_order_in_which_they_are_asked():
    names = [p.name for p in list_plugins() if p.distribution == "nar-plugin"]
    files = [path.stem for path in HOOKS.iterdir() if not path.stem.startswith("_")]
    assert set(names) == set(files) >= {"diffusers", "timm", "torchvision", "transformers"}
    assert names == [*sorted(set(files) - {"torch"}), "torch"]
    assert info("torch").distribution == "nar-plugin"
    assert info("torch").version


def test_an_external_plugin_is_listed_and_asked_first(install):
    install("zebra", GOOD)
    assert list_plugins()[0] == manager.PluginInfo(
        name="zebra",
        distribution="nar_test_zebra",
        version="1.2",
        status="active",
        hooks=("nar_architectures", "nar_example_inputs", "nar_provenance"),
        error=None,
    )
    asked = [name for name, _ in call_each("nar_example_inputs", model=nn.ReLU())]
    assert asked[0] == "zebra"


def test_an_object_can_be_the_plugin(install):
    source = """
    class Plugin:
        @hookimpl
        def nar_provenance(self, model):
            return Provenance("object:net", "object")

    plugin = Plugin()
    """
    install("object", source, target=":plugin")
    provenance = answers("nar_provenance", model=nn.ReLU())["object"]
    assert provenance == Provenance("object:net", "object")


def test_loading_again_changes_nothing(install):
    module = install("good", GOOD)
    list_plugins()
    del sys.modules[module]
    list_plugins()
    assert module not in sys.modules


def test_threads_load_once(install):
    module = install("slow", "import time; time.sleep(0.2); LOADED = []\n" + GOOD)
    seen = []

    def look():
        list_plugins()
        seen.append(sys.modules[module])

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 4
    assert len(set(map(id, seen))) == 1


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise OSError('no such driver')", "no such driver"),
        ("import nar_test_no_such_module", "nar_test_no_such_module"),
        ("def broken(:", "SyntaxError"),
        ("@hookimpl\ndef nar_provenence(model): pass", "nar_provenence"),
        ("@hookimpl\ndef nar_provenance(modle): pass", "modle"),
        ("@hookimpl\ndef nar_provenance(model=None): pass", "'model' a default"),
        ("@hookimpl\ndef nar_library(): raise OSError('no name')", "no name"),
        ("@hookimpl\ndef nar_library(): return 3", "expected str"),
    ],
    ids=["raises", "missing", "syntax", "hook", "argument", "default", "library", "type"],
)
def test_a_plugin_that_cannot_be_loaded(install, caplog, source, reason):
    install("bad", source)
    install("good", GOOD)
    with caplog.at_level(logging.WARNING, "nar_plugin"):
        list_plugins()
        assert "good" in answers("nar_provenance", model=nn.ReLU())
        assert "bad" not in answers("nar_provenance", model=nn.ReLU())
    (warning,) = (text for text in caplog.messages if "'bad'" in text)
    assert reason in warning
    assert "nar_test_bad 1.2" in warning
    assert "NAR_DISABLE_PLUGINS=bad" in warning
    assert info("bad").status == "failed"
    assert reason in info("bad").error
    assert info("good").status == "active"


def test_strict_raises_what_could_not_be_loaded_every_time(install, monkeypatch):
    install("bad", "raise OSError('no such driver')")
    monkeypatch.setenv("NAR_STRICT", "1")
    for _ in range(2):
        with pytest.raises(PluginError, match=r"'bad' of nar_test_bad 1\.2 .* no such driver"):
            list_plugins()


# Asking


def test_none_is_no_answer(install):
    install("silent", "@hookimpl\ndef nar_provenance(model): return None")
    assert "silent" not in answers("nar_provenance", model=nn.ReLU())
    assert info("silent").status == "active"


def test_several_answers_come_as_a_tuple(install):
    install("good", GOOD)
    inputs = answers("nar_example_inputs", model=nn.ReLU())["good"]
    assert inputs == (ExampleInputs((1,)), ExampleInputs((2,)))
    architectures = answers("nar_architectures")["good"]
    assert architectures == (NamedArchitecture("good:net", "good", "net", "task", "MIT"),)


BROKEN = {
    "call": "@hookimpl\ndef nar_example_inputs(model): raise ValueError('broken')",
    "generator": """
    @hookimpl
    def nar_example_inputs(model):
        yield ExampleInputs((1,))
        raise ValueError('broken')
    """,
    "lazy": """
    @hookimpl
    def nar_example_inputs(model):
        return (ExampleInputs((1 / 0,)) for broken in range(3))
    """,
    "bare": "@hookimpl\ndef nar_example_inputs(model): return ExampleInputs(('broken',))",
    "items": "@hookimpl\ndef nar_example_inputs(model): return ['broken']",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_plugin_that_raises_is_marked_and_the_others_go_on(install, caplog, kind):
    install("bad", BROKEN[kind])
    install("good", GOOD)
    with caplog.at_level(logging.WARNING, "nar_plugin"):
        for _ in range(3):
            given = answers("nar_example_inputs", model=nn.ReLU())
            assert "bad" not in given
            assert len(given["good"]) == 2
    assert len([text for text in caplog.messages if "'bad'" in text]) == 1, "warned once"
    assert "nar_example_inputs" in caplog.text
    assert info("bad").status == "failed"
    assert info("bad").hooks == ("nar_example_inputs",)
    assert info("bad").error


def test_a_plugin_that_failed_once_is_asked_again(install):
    source = """
    @hookimpl
    def nar_provenance(model):
        if model.inplace:
            raise ValueError(f"odd {id(model)}")
        return Provenance("moody:net", "moody")
    """
    install("moody", source)
    assert "moody" not in answers("nar_provenance", model=nn.ReLU(inplace=True))
    assert "moody" in answers("nar_provenance", model=nn.ReLU())
    assert info("moody").status == "failed"


def test_a_failure_does_not_keep_the_model(install):
    install("bad", "@hookimpl\ndef nar_provenance(model): raise ValueError('broken')")
    list_plugins()
    gc.collect()
    gc.disable()
    try:
        model = nn.ReLU()
        answers("nar_provenance", model=model)
        gone = weakref.ref(model)
        del model
        assert gone() is None
    finally:
        gc.enable()


def test_strict_raises_what_a_hook_raised(install, monkeypatch):
    install("bad", BROKEN["generator"])
    list_plugins()
    monkeypatch.setenv("NAR_STRICT", "1")
    with pytest.raises(PluginError, match="nar_example_inputs") as caught:
        answers("nar_example_inputs", model=nn.ReLU())
    assert isinstance(caught.value.__cause__, ValueError)


REFUSING = """
from nar_plugin import PluginError

@hookimpl
def nar_build(name):
    raise PluginError(f"there is no {name}; did you mean mine:net?")
"""


def test_a_refusal_to_build_is_told_when_nobody_else_builds(install, caplog):
    install("bad", REFUSING)
    with pytest.raises(PluginError, match=r"no mine:nett; did you mean mine:net\?"):
        answers("nar_build", name="mine:nett")
    assert info("bad").status == "active"
    assert not [text for text in caplog.messages if "'bad'" in text]
    install("good", "@hookimpl\ndef nar_build(name): return name")
    assert answers("nar_build", name="mine:nett") == {"good": "mine:nett"}


def test_an_error_of_the_one_who_asks_is_not_the_plugin_s(install):
    install("good", GOOD)
    with pytest.raises(ZeroDivisionError):
        for _ in call_each("nar_provenance", model=nn.ReLU()):
            _ = 1 / 0
    assert info("good").status == "active"


def test_stopping_early_asks_no_more(install):
    install("a", GOOD)
    install("b", "ASKED = []\n@hookimpl\ndef nar_provenance(model): ASKED.append(model)")
    next(call_each("nar_provenance", model=nn.ReLU()))
    assert sys.modules["nar_test_b"].ASKED == []


def test_interrupting_is_not_a_failure(install):
    install("long", "@hookimpl\ndef nar_provenance(model): raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        answers("nar_provenance", model=nn.ReLU())
    assert info("long").status == "active"


def test_an_unknown_hook_is_nobody_s_failure():
    with pytest.raises(AttributeError, match="nar_nonsense"):
        answers("nar_nonsense")
    assert {plugin.status for plugin in list_plugins()} == {"active"}


def test_only_the_plugins_of_imported_libraries(install):
    library = '@hookimpl\ndef nar_library(): return "{}"\n'
    install("absent", library.format("nar_test_no_such_library") + GOOD)
    install("present", library.format("json") + GOOD)
    install("general", GOOD)
    model = nn.ReLU()
    for hook_name in sorted(FIRST):
        asked = answers(hook_name, only_imported=True, model=model)
        assert {"present", "general"} <= set(asked)
        assert "absent" not in asked
    assert "absent" in answers("nar_architectures")
    assert [info(name).installed for name in ("absent", "present", "general")] == [
        False,
        True,
        True,
    ]
    assert answers("nar_library")["absent"] == "nar_test_no_such_library"


def test_only_the_plugins_of_some_libraries(install):
    library = '@hookimpl\ndef nar_library(): return "{}"\n'
    install("other", library.format("nar_test_other") + GOOD)
    install("wanted", library.format("nar_test_wanted") + GOOD)
    install("general", GOOD)
    asked = answers("nar_architectures", libraries={"nar_test_wanted"})
    assert {"wanted", "general"} <= set(asked)
    assert "other" not in asked


def test_the_built_in_plugins_import_no_library():
    program = (
        "import sys; from nar_plugin import manager; manager.list_plugins()\n"
        "print(*sys.modules)\n"
        "assert all(plugin.status == 'active' for plugin in manager.list_plugins())"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert not {"torch", "timm", "torchvision", "transformers"} & set(process.stdout.split())


def test_a_built_in_plugin_is_not_imported_before_its_library():
    program = (
        "import sys, torch, nar_plugin\n"
        "from nar_plugin import manager\n"
        "list(manager.call_each('nar_provenance', only_imported=True, model=torch.nn.ReLU()))\n"
        "print(*sys.modules)"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    imported = set(process.stdout.split())
    assert "nar_plugin.hooks.torch" in imported, process.stderr
    assert not {"nar_plugin.hooks.timm", "nar_plugin.hooks.mmdet"} & imported


def test_a_built_in_plugin_is_about_the_library_that_it_is_named_after():
    from nar_plugin import hooks

    named = {plugin.name for plugin in list_plugins() if plugin.distribution == "nar-plugin"}
    libraries = answers("nar_library")
    assert {name: libraries.get(name) for name in named - hooks.OF_MANY} == {
        name: name for name in named - hooks.OF_MANY
    }
    assert hooks.OF_MANY <= named - set(libraries)


# Disabling


@pytest.mark.parametrize("value", ["bad", " other , bad,", "*"])
def test_a_disabled_plugin_is_never_imported(install, monkeypatch, caplog, value):
    module = install("bad", "raise OSError('no such driver')")
    install("good", GOOD)
    monkeypatch.setenv("NAR_DISABLE_PLUGINS", value)
    with caplog.at_level(logging.WARNING, "nar_plugin"):
        list_plugins()
    assert not caplog.messages
    assert module not in sys.modules
    assert info("bad") == manager.PluginInfo("bad", module, "1.2", "disabled")
    assert info("good").status == ("disabled" if value == "*" else "active")


def test_everything_can_be_disabled(monkeypatch):
    monkeypatch.setenv("NAR_DISABLE_PLUGINS", "*")
    assert {plugin.status for plugin in list_plugins()} == {"disabled"}
    assert answers("nar_example_inputs", model=nn.ReLU()) == {}


def test_a_built_in_plugin_can_be_disabled(monkeypatch):
    monkeypatch.setenv("NAR_DISABLE_PLUGINS", "timm")
    assert info("timm").status == "disabled"
    assert info("torch").status == "active"


# The guide for authors

GUIDE = Path(__file__).parents[1] / "docs" / "plugins.md"


LIBRARY = """
from torch import nn

class TinyNet(nn.Conv1d):
    def __init__(self, width):
        super().__init__(64, width, 3)
"""


def imported(name, source, folder, monkeypatch):
    """A library of that source, imported until the test ends."""
    file = folder / f"{name}.py"
    file.write_text(source)
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


class TinyNet(nn.Conv1d):
    """A model of the library that the guide's plugin is for."""

    def __init__(self, width):
        super().__init__(64, width, 3)
        self.name = "small"


def test_the_guide_names_every_hook_with_its_arguments():
    text = GUIDE.read_text()
    for name, value in vars(hookspecs).items():
        if name.startswith("nar_"):
            arguments = value.__code__.co_varnames[: value.__code__.co_argcount]
            assert f"| `{name}({', '.join(arguments)})` |" in text


def test_the_guide_s_catalogue_works(install, monkeypatch, tmp_path):
    (source, *_) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)
    install("tinynets", source)
    assert not info("tinynets").installed
    assert list(answers("nar_architectures")["tinynets"]) == []
    with pytest.raises(PluginError, match="pip install tinynets"):
        answers("nar_build", name="tinynets:small")
    library = imported("tinynets", LIBRARY, tmp_path, monkeypatch)
    assert answers("nar_architectures")["tinynets"][1] == NamedArchitecture(
        name="tinynets:large",
        library="tinynets",
        family="tinynet",
        task="time-series-classification",
        licence="MIT",
        url="https://tinynets.example",
    )
    model = resolve("tinynets:large")
    assert (type(model), model.out_channels) == (library.TinyNet, 32)
    given = answers("nar_provenance", only_imported=True, model=model)["tinynets"]
    assert given == Provenance("tinynets:TinyNet", "tinynets")
    assert trace(model).inputs == "float32[1, 64, 100]"
    with pytest.raises(PluginError, match="tinynets has no architecture named 'huge'"):
        answers("nar_build", name="tinynets:huge")
    assert info("tinynets").status == "active"


def test_the_guide_s_plugin_by_hand_works(install, monkeypatch):
    (_, source, *_) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)
    install("tinynets", source)
    model = TinyNet(16)
    assert "tinynets" not in answers("nar_provenance", only_imported=True, model=model)
    library = types.ModuleType("tinynets")
    library.TinyNet = TinyNet
    monkeypatch.setitem(sys.modules, "tinynets", library)
    given = answers("nar_provenance", only_imported=True, model=model)["tinynets"]
    assert given == Provenance("tinynets:small", "tinynets")
    (inputs,) = answers("nar_example_inputs", only_imported=True, model=model)["tinynets"]
    assert model.to("meta")(*inputs.args).shape == (1, 16, 98)
    names = [architecture.name for architecture in answers("nar_architectures")["tinynets"]]
    assert [type(answers("nar_build", name=name)["tinynets"]) for name in names] == [TinyNet] * 2
    with pytest.raises(PluginError, match="tinynets has no huge; it has small, large"):
        answers("nar_build", name="tinynets:huge")
    assert info("tinynets").status == "active"


def test_a_plugin_is_checked_and_what_does_not_work_is_said(install):
    from typer.testing import CliRunner

    from nar_plugin.cli import app

    install(
        "sound",
        """
        import torch

        @hookimpl
        def nar_library():
            return "json"

        @hookimpl
        def nar_architectures():
            for name in ("whole", "broken"):
                yield NamedArchitecture(f"json:{name}", "nar-sound", "net", "task", "MIT")

        @hookimpl
        def nar_build(name):
            if name == "json:whole":
                return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())
            if name == "json:broken":
                from nar_plugin import PluginError

                raise PluginError("half of it is missing")
        """,
    )
    result = CliRunner().invoke(app, ["plugins", "check", "sound"])
    assert "json:whole: 2 ops, traced (meta); net, task, code: MIT" in result.stdout
    assert "json:broken: half of it is missing" in result.stdout
    assert "2 names are listed, 2 were checked" in result.stdout
    assert str(result.exception) == "1 of 2 failed: json:broken."
    result = CliRunner().invoke(app, ["plugins", "check", "absent"])
    assert "There is no plugin absent" in str(result.exception)
