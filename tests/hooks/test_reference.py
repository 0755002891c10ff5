"""The classic designs: what their papers print of them, and what must hold of real numbers."""

import math
import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest
import torch
from nar_plugin.hooks import reference as plugin
from nar_plugin.hooks.reference import (
    fields,
    generative,
    graph,
    language,
    memory,
    physics,
    points,
    recognition,
    speech,
    spiking,
    tabular,
    vision,
)
from torch import Tensor, nn

from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

DESIGNS = tomllib.loads((files("nar_plugin.hooks.reference") / "designs.toml").read_text("utf-8"))
PRINTED = sorted(name for name, row in DESIGNS.items() if "printed" in row)
UNITS = {"K": 10**3, "M": 10**6}


def _model(name: str) -> nn.Module:
    model = built(lambda: plugin.nar_build(f"reference:{name}"))
    assert model is not None
    return model


def test_there_are_sixty_designs_with_their_facts() -> None:
    listed = list(plugin.nar_architectures())
    assert len(listed) == len(DESIGNS) >= 60
    for item in listed:
        assert item.family and item.task and item.url
        assert 1985 < DESIGNS[item.name.partition(":")[2]]["year"] <= 2024


@pytest.mark.parametrize("name", PRINTED)
def test_it_has_as_many_parameters_as_is_printed(name: str) -> None:
    row = DESIGNS[name]
    counted = sum(
        parameter.numel()
        for path, parameter in _model(name).named_parameters()
        if path.partition(".")[0] not in row.get("besides", ())
        and not (row.get("weights") and parameter.dim() < 2)
    )
    number = row["printed"].rstrip("KM")
    unit = UNITS.get(row["printed"][-1], 1)
    printed = float(number) * unit
    last_digit = unit / 10 ** len(number.partition(".")[2])
    assert abs(counted - printed) <= max(printed / 100, last_digit / 2)


def test_many_counts_are_printed() -> None:
    assert len(PRINTED) >= 40


def test_the_page_lists_every_design() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference-designs.md"
    listed = re.findall(r"^\| `(\w+)` \|", page.read_text("utf-8"), re.MULTILINE)
    assert listed == list(DESIGNS)


def test_a_design_knows_its_name_and_its_inputs() -> None:
    model = _model("wavenet")
    found = plugin.nar_provenance(model)
    assert found is not None and found.name == "reference:wavenet"
    (inputs,) = plugin.nar_example_inputs(model)
    assert inputs.args[0].shape == (1, 256, 4096)
    assert plugin.nar_provenance(nn.Linear(2, 2)) is None
    assert plugin.nar_example_inputs(nn.Linear(2, 2)) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DESIGNS))
def test_its_whole_forward_is_traced(name: str) -> None:
    graph = trace(_model(name))
    assert graph.method == "meta"
    assert graph.unread == 0


def test_wavenet_sees_no_later_sample() -> None:
    model = speech.WaveNet(residual=4, skip=8, cycles=1)
    samples = torch.randn(1, 256, 40, requires_grad=True)
    model(samples)[0, :, 20].sum().backward()
    reached = samples.grad.abs().sum((0, 1))
    assert reached[:21].min() > 0 and reached[21:].max() == 0


def test_wavenets_dilations_reach_over_3070_samples() -> None:
    convs = [module for module in speech.WaveNet(2, 2).modules() if module.__class__ is
             speech.CausalConv1d]  # fmt: skip
    assert 1 + sum(conv.dilation[0] for conv in convs) == 3 * 1023 + 2


@pytest.mark.parametrize("name", ["PixelCNN", "GatedPixelCNN"])
def test_a_pixel_depends_on_those_before_it_alone(name: str) -> None:
    torch.manual_seed(0)
    kinds = {"PixelCNN": (8, 2), "GatedPixelCNN": (16, 3, 3)}
    model = getattr(generative, name)(*kinds[name]).double()
    image = torch.randn(1, 3, 6, 6, dtype=torch.double, requires_grad=True)
    model(image)[0, :, :, 3, 2].square().sum().backward()
    reached = image.grad.abs().sum((0, 1)).flatten() > 0
    place = 3 * 6 + 2
    assert not reached[place:].any()
    assert reached[place - 1] and reached[place - 6]


def test_made_predicts_each_input_from_those_before_it() -> None:
    model = generative.MADE(6, (64, 64))
    found = torch.func.jacrev(lambda x: model(x[None])[0])(torch.randn(6))
    assert torch.equal(found.triu() != 0, torch.zeros(6, 6, dtype=torch.bool))
    assert (found.tril(-1) != 0).sum() == 15


def test_nice_can_be_turned_round() -> None:
    model = generative.NICE(d=8, width=16, layers=2).double()
    x = torch.randn(3, 8, dtype=torch.double)
    assert torch.allclose(model.inverse(model(x)), x)


def test_capsules_are_routed_to_shares_that_sum_to_one() -> None:
    digits, coupling = vision.CapsuleNet().capsules(torch.rand(2, 1, 28, 28))
    assert torch.allclose(coupling.sum(2), torch.ones(2, 1152))
    assert digits.norm(dim=2).max() < 1


def test_painns_energy_stays_and_its_vectors_turn_with_the_molecule() -> None:
    torch.manual_seed(0)
    model = graph.PaiNN(width=16).double()
    atoms, places = torch.randint(1, 9, (6,)), torch.randn(6, 3, dtype=torch.double)
    pairs = torch.tensor([(i, j) for i in range(6) for j in range(6) if i != j]).T
    turn, _ = torch.linalg.qr(torch.randn(3, 3, dtype=torch.double))
    energy, vectors = model(atoms, places, pairs)
    again, turned = model(atoms, places @ turn.T + 5, pairs)
    assert torch.allclose(energy, again)
    assert torch.allclose(torch.einsum("xy,nyf->nxf", turn, vectors), turned)
    assert vectors.abs().max() > 0


@pytest.mark.parametrize("name", ["PointNet", "DGCNN", "SetTransformer", "DeepSets"])
def test_a_cloud_has_no_order(name: str) -> None:
    model = getattr(points, name)().eval()
    cloud = torch.randn(2, 40, 3)
    order = torch.randperm(40)
    last = name in ("PointNet", "DGCNN")
    one, other = (x.transpose(1, 2) if last else x for x in (cloud, cloud[:, order]))
    assert torch.allclose(model(one), model(other), atol=1e-4)


def test_the_splines_of_a_kan_sum_to_one_inside_the_grid() -> None:
    layer = tabular.KANLayer(1, 1, grid=5, order=3)
    basis = layer.basis(torch.linspace(-0.99, 0.99, 50)[:, None])
    assert basis.shape == (50, 1, 8)
    assert torch.allclose(basis.sum(2), torch.ones(50, 1), atol=1e-5)


def test_a_ray_is_seen_until_it_ends() -> None:
    """Two pieces of density 1 and length ln 2: a half, then half of what is left."""
    weights = fields.ray_weights(torch.ones(1, 2), torch.full((1, 2), math.log(2)))
    assert torch.allclose(weights, torch.tensor([[0.5, 0.25]]))


def test_siren_gives_the_derivative_of_a_sine() -> None:
    model = fields.Siren(1, 1, width=4, hidden=0)
    x = torch.tensor([[0.3]])
    linear, last = model.layers[0], model.layers[2]
    expected = last.weight @ (30 * torch.cos(30 * linear(x)).T * linear.weight)
    assert torch.allclose(torch.func.jacrev(model)(x).reshape(1, 1), expected, atol=1e-4)


def test_relative_positions_are_those_of_the_offsets() -> None:
    """Row i of the shifted scores starts at the offset i and goes down by one."""
    offsets = torch.arange(4, -5, -1.0)  # of five steps
    shifted = recognition._shift(offsets.expand(1, 1, 5, 9))[0, 0]
    rows = torch.arange(5.0)
    assert torch.equal(shifted, rows[:, None] - rows)


def test_a_hamiltonian_moves_along_lines_of_equal_energy() -> None:
    model = physics.HamiltonianNet()
    state = torch.randn(5, 2)
    (slope,) = torch.autograd.grad(model(x := state.requires_grad_()).sum(), x)
    assert torch.allclose((slope * model.motion(state)).sum(1), torch.zeros(5), atol=1e-6)


def test_runge_kutta_follows_an_exponential() -> None:
    model = physics.ODENet()
    model.derivative = lambda t, x: x  # type: ignore[method-assign]
    model.down, model.head, model.last = nn.Identity(), nn.Identity(), nn.Identity()
    assert torch.allclose(model(torch.ones(1, 1, 2, 2)), torch.tensor([[math.e]]), atol=1e-4)


def test_a_tour_visits_every_city_once() -> None:
    scores, tour = graph.RouteAttentionModel().eval()(torch.rand(3, 7, 2))
    assert torch.equal(tour.sort(1).values, torch.arange(7).expand(3, 7))
    assert torch.allclose(scores.exp().sum(2), torch.ones(3, 7), atol=1e-4)


def test_a_turing_machine_addresses_with_weights_that_sum_to_one() -> None:
    head = memory.Head(8, 4)
    before = torch.rand(2, 6).softmax(1)
    weights = head(torch.randn(2, 8), torch.randn(2, 6, 4), before)
    assert torch.allclose(weights.sum(1), torch.ones(2)) and weights.min() >= 0


def test_the_least_used_row_is_offered_first() -> None:
    """a[phi_j] = (1 - u[phi_j]) prod of u of the rows before it (Graves 2016, Methods)."""
    found = memory._allocation(torch.tensor([[0.5, 0.1, 0.9]]))
    expected = torch.tensor([[0.5 * 0.1, 0.9, 0.1 * 0.1 * 0.5]])
    assert torch.allclose(found, expected)


def test_the_first_language_model_has_as_many_numbers_as_its_formula() -> None:
    """|V|(1 + nm + h) + h(1 + (n - 1)m) (Bengio et al. 2003, section 2)."""
    v, m, h, n = 50, 4, 7, 5
    model = language.ProbabilisticLanguageModel(v, m, h, n)
    counted = sum(parameter.numel() for parameter in model.parameters())
    assert counted == v * (1 + n * m + h) + h * (1 + (n - 1) * m)


def test_spikes_are_zero_or_one_and_pass_a_gradient() -> None:
    x = torch.tensor([-0.1, 0.0, 0.2], requires_grad=True)
    fired = spiking.Spike.apply(x)
    fired.sum().backward()
    assert fired.tolist() == [0, 0, 1]
    expected: Tensor = 1 / (1 + 100 * x.detach().abs()) ** 2
    assert torch.allclose(x.grad, expected)


def test_lenet5s_third_layer_is_connected_as_in_table_one() -> None:
    sizes = [len(set(seen)) for seen in vision.LeNet5.SEEN]
    assert sizes == [3] * 6 + [4] * 9 + [6]
    assert sorted(vision.LeNet5.SEEN[12]) == [0, 1, 3, 4]
