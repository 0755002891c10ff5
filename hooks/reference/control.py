"""Control and games."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def _atari(channels: int = 4) -> nn.Sequential:
    """The convolutions of DQN for 84x84 pixels (Mnih et al. 2015, Methods). Gives 3,136 numbers."""
    return nn.Sequential(
        *(nn.Conv2d(channels, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU()),
        *(nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten()),
    )


class DQN(nn.Module):
    """Deep Q-network (Mnih et al. 2015, Methods). Shapes: [b, 4, 84, 84] to [b, actions]."""

    def __init__(self, actions: int = 18) -> None:
        super().__init__()
        self.see = _atari()
        self.act = nn.Sequential(nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, actions))

    def forward(self, frames: Tensor) -> Tensor:
        """Give the value of each action."""
        return self.act(self.see(frames))


class DuelingDQN(nn.Module):
    """Dueling network (Wang et al. 2016, section 3, equation 9): value and advantage apart.

    Shapes: [b, 4, 84, 84] to [b, actions].
    """

    def __init__(self, actions: int = 18) -> None:
        super().__init__()
        self.see = _atari()
        self.value = nn.Sequential(nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 1))
        self.advantage = nn.Sequential(nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, actions))

    def forward(self, frames: Tensor) -> Tensor:
        """Give the value of each action."""
        x = self.see(frames)
        advantage = self.advantage(x)
        return self.value(x) + advantage - advantage.mean(1, keepdim=True)


class CategoricalDQN(nn.Module):
    """C51 (Bellemare et al. 2017, section 4 and 5): 51 atoms from -10 to 10 for each action.

    Shapes: [b, 4, 84, 84] to values [b, actions] and probabilities [b, actions, 51].
    """

    def __init__(self, actions: int = 18, atoms: int = 51) -> None:
        super().__init__()
        self.see = _atari()
        self.act = nn.Sequential(nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, actions * atoms))
        self.register_buffer("support", torch.linspace(-10, 10, atoms))
        self.actions = actions

    def forward(self, frames: Tensor) -> tuple[Tensor, Tensor]:
        """Give the distribution of each action's value, and its mean."""
        chances = self.act(self.see(frames)).unflatten(1, (self.actions, -1)).softmax(2)
        return chances @ self.support, chances


class A3C(nn.Module):
    """The recurrent actor-critic of A3C (Mnih et al. 2016, section 5.1): LSTM of 256.

    Shapes: frames [t, 4, 84, 84] of one game to logits [t, actions] and values [t, 1].
    """

    def __init__(self, actions: int = 18) -> None:
        super().__init__()
        self.see = nn.Sequential(
            *(nn.Conv2d(4, 16, 8, 4), nn.ReLU(), nn.Conv2d(16, 32, 4, 2), nn.ReLU()),
            *(nn.Flatten(), nn.Linear(2592, 256), nn.ReLU()),
        )
        self.remember = nn.LSTM(256, 256)
        self.actor, self.critic = nn.Linear(256, actions), nn.Linear(256, 1)

    def forward(self, frames: Tensor) -> tuple[Tensor, Tensor]:
        """Act, and judge the state."""
        x, _ = self.remember(self.see(frames))
        return self.actor(x), self.critic(x)


class Impala(nn.Module):
    """The large network of IMPALA (Espeholt et al. 2018, figure 3): 15 convolutions and an LSTM.

    The LSTM that reads instructions is left out.

    Shapes: frames [t, 3, 72, 96], reward and action before [t, 1 + actions] to logits and value.
    """

    def __init__(self, actions: int = 9) -> None:
        super().__init__()
        sections, before = [], 3
        for width in (16, 32, 32):
            layers = [nn.Conv2d(before, width, 3, padding=1), nn.MaxPool2d(3, 2, 1)]
            sections.append(nn.Sequential(*layers, *(_ReluBlock(width) for _ in range(2))))
            before = width
        self.see = nn.Sequential(*sections, nn.ReLU(), nn.Flatten())
        self.dense = nn.Linear(32 * 9 * 12, 256)
        self.remember = nn.LSTM(256 + 1 + actions, 256)
        self.actor, self.critic = nn.Linear(256, actions), nn.Linear(256, 1)

    def forward(self, frames: Tensor, before: Tensor) -> tuple[Tensor, Tensor]:
        """Act, and judge the state."""
        x = F.relu(self.dense(self.see(frames)))
        x, _ = self.remember(torch.cat([x, before], dim=1))
        return self.actor(x), self.critic(x)


class _ReluBlock(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *(nn.ReLU(), nn.Conv2d(width, width, 3, padding=1)),
            *(nn.ReLU(), nn.Conv2d(width, width, 3, padding=1)),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x)


class AlphaZero(nn.Module):
    """The network of AlphaGo Zero (Silver et al. 2017, Methods): 256 filters.

    Args:
        blocks: Residual blocks, 19 or 39.

    Shapes: [b, 17, 19, 19] to logits [b, 362] and value [b, 1].
    """

    def __init__(self, blocks: int, width: int = 256) -> None:
        super().__init__()
        self.first = nn.Sequential(*_normed(17, width, 3), nn.ReLU())
        self.blocks = nn.ModuleList(
            nn.Sequential(*_normed(width, width, 3), nn.ReLU(), *_normed(width, width, 3))
            for _ in range(blocks)
        )
        self.policy = nn.Sequential(
            *(*_normed(width, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(2 * 361, 362))
        )
        self.value = nn.Sequential(
            *(*_normed(width, 1, 1), nn.ReLU(), nn.Flatten(), nn.Linear(361, 256), nn.ReLU()),
            *(nn.Linear(256, 1), nn.Tanh()),
        )

    def forward(self, board: Tensor) -> tuple[Tensor, Tensor]:
        """Propose a move and judge the board."""
        x = self.first(board)
        for block in self.blocks:
            x = F.relu(x + block(x))
        return self.policy(x), self.value(x)


def _normed(a: int, b: int, kernel: int) -> list[nn.Module]:
    return [nn.Conv2d(a, b, kernel, padding=kernel // 2), nn.BatchNorm2d(b)]


class AlphaGoPolicy(nn.Module):
    """AlphaGo's policy network (Silver et al. 2016, Methods): 13 layers of 192 filters.

    Shapes: [b, 48, 19, 19] to logits [b, 361].
    """

    def __init__(self, width: int = 192) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv2d(48, width, 5, padding=2), nn.ReLU()]
        for _ in range(11):
            layers += [nn.Conv2d(width, width, 3, padding=1), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Conv2d(width, 1, 1, bias=False), nn.Flatten())
        self.bias = nn.Parameter(torch.zeros(361))

    def forward(self, board: Tensor) -> Tensor:
        """Propose a move; every place has a bias of its own."""
        return self.layers(board) + self.bias


class ActorCritic(nn.Module):
    """Actor and critic of DDPG from states (Lillicrap et al. 2015, section 7): 400 and 300 units.

    Shapes: [b, states] to actions [b, actions] and their value [b, 1].
    """

    def __init__(self, states: int = 17, actions: int = 6) -> None:
        super().__init__()
        self.actor = nn.Sequential(
            *(nn.Linear(states, 400), nn.BatchNorm1d(400), nn.ReLU()),
            *(nn.Linear(400, 300), nn.BatchNorm1d(300), nn.ReLU()),
            *(nn.Linear(300, actions), nn.Tanh()),
        )
        self.see = nn.Sequential(nn.Linear(states, 400), nn.BatchNorm1d(400), nn.ReLU())
        self.join, self.value = nn.Linear(400 + actions, 300), nn.Linear(300, 1)

    def forward(self, state: Tensor) -> tuple[Tensor, Tensor]:
        """Act, and judge the action, which enters at the second layer."""
        action = self.actor(state)
        x = F.relu(self.join(torch.cat([self.see(state), action], dim=1)))
        return action, self.value(x)


class WorldVision(nn.Module):
    """V of world models, a VAE (Ha and Schmidhuber 2018, appendix A.1, figure 22).

    Shapes: [b, 3, 64, 64] to [b, 3, 64, 64].
    """

    def __init__(self, latent: int = 32) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for a, b in ((3, 32), (32, 64), (64, 128), (128, 256)):
            layers += [nn.Conv2d(a, b, 4, 2), nn.ReLU()]
        self.encoder = nn.Sequential(*layers, nn.Flatten())
        self.mean, self.spread = nn.Linear(1024, latent), nn.Linear(1024, latent)
        self.dense = nn.Linear(latent, 1024)
        sizes = ((1024, 128, 5), (128, 64, 5), (64, 32, 6), (32, 3, 6))
        layers = []
        for a, b, kernel in sizes:
            layers += [nn.ConvTranspose2d(a, b, kernel, 2), nn.ReLU()]
        self.decoder = nn.Sequential(*layers[:-1], nn.Sigmoid())

    def forward(self, frame: Tensor) -> Tensor:
        """Reconstruct a frame from a sample."""
        x = self.encoder(frame)
        mean, spread = self.mean(x), self.spread(x)
        z = mean + torch.exp(spread / 2) * torch.randn_like(mean)
        return self.decoder(self.dense(z)[:, :, None, None])


class WorldMemory(nn.Module):
    """M of world models, an LSTM that predicts a mixture (appendix A.2): 256 cells, 5 Gaussians.

    Shapes: latent and action [b, t, 35] to logits, means and spreads [b, t, 5, 32].
    """

    def __init__(self, latent: int = 32, actions: int = 3, mixtures: int = 5) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(latent + actions, 256, bias=False)
        self.bias = nn.Parameter(torch.zeros(1024))
        self.mixture = nn.Linear(256, 3 * mixtures * latent)
        self.shape = (3, mixtures, latent)

    def forward(self, steps: Tensor) -> tuple[Tensor, ...]:
        """Predict the next latent."""
        h = c = steps.new_zeros(len(steps), 256)
        said = []
        for x in steps.unbind(1):
            gates = F.linear(x, self.cell.weight_ih) + F.linear(h, self.cell.weight_hh) + self.bias
            i, f, g, o = gates.chunk(4, dim=1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            said.append(self.mixture(h))
        return torch.unflatten(torch.stack(said, dim=1), 2, self.shape).unbind(2)
