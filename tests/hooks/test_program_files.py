import numpy as np
import pytest
import torch
from torch import nn

import nar_plugin
from nar_plugin import NarError
from nar_plugin.references import as_model

from .program_files import KINDS, small


@pytest.fixture(scope="module")
def fingerprint():
    model, inputs = small()
    return nar_plugin.trace(model, example_inputs=inputs).fingerprint


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_the_design_of_its_module(files, fingerprint, kind):
    graph = nar_plugin.trace(files(kind))
    assert graph.fingerprint == fingerprint
    assert graph.params == sum(item.numel() for item in small()[0].parameters())
    assert graph.method == "meta"


class Grouped(nn.Module):
    """Norms of groups, of one group, of a group for each channel, and a scale for each channel."""

    def __init__(self):
        super().__init__()
        norms = [nn.GroupNorm(4, 8), nn.GroupNorm(1, 8), nn.GroupNorm(2, 8, affine=False)]
        self.blocks = nn.ModuleList(nn.Sequential(nn.Conv2d(8, 8, 1), norm) for norm in norms)
        self.scale = nn.Parameter(torch.full((8, 1, 1), 0.1))
        for parameter in self.parameters():  # equal weights would be one weight in the file
            nn.init.normal_(parameter)

    def forward(self, x):
        for block in self.blocks:
            x = x + block(x).relu() * self.scale
        return x


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dynamo", [False, True])
def test_norms_of_groups_are_what_they_were_before_an_export_to_onnx(tmp_path, dynamo):
    pytest.importorskip("onnxscript" if dynamo else "onnx")
    model, inputs = Grouped().eval(), (torch.randn(2, 8, 5, 5),)
    torch.onnx.export(model, inputs, str(tmp_path / "m.onnx"), dynamo=dynamo)
    wanted = nar_plugin.trace(model, example_inputs=inputs)
    assert [op.kind for op in wanted.ops].count("group_norm") == 3
    assert nar_plugin.trace(tmp_path / "m.onnx").fingerprint == wanted.fingerprint


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dynamo", [False, True])
def test_norms_of_groups_of_signals_are_what_they_were_before_an_export_to_onnx(tmp_path, dynamo):
    """With a group for each channel the exporter leaves out the view back."""
    pytest.importorskip("onnxscript" if dynamo else "onnx")
    norms = [nn.GroupNorm(8, 8), nn.GELU(), nn.GroupNorm(4, 8)]
    model, inputs = nn.Sequential(nn.Conv1d(8, 8, 3), *norms).eval(), (torch.rand(2, 8, 9),)
    for parameter in model.parameters():
        nn.init.normal_(parameter)
    torch.onnx.export(model, inputs, str(tmp_path / "m.onnx"), dynamo=dynamo)
    wanted = nar_plugin.trace(model, example_inputs=inputs)
    assert [op.kind for op in wanted.ops] == ["conv", "instance_norm", "gelu", "group_norm"]
    assert nar_plugin.trace(tmp_path / "m.onnx").fingerprint == wanted.fingerprint


@pytest.mark.parametrize("dims", [(8, 1, 1), (8, 1), (8,)])
def test_weights_along_columns_are_not_those_of_a_norm_of_groups(tmp_path, dims):
    """As exporters write a norm of groups by hand: [8, 1, 1] are of channels, [8] of columns."""
    onnx = pytest.importorskip("onnx")
    held = {
        "groups": np.array([0, 2, -1]),
        "back": np.array([1, 8, 8, 8]),
        "one": np.ones(2, np.float32),
        "zero": np.zeros(2, np.float32),
        "scale": np.full(dims, 2, np.float32),
        "shift": np.full(dims, 3, np.float32),
    }
    calls = {
        "Reshape": ("x groups", "a"),
        "InstanceNormalization": ("a one zero", "b"),
        "Reshape ": ("b back", "c"),
        "Mul": ("c scale", "d"),
        "Add": ("d shift", "y"),
    }
    nodes = [
        onnx.helper.make_node(kind.strip(), read.split(), [made])
        for kind, (read, made) in calls.items()
    ]
    ends = (
        [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, (1, 8, 8, 8))]
        for name in "xy"
    )
    weights = [onnx.numpy_helper.from_array(value, name) for name, value in held.items()]
    graph = onnx.helper.make_graph(nodes, "norm", *ends, weights)
    opset = onnx.helper.make_opsetid("", 17)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset]), tmp_path / "m.onnx")
    kinds = [op.kind for op in nar_plugin.trace(tmp_path / "m.onnx").ops]
    assert ("mul" in kinds) == (len(dims) < 3), kinds


class Relative(nn.Module):
    """RMS norms by hand, and attention with a learned bias of relative places, then with none."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(8))
        self.table = nn.Parameter(torch.rand(11, 2))
        self.qkv = nn.ModuleList([nn.Linear(8, 24), nn.Linear(8, 24)])
        self.out = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])
        self.register_buffer("places", torch.arange(6)[:, None] - torch.arange(6) + 5)

    def forward(self, x):
        bias = self.table[self.places.view(-1)].view(6, 6, 2).permute(2, 0, 1)[None]
        x = self._attend(x, bias, 0)
        return self._attend(x, torch.zeros(1, 2, 6, 6), 1)  # as T5 has it across

    def _attend(self, x, bias, place):
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight
        q, k, v = self.qkv[place](x).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-1, -2) + bias).softmax(-1)
        return x + self.out[place]((scores @ v).transpose(1, 2).flatten(2))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dynamo", [False, True])
def test_learned_biases_and_roots_are_what_they_were_before_an_export_to_onnx(tmp_path, dynamo):
    pytest.importorskip("onnxscript" if dynamo else "onnx")
    model, inputs = Relative().eval(), (torch.randn(1, 6, 8),)
    torch.onnx.export(model, inputs, str(tmp_path / "m.onnx"), dynamo=dynamo)
    wanted = nar_plugin.trace(model, example_inputs=inputs)
    attentions = [op for op in wanted.ops if op.kind == "attention"]
    assert [op.get("bias") for op in attentions] == [True, False]
    assert "rms_norm" in {op.kind for op in wanted.ops}
    assert nar_plugin.trace(tmp_path / "m.onnx").fingerprint == wanted.fingerprint


def test_a_text_and_a_relative_path_name_a_file(files, fingerprint, monkeypatch):
    path = files("pt2")
    monkeypatch.chdir(path.parent)
    assert nar_plugin.trace("small.pt2").fingerprint == fingerprint


@pytest.mark.parametrize("decomposed", [False, True])
def test_an_exported_program_in_hand_is_the_design_of_its_module(fingerprint, decomposed):
    model, inputs = small()
    program = torch.export.export(model, inputs)
    program = program.run_decompositions() if decomposed else program
    assert nar_plugin.trace(program).fingerprint == fingerprint


class Shifted(nn.Module):
    """Shifts rows along two dimensions, and has a limit from both sides."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 1)

    def forward(self, x):
        x = nn.functional.hardswish(self.conv(x))
        return self.conv(torch.roll(x, (-1, 2), (2, 3)) + torch.roll(x, 1, 2))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["decomposed", "onnx"])
def test_rolls_and_limits_are_what_they_were_before_the_export(tmp_path, kind):
    model, inputs = Shifted().eval(), (torch.rand(1, 4, 6, 6),)
    made = tmp_path / "shifted.onnx"
    if kind == "onnx":
        pytest.importorskip("onnx")
        torch.onnx.export(model, inputs, str(made), dynamo=False, opset_version=17)
    else:
        made = torch.export.export(model, inputs).run_decompositions()
    expected = nar_plugin.trace(model, example_inputs=inputs)
    assert "roll" in {op.kind for op in expected.ops}
    assert nar_plugin.trace(made).fingerprint == expected.fingerprint


@pytest.mark.parametrize("freeze", [False, True])
def test_a_script_module_in_hand_is_the_design_of_its_module(fingerprint, freeze):
    model, inputs = small()
    script = torch.jit.trace(model, inputs)
    script = torch.jit.freeze(script, optimize_numerics=False) if freeze else script
    before = {name: item.clone() for name, item in model.state_dict().items()}
    assert nar_plugin.trace(script, example_inputs=inputs).fingerprint == fingerprint
    assert all(torch.equal(item, before[name]) for name, item in model.state_dict().items())


class Constant(nn.Module):
    """Two constants of one shape, which torch compares as it loads them."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x * torch.tensor([1.0, 2, 3, 4])) + torch.tensor([4.0, 3, 2, 1])


def test_constants_of_a_script_are_read_without_their_values(tmp_path):
    model, inputs = Constant().eval(), (torch.rand(1, 4),)
    torch.jit.save(torch.jit.trace(model, inputs), tmp_path / "m.pt")
    wanted = nar_plugin.trace(model, example_inputs=inputs)
    assert nar_plugin.trace(tmp_path / "m.pt", example_inputs=inputs).design == wanted.design


class Sized(nn.Module):
    """Takes pictures of 256 points alone, as a trace of windows does; its parts are inlined."""

    def __init__(self, left):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3) if left == 4 else nn.Conv2d(4, 4, 3)
        self.inner = Sized(left - 1) if left else nn.Identity()

    def forward(self, x):
        x = self.inner(self.conv(x))
        return x.view(1, 4, 60_516) if x.dim() == 4 else x  # 246 squared


class Waves(nn.Module):
    """Samples without a channel, and frames with their features last."""

    def __init__(self):
        super().__init__()
        self.waves, self.frames = nn.Conv1d(1, 8, 10, 5), nn.Conv1d(12, 8, 3)

    def forward(self, waves, frames):
        return self.waves(waves[:, None]).mean(-1) + self.frames(frames.transpose(1, 2)).mean(-1)


class Placed(nn.Module):
    """Adds a table of places that is a parameter, though it is not trained."""

    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(64, 8), nn.Linear(8, 4)
        self.table.requires_grad_(False)

    def forward(self, x):
        return self.out(x + self.table(torch.arange(x.shape[1])))


@pytest.mark.filterwarnings("ignore")
def test_a_parameter_of_a_script_that_is_not_trained_is_a_weight(tmp_path):
    model, inputs = Placed(), (torch.rand(1, 64, 8),)
    torch.jit.save(torch.jit.trace(model, inputs), tmp_path / "m.pt")
    wanted = nar_plugin.trace(model, example_inputs=inputs)
    assert "embedding" in {op.kind for op in wanted.ops}
    made = nar_plugin.trace(tmp_path / "m.pt", example_inputs=inputs)
    assert (made.fingerprint, made.params) == (wanted.fingerprint, wanted.params)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (Sized(4), (torch.rand(1, 3, 256, 256),)),
        (Waves(), (torch.rand(1, 900), torch.rand(1, 90, 12))),
    ],
)
def test_a_script_that_refuses_inputs_is_asked_with_others(tmp_path, model, inputs):
    """What its interpreter says of a refusal once ended the process."""
    torch.jit.save(torch.jit.trace(model.eval(), inputs), tmp_path / "m.pt")
    wanted = nar_plugin.trace(model, example_inputs=inputs)
    assert nar_plugin.trace(tmp_path / "m.pt").fingerprint == wanted.fingerprint


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_script_is_read_without_a_copy_of_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr("nar_plugin.isolation._State.stays", False)
    monkeypatch.setattr("nar_plugin.references.model_file._MOST_MEMORY", 320 << 20)
    model, inputs = nn.Sequential(*(nn.Linear(2400, 2400) for _ in range(8))), torch.rand(1, 2400)
    torch.jit.save(torch.jit.trace(model, inputs), tmp_path / "m.pt")  # 176 MiB
    assert len(nar_plugin.trace(tmp_path / "m.pt")) == 8


def test_a_file_is_found_and_compared(files):
    path = files("pt2")
    assert nar_plugin.find_similar(path, 1)[0].score > 0
    assert nar_plugin.compare(path, small()[0]).identical


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "model.onnx").write_bytes(b"\x08\x08")
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(NarError, match=r"pip install 'nar-plugin\[onnx\]'"):
        as_model(tmp_path / "model.onnx")


def test_a_module_with_a_forward_is_asked_as_before():
    assert as_model(model := nn.Linear(2, 2)) is model
