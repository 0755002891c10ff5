"""Files of programs that mean harm or are damaged: refused with the reason, and no code runs."""

import io
import os
import pickle
import random
import zipfile
from pathlib import Path

import pytest

import nar_plugin
from nar_plugin import NarError, isolation
from nar_plugin.references import as_model

FUZZES = int(os.environ.get("NAR_FUZZ_FILES", "12"))  # mutations of each file


class Runs:
    """Unpickled, it makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def changed(source, target, change):
    """A copy of a zip, with the content of each file changed."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.infolist():
            new.writestr(entry, change(entry.filename, old.read(entry)))
    return target


@pytest.mark.parametrize("kind", ["pt2", "pt"])
def test_a_pickle_never_runs(files, tmp_path, kind):
    mark = tmp_path / "ran"
    attack = pickle.dumps(Runs(mark))

    def change(name, content):
        return attack if name.endswith((".pkl", ".pt")) or "weight" in name[-12:] else content

    hostile = changed(files(kind), tmp_path / f"hostile.{kind}", change)
    try:
        nar_plugin.trace(hostile)
    except NarError as error:
        assert "hostile" in str(error)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("torch.save(x, 'stolen')", "opens files"),
        ("torch.from_file('/etc/passwd')", "opens files"),
        ("ops.mylib.run(x)", "mylib::run"),
        ("__torch__.torch.classes.mylib.Runner()", "torch.classes.mylib"),
    ],
)
def test_a_script_that_would_do_more_than_compute_is_refused(files, tmp_path, call, said):
    def change(name, content):
        return content + f"\n  y = {call}\n".encode() if name.endswith(".py") else content

    with pytest.raises(NarError, match=said):
        as_model(changed(files("pt"), tmp_path / "hostile.pt", change))


def test_a_graph_of_another_operator_is_refused(files, tmp_path):
    def change(name, content):
        return content.replace(b"torch.ops.aten.relu.default", b"torch.ops.aten.from_file.default")

    with pytest.raises(NarError, match=r"hostile\.pt2 cannot be read as .*from_file"):
        as_model(changed(files("pt2"), tmp_path / "hostile.pt2", change))


@pytest.mark.parametrize("kind", ["pt2", "pt"])
def test_a_zip_bomb_is_refused(files, tmp_path, kind):
    bomb = tmp_path / f"bomb.{kind}"
    name = "small/models/model.json" if kind == "pt2" else "small/code/__torch__.py"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, b" " * (300 << 20))
    with pytest.raises(NarError, match=r"bomb\.pt2? cannot be read"):
        as_model(bomb)


def onnx_file(path, nodes, weights=(), inputs=("x",)):
    onnx = pytest.importorskip("onnx")
    made = [onnx.helper.make_tensor_value_info(name, 1, [1, 4]) for name in inputs]
    out = onnx.helper.make_tensor_value_info("y", 1, None)
    graph = onnx.helper.make_graph(nodes, "g", made, [out], list(weights))
    path.write_bytes(onnx.helper.make_model(graph).SerializeToString())
    return path


def test_external_data_outside_the_folder_is_refused(tmp_path):
    onnx = pytest.importorskip("onnx")
    for place in ("../weights", "/etc/passwd", "a/../../b", "C:\\weights"):
        weight = onnx.TensorProto(name="w", data_type=1, dims=[4, 4], data_location=1)
        weight.external_data.add(key="location", value=place)
        node = onnx.helper.make_node("MatMul", ["x", "w"], ["y"])
        with pytest.raises(NarError, match="outside"):
            as_model(onnx_file(tmp_path / "m.onnx", [node], [weight]))


def test_external_data_is_not_needed(tmp_path):
    onnx = pytest.importorskip("onnx")
    weight = onnx.TensorProto(name="w", data_type=1, dims=[4, 7], data_location=1)
    weight.external_data.add(key="location", value="not_there.bin")
    node = onnx.helper.make_node("MatMul", ["x", "w"], ["y"])
    graph = nar_plugin.trace(onnx_file(tmp_path / "m.onnx", [node], [weight]))
    assert (graph.params, graph.ops[0].kind) == (28, "linear")


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([("Relu", "b", "a"), ("Relu", "a", "b"), ("Add", "b", "y")], "before it is made"),
        ([("Mystery", "x", "y")], "Mystery is not known"),
    ],
)
def test_graphs_that_cannot_run_say_why(tmp_path, nodes, said):
    onnx = pytest.importorskip("onnx")
    made = [onnx.helper.make_node(kind, [given], [result]) for kind, given, result in nodes]
    with pytest.raises(NarError, match=said):
        as_model(onnx_file(tmp_path / "m.onnx", made))


def mutated(content, random_):
    """The content with some bytes changed, cut, or repeated."""
    content = bytearray(content)
    way = random_.randrange(4)
    place = random_.randrange(len(content))
    if way == 0:
        return bytes(content[:place])
    if way == 1:
        length = random_.randrange(1, 2000)
        content[place : place + length] = content[:length]
    for _ in range(random_.choice((1, 8, 64))):
        content[random_.randrange(len(content))] = random_.choice((0, 255, 127, 128, 1))
    return bytes(content)


def in_json(source, random_):
    """A `.pt2` with a mutation in its graph, so that the zip's checksums hold."""
    buffer = io.BytesIO()
    changed(
        source, buffer, lambda name, data: mutated(data, random_) if "model.json" in name else data
    )
    return buffer.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pt2", "pt", "onnx"])
def test_whatever_the_bytes_are_there_is_an_answer_or_an_error(files, tmp_path, kind, monkeypatch):
    monkeypatch.setenv("NAR_TRACE_SECONDS", "15")
    source, random_ = files(kind), random.Random(0)
    monkeypatch.setattr(isolation._State, "stays", not isolation.FORKS)  # a child has the bounds
    content = source.read_bytes()
    for number in range(FUZZES):
        inside = kind == "pt2" and number % 2
        path = tmp_path / f"fuzz.{kind}"
        path.write_bytes(in_json(source, random_) if inside else mutated(content, random_))
        try:
            nar_plugin.trace(path)
        except NarError as error:
            assert str(error)
