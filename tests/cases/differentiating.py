"""Forwards that differentiate, scan, map, or hold sequences of several lengths in one tensor."""

import torch
from torch import nn
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as over_rows
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop


class Potential(nn.Module):
    """Energy and forces, as of interatomic potentials (SchNet, NequIP, MACE)."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 16), nn.SiLU(), nn.Linear(16, 1))

    def forward(self, positions):
        positions = positions.clone().requires_grad_(True)
        energy = self.net(positions).sum()
        return energy, -torch.autograd.grad(energy, positions)[0]


class PotentialWithGradientsOn(Potential):
    def forward(self, positions):
        with torch.enable_grad():
            return super().forward(positions)


class Scanned(nn.Module):
    def __init__(self):
        super().__init__()
        self.state, self.input = nn.Linear(8, 8), nn.Linear(4, 8)

    def forward(self, x):
        def step(state, now):
            state = torch.tanh(self.state(state) + now)
            return state, state.clone()

        return scan(step, torch.zeros(len(x), 8), self.input(x).transpose(0, 1))[1]


class ScannedByHand(Scanned):
    def forward(self, x):
        state, found = torch.zeros(len(x), 8), []
        for now in self.input(x).transpose(0, 1):
            state = torch.tanh(self.state(state) + now)
            found.append(state)
        return torch.stack(found)


class Mapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 8)

    def forward(self, x):
        return over_rows(lambda row: self.layer(row).relu(), x)


class MappedByHand(Mapped):
    def forward(self, x):
        return self.layer(x).relu()


class Summed(nn.Module):
    """A linear recurrence by torch's parallel scan."""

    def __init__(self):
        super().__init__()
        self.input, self.gate, self.out = nn.Linear(4, 16), nn.Linear(4, 16), nn.Linear(16, 2)

    def forward(self, x):
        def join(one, two):
            return one[0] * two[0], one[1] * two[0] + two[1]

        pairs = torch.sigmoid(self.gate(x)), self.input(x)
        return self.out(associative_scan(join, pairs, dim=1, combine_mode="generic")[1])


class Repeated(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        def more(count, x):
            return count < 5

        def step(count, x):
            return count + 1, torch.tanh(self.layer(x))

        return while_loop(more, step, (torch.tensor(0), x))[1]


class Jagged(nn.Module):
    """Heads by unflatten, as torch's nested tensor tutorial writes attention."""

    def __init__(self):
        super().__init__()
        self.query = nn.Linear(16, 16)

    def forward(self, one, two):
        both = torch.nested.nested_tensor([one, two], layout=torch.jagged)
        return self.query(both).unflatten(-1, [4, 4]).transpose(1, 2).values()


class Strided(Jagged):
    def forward(self, one, two):
        return torch.nested.to_padded_tensor(
            self.query(torch.nested.nested_tensor([one, two])), 0.0
        )


# -- further cases, written after the repair ------------------------------------------------


class Strained(nn.Module):
    """Forces and stress: the gradient by positions and by a strain of the cell, as in MACE."""

    def __init__(self):
        super().__init__()
        self.kinds, self.edge = nn.Embedding(10, 8), nn.Linear(9, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, positions, kinds, edges):
        strain = torch.zeros(3, 3, requires_grad=True)
        positions = positions.requires_grad_(True)
        moved = positions @ (torch.eye(3) + (strain + strain.T) / 2)
        lengths = (moved[edges[0]] - moved[edges[1]]).norm(dim=-1, keepdim=True)
        messages = self.edge(torch.cat([self.kinds(kinds)[edges[0]], lengths], -1)).tanh()
        nodes = torch.zeros(len(kinds), 8).index_add(0, edges[1], messages)
        energy = self.out(nodes).sum()
        forces, stress = torch.autograd.grad([energy], [positions, strain])
        return energy, -forces, stress


class Hamiltonian(nn.Module):
    """Two steps of a leapfrog by the gradient of a learned energy."""

    def __init__(self):
        super().__init__()
        self.energy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, state):
        for _ in range(2):
            state = state.detach().requires_grad_(True)
            slope = torch.autograd.grad(self.energy(state).sum(), state, create_graph=True)[0]
            state = state + 0.1 * torch.cat([slope[:, 2:], -slope[:, :2]], 1)
        return state


class SlopeByBackward(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(2, 4, 3), nn.ReLU(), nn.Conv1d(4, 1, 3))

    def forward(self, x):
        x = x.clone().requires_grad_(True)
        self.net(x).mean().backward()
        return x.grad


class Jacobian(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 3))

    def forward(self, x):
        return torch.autograd.functional.jacobian(self.net, x).diagonal(dim1=1, dim2=3)


class GradientOfEach(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, x):
        return torch.func.vmap(torch.func.grad(lambda row: self.net(row).sum()))(x)


class MetaLearner(nn.Module):
    """One step of gradient descent on its own weights (MAML, Finn et al. 2017)."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 1)

    def forward(self, x):
        loss = self.layer(x).pow(2).mean()
        weight, bias = torch.autograd.grad(loss, list(self.layer.parameters()), create_graph=True)
        return nn.functional.linear(x, self.layer.weight - weight, self.layer.bias - bias)


class RecurrentForce(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(3, 8, batch_first=True), nn.Linear(8, 1)

    def forward(self, x):
        x = x.requires_grad_(True)
        return torch.autograd.grad(self.out(self.lstm(x)[0]).sum(), x)[0]


class ScannedBackwards(nn.Module):
    """Two states and two sequences, last step first."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        def step(states, now):
            first = torch.tanh(self.one(states[0]) + now["x"])
            second = torch.sigmoid(self.two(states[1]) + first * now["y"])
            return (first, second), second.clone()

        zeros = torch.zeros(len(x), 4)
        steps = {"x": x.transpose(0, 1), "y": x.transpose(0, 1).relu()}
        return scan(step, (zeros, zeros.clone()), steps, reverse=True)[1]


class MappedPairs(nn.Module):
    """A dict of each row, beside an argument that all rows share."""

    def __init__(self):
        super().__init__()
        self.layer, self.shared = nn.Linear(4, 8), nn.Parameter(torch.ones(8))

    def forward(self, x):
        def one(row, shared):
            return {"scaled": self.layer(row) * shared, "softmax": row.softmax(-1)}

        found = over_rows(one, x, self.shared)
        return found["scaled"].sum(-1) + found["softmax"].amax(-1)


class SummedInPlace(Summed):
    """The same scan in the other mode, on one tensor."""

    def forward(self, x):
        gated = self.input(x) * self.gate(x).sigmoid()
        return self.out(
            associative_scan(lambda one, two: one + two, gated, 1, combine_mode="pointwise")
        )


class UntilSmall(nn.Module):
    """A loop whose end the data decide."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return while_loop(
            lambda x: x.norm() > 0.5, lambda x: (0.5 * torch.tanh(self.layer(x)),), (x,)
        )[0]


class MeanOfEach(nn.Module):
    """A nested tensor that is given, normed, pooled by sequence."""

    def __init__(self):
        super().__init__()
        self.norm, self.layer = nn.LayerNorm(16), nn.Linear(16, 8)

    def forward(self, sequences):
        return self.layer(self.norm(sequences)).relu().to_padded_tensor(0.0).mean(1)


TWO = (torch.randn(3, 16), torch.randn(5, 16))
EDGES = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
FURTHER = (
    (Strained, (torch.randn(4, 3), torch.tensor([1, 2, 3, 4]), EDGES)),
    (Hamiltonian, torch.randn(5, 4)),
    (SlopeByBackward, torch.randn(2, 2, 9)),
    (Jacobian, torch.randn(5, 3)),
    (GradientOfEach, torch.randn(5, 3)),
    (MetaLearner, torch.randn(5, 16)),
    (RecurrentForce, torch.randn(1, 6, 3)),
    (ScannedBackwards, torch.randn(2, 7, 4)),
    (MappedPairs, torch.randn(2, 7, 4)),
    (SummedInPlace, torch.randn(2, 7, 4)),
    (UntilSmall, torch.randn(2, 4)),
    (MeanOfEach, (torch.nested.nested_tensor(list(TWO)),)),
)
