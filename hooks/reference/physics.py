"""Physics: operators, equations, weather."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def _tanh(*widths: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for a, b in itertools.pairwise(widths):
        layers += [nn.Linear(a, b), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


class PINN(nn.Module):
    """Physics-informed network for Burgers' equation (Raissi et al. 2017, section 3.1).

    Eight hidden layers of 20 units of tanh. The equation is in the loss, not in the network.

    Shapes: place and time [n, 2] to [n, 1].
    """

    def __init__(self) -> None:
        super().__init__()
        self.layers = _tanh(2, *([20] * 8), 1)

    def forward(self, place: Tensor) -> Tensor:
        """Give the solution at a place and a time."""
        return self.layers(place)


class DeepONet(nn.Module):
    """DeepONet, unstacked with bias (Lu et al. 2021, figure 1D): branch times trunk.

    Shapes: a function at 100 sensors [n, 100] and places [n, 1] to [n, 1].
    """

    def __init__(self, sensors: int = 100, width: int = 40) -> None:
        super().__init__()
        self.branch = nn.Sequential(nn.Linear(sensors, width), nn.ReLU(), nn.Linear(width, width))
        self.trunk = nn.Sequential(
            nn.Linear(1, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
        )  # fmt: skip
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, function: Tensor, place: Tensor) -> Tensor:
        """Give the value of the operator's result at a place."""
        return (self.branch(function) * self.trunk(place)).sum(1, keepdim=True) + self.bias


class ConvLSTMCell(nn.Module):
    """An LSTM whose products are convolutions, with peepholes (Shi et al. 2015, equation 3).

    The peepholes have one weight for each channel, as the counts of table 1 say.
    """

    def __init__(self, inputs: int, width: int, kernel: int) -> None:
        super().__init__()
        self.of_input = (
            nn.Conv2d(inputs, 4 * width, kernel, padding=kernel // 2, bias=False)
            if inputs
            else None
        )
        self.of_state = nn.Conv2d(width, 4 * width, kernel, padding=kernel // 2)
        self.peepholes = nn.Parameter(torch.zeros(3, width, 1, 1))

    def forward(self, x: Tensor | None, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Shapes: [b, a, h, w], two of [b, c, h, w] to two of [b, c, h, w]."""
        h, c = state
        said = self.of_state(h)
        if self.of_input is not None:
            said = said + self.of_input(x)
        i, f, g, o = said.chunk(4, dim=1)
        for_input, for_forget, for_output = self.peepholes
        c_new = torch.sigmoid(f + for_forget * c) * c
        c_new = c_new + torch.sigmoid(i + for_input * c) * torch.tanh(g)
        return torch.sigmoid(o + for_output * c_new) * torch.tanh(c_new), c_new


class ConvLSTMForecaster(nn.Module):
    """Encoding-forecasting ConvLSTM (Shi et al. 2015, figure 3 and table 1): moving digits.

    The forecasting network starts from the last states and reads nothing; a 1x1 convolution over
    the states of all layers draws the frame.

    Args:
        widths: Of the layers of either network.
        kernels: From state to state and from input to state.

    Shapes: frames [b, 10, 16, 16, 16] (patches of 4x4) to [b, 10, 16, 16, 16].
    """

    def __init__(self, widths: tuple[int, ...], kernel: int = 5, frames: int = 10) -> None:
        super().__init__()
        before = (16, *widths[:-1])
        self.encoder = nn.ModuleList(
            ConvLSTMCell(a, b, kernel) for a, b in zip(before, widths, strict=True)
        )
        after = (0, *widths[:0:-1])
        self.forecaster = nn.ModuleList(
            ConvLSTMCell(a, b, kernel) for a, b in zip(after, widths[::-1], strict=True)
        )
        self.draw = nn.Conv2d(sum(widths), 16, 1)
        self.widths, self.frames = widths, frames

    def forward(self, frames: Tensor) -> Tensor:
        """Forecast ten frames."""
        blank = frames.new_zeros(len(frames), 1, *frames.shape[3:])
        states = [(blank.expand(-1, width, -1, -1),) * 2 for width in self.widths]
        for frame in frames.unbind(1):
            states = self._step(self.encoder, frame, states)
        states, drawn = states[::-1], []
        for _ in range(self.frames):
            states = self._step(self.forecaster, None, states)
            drawn.append(torch.sigmoid(self.draw(torch.cat([h for h, _ in states], dim=1))))
        return torch.stack(drawn, dim=1)

    @staticmethod
    def _step(cells: nn.ModuleList, x: Tensor | None, states: list) -> list:  # type: ignore[type-arg]
        new = []
        for cell, state in zip(cells, states, strict=True):
            new.append(cell(x, state))
            x = new[-1][0]
        return new


class ODENet(nn.Module):
    """The network of neural ODEs for MNIST (Chen et al. 2018, section 3): one block, integrated.

    The paper integrates with an adaptive solver; here, four steps of Runge-Kutta of order four.

    Shapes: [b, 1, 28, 28] to logits [b, 10].
    """

    def __init__(self, width: int = 64, steps: int = 4) -> None:
        super().__init__()
        self.down = nn.Sequential(
            nn.Conv2d(1, width, 3),
            *(nn.GroupNorm(32, width), nn.ReLU(), nn.Conv2d(width, width, 4, 2, 1)),
            *(nn.GroupNorm(32, width), nn.ReLU(), nn.Conv2d(width, width, 4, 2, 1)),
        )
        self.norms = nn.ModuleList(nn.GroupNorm(32, width) for _ in range(3))
        self.convs = nn.ModuleList(nn.Conv2d(width + 1, width, 3, padding=1) for _ in range(2))
        self.head = nn.Sequential(nn.GroupNorm(32, width), nn.ReLU())
        self.last, self.steps = nn.Linear(width, 10), steps

    def forward(self, image: Tensor) -> Tensor:
        """Classify a digit."""
        x, h = self.down(image), 1 / self.steps
        for step in range(self.steps):
            t = step * h
            k1 = self.derivative(t, x)
            k2 = self.derivative(t + h / 2, x + h / 2 * k1)
            k3 = self.derivative(t + h / 2, x + h / 2 * k2)
            k4 = self.derivative(t + h, x + h * k3)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return self.last(self.head(x).mean((2, 3)))

    def derivative(self, t: float, x: Tensor) -> Tensor:
        """How the state moves at a time. Shapes: [b, c, h, w]."""
        time = torch.full_like(x[:, :1], t)
        for norm, conv in zip(self.norms, self.convs, strict=False):
            x = conv(torch.cat([time, F.relu(norm(x))], dim=1))
        return self.norms[2](x)


class HamiltonianNet(nn.Module):
    """The energy of a Hamiltonian neural network (Greydanus et al. 2019, section 2 and 3).

    Three layers, 200 units of tanh. The motion is the energy's gradient, turned (equation 3);
    `motion` computes it.

    Shapes: positions and momenta [n, 2] to [n, 1].
    """

    def __init__(self, width: int = 200) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh()),
            nn.Linear(width, 1, bias=False),
        )

    def forward(self, state: Tensor) -> Tensor:
        """Give the energy."""
        return self.layers(state)

    def motion(self, state: Tensor) -> Tensor:
        """dq/dt = dH/dp, dp/dt = -dH/dq. Shapes: [n, 2]."""
        state = state.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(self(state).sum(), state, create_graph=True)
        return torch.stack([gradient[:, 1], -gradient[:, 0]], dim=1)
