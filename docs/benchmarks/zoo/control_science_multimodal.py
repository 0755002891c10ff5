"""Reinforcement learning, physics, signals of the body, and several modalities at once."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical, Normal


class DQN(nn.Module):
    def __init__(self, in_channels=4, n_actions=6):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, 32, kernel_size=8, stride=4)
        self.conv2 = nn.Conv2d(32, 64, kernel_size=4, stride=2)
        self.conv3 = nn.Conv2d(64, 64, kernel_size=3, stride=1)
        self.fc4 = nn.Linear(7 * 7 * 64, 512)
        self.head = nn.Linear(512, n_actions)

    def forward(self, x):
        x = x.float() / 255
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.relu(self.conv3(x))
        x = F.relu(self.fc4(x.view(x.size(0), -1)))
        return self.head(x)


def dqn_atari() -> nn.Module:
    """Deep Q-network on four frames of 84 pixels (Mnih et al. 2015)."""
    return DQN()


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden_sizes=(64, 64), discrete=False):
        super().__init__()

        def mlp(out):
            layers, i = [], obs_dim
            for h in hidden_sizes:
                layers += [nn.Linear(i, h), nn.Tanh()]
                i = h
            return nn.Sequential(*layers, nn.Linear(i, out))

        self.discrete = discrete
        self.pi, self.v = mlp(act_dim), mlp(1)
        self.log_std = None if discrete else nn.Parameter(-0.5 * torch.ones(act_dim))

    def forward(self, obs, act=None):
        if self.discrete:
            pi = Categorical(logits=self.pi(obs))
        else:
            pi = Normal(self.pi(obs), torch.exp(self.log_std))
        logp_a = None
        if act is not None:
            logp_a = pi.log_prob(act)
            if not self.discrete:
                logp_a = logp_a.sum(axis=-1)
        return pi, logp_a, self.v(obs).squeeze(-1)


def ppo_actor_critic() -> nn.Module:
    """Gaussian actor and critic of PPO, a distribution out (Schulman et al. 2017)."""
    return ActorCritic(obs_dim=17, act_dim=6)


def a2c_discrete() -> nn.Module:
    """Categorical actor and critic (Mnih et al. 2016)."""
    return ActorCritic(obs_dim=4, act_dim=2, discrete=True)


class TwinQ(nn.Module):
    def __init__(self, num_inputs, num_actions, hidden_dim):
        super().__init__()
        self.linear1 = nn.Linear(num_inputs + num_actions, hidden_dim)
        self.linear2 = nn.Linear(hidden_dim, hidden_dim)
        self.linear3 = nn.Linear(hidden_dim, 1)
        self.linear4 = nn.Linear(num_inputs + num_actions, hidden_dim)
        self.linear5 = nn.Linear(hidden_dim, hidden_dim)
        self.linear6 = nn.Linear(hidden_dim, 1)

    def forward(self, state, action):
        xu = torch.cat([state, action], 1)
        x1 = F.relu(self.linear1(xu))
        x1 = F.relu(self.linear2(x1))
        x1 = self.linear3(x1)
        x2 = F.relu(self.linear4(xu))
        x2 = F.relu(self.linear5(x2))
        x2 = self.linear6(x2)
        return x1, x2


def sac_twin_critic() -> nn.Module:
    """Twin critic of soft actor-critic (Haarnoja et al. 2018)."""
    return TwinQ(11, 3, 256)


class WorldModel(nn.Module):
    def __init__(self, action_size=3, latent=32, hidden=256, gaussians=5):
        super().__init__()
        self.latent, self.hidden, self.gaussians = latent, hidden, gaussians
        self.enc = nn.Sequential(
            nn.Conv2d(3, 32, 4, 2), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(),
            nn.Conv2d(64, 128, 4, 2), nn.ReLU(), nn.Conv2d(128, 256, 4, 2), nn.ReLU(),
        )  # fmt: skip
        self.fc_mu, self.fc_logsigma = (
            nn.Linear(2 * 2 * 256, latent),
            nn.Linear(2 * 2 * 256, latent),
        )
        self.rnn = nn.LSTM(latent + action_size, hidden)
        self.gmm = nn.Linear(hidden, (2 * latent + 1) * gaussians + 2)

    def forward(self, obs, action):
        seq_len, bs = action.size(0), action.size(1)
        x = self.enc(obs.reshape(-1, 3, 64, 64)).flatten(1)
        mu, logsigma = self.fc_mu(x), self.fc_logsigma(x)
        z = (mu + logsigma.exp() * torch.randn_like(mu)).view(seq_len, bs, self.latent)
        outs, _ = self.rnn(torch.cat([action, z], dim=-1))
        gmm_outs = self.gmm(outs)
        stride = self.gaussians * self.latent
        mus = gmm_outs[:, :, :stride].view(seq_len, bs, self.gaussians, self.latent)
        sigmas = torch.exp(gmm_outs[:, :, stride : 2 * stride].view_as(mus))
        logpi = F.log_softmax(gmm_outs[:, :, 2 * stride : 2 * stride + self.gaussians], dim=-1)
        rs, ds = gmm_outs[:, :, -2], gmm_outs[:, :, -1]
        return mus, sigmas, logpi, rs, ds


def world_model_car_racing() -> nn.Module:
    """World model: encoder and mixture-density RNN (Ha and Schmidhuber 2018)."""
    return WorldModel()


class DecisionTransformer(nn.Module):
    def __init__(self, state_dim=11, act_dim=3, hidden=128, max_ep_len=1000, n_layer=2):
        super().__init__()
        self.hidden = hidden
        self.embed_timestep = nn.Embedding(max_ep_len, hidden)
        self.embed_return, self.embed_state = nn.Linear(1, hidden), nn.Linear(state_dim, hidden)
        self.embed_action, self.embed_ln = nn.Linear(act_dim, hidden), nn.LayerNorm(hidden)
        layer = nn.TransformerEncoderLayer(hidden, 1, 4 * hidden, batch_first=True)
        self.transformer = nn.TransformerEncoder(layer, n_layer, enable_nested_tensor=False)
        self.predict_action = nn.Sequential(nn.Linear(hidden, act_dim), nn.Tanh())

    def forward(self, states, actions, rewards, returns_to_go, timesteps, attention_mask=None):
        batch_size, seq_length = states.shape[0], states.shape[1]
        if attention_mask is None:
            attention_mask = torch.ones((batch_size, seq_length), dtype=torch.long)
        t = self.embed_timestep(timesteps)
        s, a = self.embed_state(states) + t, self.embed_action(actions) + t
        r = self.embed_return(returns_to_go) + t
        stacked = torch.stack((r, s, a), dim=1).permute(0, 2, 1, 3)
        stacked = self.embed_ln(stacked.reshape(batch_size, 3 * seq_length, self.hidden))
        pad = attention_mask.to(states.device).repeat_interleave(3, dim=1) == 0
        causal = nn.Transformer.generate_square_subsequent_mask(
            3 * seq_length, device=states.device
        )
        x = self.transformer(stacked, mask=causal.isinf(), src_key_padding_mask=pad)
        x = x.reshape(batch_size, seq_length, 3, self.hidden).permute(0, 2, 1, 3)
        return self.predict_action(x[:, 1])


def decision_transformer_hopper() -> nn.Module:
    """Decision transformer (Chen et al. 2021)."""
    return DecisionTransformer()


class ODEFunc(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(dim + 1, dim, 3, 1, 1), nn.Conv2d(dim + 1, dim, 3, 1, 1)
        self.norm1, self.norm2 = nn.GroupNorm(8, dim), nn.GroupNorm(8, dim)
        self.nfe = 0

    def forward(self, t, x):
        self.nfe += 1
        tt = torch.ones_like(x[:, :1, :, :]) * t
        out = self.conv1(torch.cat([tt, F.relu(self.norm1(x))], 1))
        return self.conv2(torch.cat([tt, F.relu(self.norm2(out))], 1))


class ODENet(nn.Module):
    def __init__(self, dim=32, steps=4):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, dim, 3, 2), nn.ReLU(), nn.Conv2d(dim, dim, 4, 2, 1))
        self.odefunc = ODEFunc(dim)
        self.steps = steps
        self.fc = nn.Linear(dim, 10)

    def forward(self, x):
        y, dt = self.down(x), 1.0 / self.steps
        for i in range(self.steps):  # classical Runge-Kutta
            t = i * dt
            k1 = self.odefunc(t, y)
            k2 = self.odefunc(t + dt / 2, y + dt * k1 / 2)
            k3 = self.odefunc(t + dt / 2, y + dt * k2 / 2)
            k4 = self.odefunc(t + dt, y + dt * k3)
            y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return self.fc(F.adaptive_avg_pool2d(y, (1, 1)).flatten(1))


def neural_ode_mnist() -> nn.Module:
    """Neural ODE with fixed Runge-Kutta steps (Chen et al. 2018)."""
    return ODENet()


class SpectralConv2d(nn.Module):
    def __init__(self, i, o, modes1, modes2):
        super().__init__()
        self.out_channels, self.modes1, self.modes2 = o, modes1, modes2
        scale = 1 / (i * o)
        self.weights1 = nn.Parameter(scale * torch.rand(i, o, modes1, modes2, dtype=torch.cfloat))
        self.weights2 = nn.Parameter(scale * torch.rand(i, o, modes1, modes2, dtype=torch.cfloat))

    def forward(self, x):
        x_ft = torch.fft.rfft2(x)
        out_ft = torch.zeros(
            x.shape[0], self.out_channels, x.size(-2), x.size(-1) // 2 + 1,
            dtype=torch.cfloat, device=x.device,
        )  # fmt: skip
        m1, m2 = self.modes1, self.modes2
        out_ft[:, :, :m1, :m2] = torch.einsum(
            "bixy,ioxy->boxy", x_ft[:, :, :m1, :m2], self.weights1
        )
        out_ft[:, :, -m1:, :m2] = torch.einsum(
            "bixy,ioxy->boxy", x_ft[:, :, -m1:, :m2], self.weights2
        )
        return torch.fft.irfft2(out_ft, s=(x.size(-2), x.size(-1)))


class FNO2d(nn.Module):
    def __init__(self, modes=12, width=20):
        super().__init__()
        self.padding = 9
        self.p = nn.Linear(12, width)  # u(t-10..t-1, x, y), x, y
        self.convs = nn.ModuleList(SpectralConv2d(width, width, modes, modes) for _ in range(4))
        self.ws = nn.ModuleList(nn.Conv2d(width, width, 1) for _ in range(4))
        self.q = nn.Sequential(nn.Linear(width, 128), nn.GELU(), nn.Linear(128, 1))

    def get_grid(self, shape, device):
        batchsize, size_x, size_y = shape[0], shape[1], shape[2]
        gridx = torch.linspace(0, 1, size_x, device=device).reshape(1, size_x, 1, 1)
        gridy = torch.linspace(0, 1, size_y, device=device).reshape(1, 1, size_y, 1)
        return torch.cat(
            (gridx.repeat([batchsize, 1, size_y, 1]), gridy.repeat([batchsize, size_x, 1, 1])),
            dim=-1,
        )

    def forward(self, x):
        grid = self.get_grid(x.shape, x.device)
        x = self.p(torch.cat((x, grid), dim=-1)).permute(0, 3, 1, 2)
        x = F.pad(x, [0, self.padding, 0, self.padding])
        for i, (conv, w) in enumerate(zip(self.convs, self.ws, strict=True)):
            x = conv(x) + w(x)
            if i < 3:
                x = F.gelu(x)
        x = x[..., : -self.padding, : -self.padding]
        return self.q(x.permute(0, 2, 3, 1))


def fourier_neural_operator() -> nn.Module:
    """Fourier neural operator for Navier-Stokes (Li et al. 2021)."""
    return FNO2d()


class DeepONet(nn.Module):
    def __init__(self, n_sensors=100, coord_dim=1, p=64, width=128):
        super().__init__()
        self.branch_net = nn.Sequential(
            nn.Linear(n_sensors, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, p),
        )
        self.trunk_net = nn.Sequential(
            nn.Linear(coord_dim, width),
            nn.Tanh(),
            nn.Linear(width, width),
            nn.Tanh(),
            nn.Linear(width, p),
        )
        self.b = nn.Parameter(torch.zeros(1))

    def forward(self, u, y):
        return torch.einsum("bp,bqp->bq", self.branch_net(u), self.trunk_net(y)) + self.b


def deep_o_net() -> nn.Module:
    """DeepONet with branch and trunk (Lu et al. 2021)."""
    return DeepONet()


class PINN(nn.Module):
    def __init__(self, layers=(2, 20, 20, 20, 20, 1), nu=0.01 / math.pi):
        super().__init__()
        self.nu = nu
        self.linears = nn.ModuleList(
            [nn.Linear(layers[i], layers[i + 1]) for i in range(len(layers) - 1)]
        )
        for lin in self.linears:
            nn.init.xavier_normal_(lin.weight)
            nn.init.zeros_(lin.bias)

    def net_u(self, x, t):
        a = torch.cat([x, t], dim=1)
        for lin in self.linears[:-1]:
            a = torch.tanh(lin(a))
        return self.linears[-1](a)

    def forward(self, x, t):
        x.requires_grad_(True)
        t.requires_grad_(True)
        u = self.net_u(x, t)
        ones = torch.ones_like(u)
        u_t = torch.autograd.grad(u, t, grad_outputs=ones, retain_graph=True, create_graph=True)[0]
        u_x = torch.autograd.grad(u, x, grad_outputs=ones, retain_graph=True, create_graph=True)[0]
        u_xx = torch.autograd.grad(
            u_x, x, torch.ones_like(u_x), retain_graph=True, create_graph=True
        )[0]
        f = u_t + u * u_x - self.nu * u_xx
        return u, f


def pinn_burgers() -> nn.Module:
    """Physics-informed network with the residual of Burgers' equation (Raissi et al. 2019)."""
    return PINN()


class HyperNetwork(nn.Module):
    def __init__(self, f_size=3, z_dim=64, out_size=16, in_size=16):
        super().__init__()
        self.z_dim, self.f_size, self.out_size, self.in_size = z_dim, f_size, out_size, in_size
        self.w1 = nn.Parameter(torch.fmod(torch.randn(z_dim, out_size * f_size * f_size), 2) * 0.01)
        self.b1 = nn.Parameter(torch.zeros(out_size * f_size * f_size))
        self.w2 = nn.Parameter(torch.fmod(torch.randn(z_dim, in_size * z_dim), 2) * 0.01)
        self.b2 = nn.Parameter(torch.zeros(in_size * z_dim))

    def forward(self, z):
        h_in = torch.matmul(z, self.w2) + self.b2
        h_in = h_in.view(self.in_size, self.z_dim)
        h_final = torch.matmul(h_in, self.w1) + self.b1
        return h_final.view(self.out_size, self.in_size, self.f_size, self.f_size)


class PrimaryNetwork(nn.Module):
    def __init__(self, z_dim=64, blocks=4):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1)
        self.hope = HyperNetwork(z_dim=z_dim)
        self.zs = nn.ParameterList(nn.Parameter(torch.randn(z_dim)) for _ in range(2 * blocks))
        self.bns = nn.ModuleList(nn.BatchNorm2d(16) for _ in range(2 * blocks))
        self.final = nn.Linear(16, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        for i in range(0, len(self.zs), 2):
            y = F.relu(self.bns[i](F.conv2d(x, self.hope(self.zs[i]), padding=1)))
            y = self.bns[i + 1](F.conv2d(y, self.hope(self.zs[i + 1]), padding=1))
            x = F.relu(x + y)
        return self.final(F.avg_pool2d(x, 8).mean((2, 3)))


def hypernetwork_cifar() -> nn.Module:
    """Static hypernetwork that makes a residual network's kernels (Ha et al. 2017)."""
    return PrimaryNetwork()


class SparseMoE(nn.Module):
    def __init__(self, d=64, num_experts=8, top_k=2):
        super().__init__()
        self.top_k, self.num_experts = top_k, num_experts
        self.gate = nn.Linear(d, num_experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(d, 4 * d), nn.SiLU(), nn.Linear(4 * d, d))
            for _ in range(num_experts)
        )

    def forward(self, hidden_states):
        b, n, d = hidden_states.shape
        hidden_states = hidden_states.view(-1, d)
        router_logits = self.gate(hidden_states)
        weights = F.softmax(router_logits, dim=1, dtype=torch.float)
        weights, selected = torch.topk(weights, self.top_k, dim=-1)
        weights /= weights.sum(dim=-1, keepdim=True)
        final = torch.zeros_like(hidden_states)
        expert_mask = F.one_hot(selected, num_classes=self.num_experts).permute(2, 1, 0)
        for expert_idx in range(self.num_experts):
            idx, top_x = torch.where(expert_mask[expert_idx])
            current = hidden_states[None, top_x].reshape(-1, d)
            current = self.experts[expert_idx](current) * weights[top_x, idx, None]
            final.index_add_(0, top_x, current)
        return final.reshape(b, n, d), router_logits


class MoELanguageModel(nn.Module):
    def __init__(self, vocab=4000, d=64, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.attn = nn.ModuleList(
            nn.MultiheadAttention(d, 4, batch_first=True) for _ in range(layers)
        )
        self.moe = nn.ModuleList(SparseMoE(d) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(2 * layers))
        self.lm_head = nn.Linear(d, vocab, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        n = tokens.size(1)
        mask = torch.triu(torch.ones(n, n, dtype=torch.bool, device=tokens.device), diagonal=1)
        all_router = ()
        for i, (a, m) in enumerate(zip(self.attn, self.moe, strict=True)):
            h = self.norms[2 * i](x)
            x = x + a(h, h, h, attn_mask=mask)[0]
            y, r = m(self.norms[2 * i + 1](x))
            x = x + y
            all_router += (r,)
        return self.lm_head(x), all_router


def sparse_moe_language_model() -> nn.Module:
    """Top-2 mixture of experts with index_add, as in Mixtral (Jiang et al. 2024)."""
    return MoELanguageModel()


class SurrogateSpike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x > 0).float()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output / (10 * torch.abs(x) + 1.0) ** 2


class SpikingNet(nn.Module):
    def __init__(self, nb_inputs=28 * 28, nb_hidden=100, nb_outputs=10, time_steps=10):
        super().__init__()
        self.T = time_steps
        self.fc1, self.fc2 = nn.Linear(nb_inputs, nb_hidden), nn.Linear(nb_hidden, nb_outputs)
        self.alpha, self.beta = 0.9, 0.85
        self.spike_fn = SurrogateSpike.apply

    def forward(self, x):
        x = x.flatten(1)
        syn = torch.zeros(x.size(0), self.fc1.out_features, device=x.device)
        mem, spk_count = torch.zeros_like(syn), torch.zeros_like(syn)
        out = torch.zeros(x.size(0), self.fc2.out_features, device=x.device)
        rec = []
        for _ in range(self.T):
            inp = torch.bernoulli(torch.clamp(x, 0, 1))
            syn = self.alpha * syn + self.fc1(inp)
            spk = self.spike_fn(mem - 1.0)
            mem = (self.beta * mem + syn) * (1.0 - spk.detach())
            spk_count += spk
            out = self.beta * out + self.fc2(spk)
            rec.append(out)
        return torch.stack(rec, dim=1).max(dim=1)[0], spk_count / self.T


def spiking_network() -> nn.Module:
    """Spiking network with surrogate gradients (Neftci et al. 2019)."""
    return SpikingNet()


class AdaptiveComputationRNN(nn.Module):
    def __init__(self, input_size=64, hidden=128, out=10, max_ponder=6, eps=0.01):
        super().__init__()
        self.cell, self.halt = nn.GRUCell(input_size + 1, hidden), nn.Linear(hidden, 1)
        self.out, self.max_ponder, self.eps = nn.Linear(hidden, out), max_ponder, eps

    def forward(self, seq, state=None):
        batch = seq.size(0)
        if state is None:
            state = seq.new_zeros(batch, self.cell.hidden_size)
        ponder_cost = seq.new_zeros(batch)
        for t in range(seq.size(1)):
            budget = seq.new_ones(batch)
            acc = torch.zeros_like(state)
            h = state
            for n in range(self.max_ponder):
                flag = seq.new_full((batch, 1), float(n == 0))
                h = self.cell(torch.cat([flag, seq[:, t]], dim=1), h)
                p = torch.minimum(torch.sigmoid(self.halt(h)).squeeze(1), budget)
                acc = acc + p.unsqueeze(1) * h
                budget = budget - p
                ponder_cost = ponder_cost + (budget > self.eps).float()
                if not (budget > self.eps).any():
                    break
            state = acc + budget.unsqueeze(1) * h
        return self.out(state), ponder_cost


def adaptive_computation_time() -> nn.Module:
    """Recurrent network that ponders until it halts (Graves 2016)."""
    return AdaptiveComputationRNN()


class Conv2dWithConstraint(nn.Conv2d):
    def __init__(self, *args, max_norm: float = 1, **kwargs):
        self.max_norm = max_norm
        super().__init__(*args, **kwargs)

    def forward(self, x):
        self.weight.data = torch.renorm(self.weight.data, p=2, dim=0, maxnorm=self.max_norm)
        return super().forward(x)


class EEGNet(nn.Module):
    def __init__(self, chunk_size=128, num_electrodes=22, F1=8, F2=16, D=2, num_classes=4):
        super().__init__()
        self.F2 = F2
        self.block1 = nn.Sequential(
            nn.Conv2d(1, F1, (1, 64), stride=1, padding=(0, 32), bias=False),
            nn.BatchNorm2d(F1, momentum=0.01, affine=True, eps=1e-3),
            Conv2dWithConstraint(
                F1, F1 * D, (num_electrodes, 1), max_norm=1, groups=F1, bias=False
            ),
            nn.BatchNorm2d(F1 * D),
            nn.ELU(),
            nn.AvgPool2d((1, 4), stride=4),
            nn.Dropout(p=0.25),
        )
        self.block2 = nn.Sequential(
            nn.Conv2d(F1 * D, F1 * D, (1, 16), padding=(0, 8), bias=False, groups=F1 * D),
            nn.Conv2d(F1 * D, F2, 1, bias=False),
            nn.BatchNorm2d(F2),
            nn.ELU(),
            nn.AvgPool2d((1, 8), stride=8),
            nn.Dropout(p=0.25),
        )
        self.lin = nn.Linear(F2 * (chunk_size // 32), num_classes, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.block1(x)
        x = self.block2(x)
        x = x.flatten(start_dim=1)
        return self.lin(x)


def eegnet_bci_iv_2a() -> nn.Module:
    """EEGNet (Lawhern et al. 2018)."""
    return EEGNet()


class ECGResBlock(nn.Module):
    def __init__(self, i, o, down, k=17):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv1d(i, o, k, padding=k // 2, bias=False), nn.BatchNorm1d(o)
        self.conv2 = nn.Conv1d(o, o, k, stride=down, padding=k // 2, bias=False)
        self.bn2, self.drop = nn.BatchNorm1d(o), nn.Dropout(0.2)
        self.skip = nn.Sequential(nn.MaxPool1d(down), nn.Conv1d(i, o, 1, bias=False))

    def forward(self, x, y):
        y = self.skip(y)
        x = self.drop(F.relu(self.bn1(self.conv1(x))))
        x = self.conv2(x)
        x = x + y
        y = x
        return self.drop(F.relu(self.bn2(x))), y


class ECGResNet(nn.Module):
    def __init__(
        self, input_dim=(12, 4096), blocks=((64, 1024), (128, 256), (196, 64)), n_classes=6
    ):
        super().__init__()
        self.conv1 = nn.Conv1d(input_dim[0], 64, 17, padding=8, bias=False)
        self.bn1 = nn.BatchNorm1d(64)
        self.res_blocks, i, n = nn.ModuleList(), 64, input_dim[1]
        for o, m in blocks:
            self.res_blocks.append(ECGResBlock(i, o, n // m))
            i, n = o, m
        self.lin = nn.Linear(i * n, n_classes)

    def forward(self, x):
        x = self.bn1(self.conv1(x))
        y = x
        for blk in self.res_blocks:
            x, y = blk(x, y)
        x = x.view(x.size(0), -1)
        return self.lin(x)


def ecg_resnet_12_lead() -> nn.Module:
    """Residual network on 12-lead ECG (Ribeiro et al. 2020)."""
    return ECGResNet()


class DeepConvLSTM(nn.Module):
    def __init__(self, n_channels=113, window=24, n_classes=18):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 64, (5, 1)), nn.Conv2d(64, 64, (5, 1))
        self.conv3, self.conv4 = nn.Conv2d(64, 64, (5, 1)), nn.Conv2d(64, 64, (5, 1))
        self.lstm, self.classifier = nn.LSTM(64 * n_channels, 128, 2), nn.Linear(128, n_classes)
        self.n_channels, self.window = n_channels, window

    def forward(self, inputs):
        x = inputs.view(-1, 1, self.window, self.n_channels)
        for c in (self.conv1, self.conv2, self.conv3, self.conv4):
            x = torch.relu(c(x))
        x = x.permute(2, 0, 1, 3).reshape(x.shape[2], -1, 64 * self.n_channels)
        x, _ = self.lstm(x)
        return self.classifier(x[-1])


def deep_conv_lstm_opportunity() -> nn.Module:
    """DeepConvLSTM for wearable sensors (Ordonez and Roggen 2016)."""
    return DeepConvLSTM()


class CLIP(nn.Module):
    def __init__(self, embed_dim=128, image_size=112, patch=16, width=192, vocab=49408, ctx=77):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, patch, patch, bias=False)
        self.class_embedding = nn.Parameter(torch.randn(width) * width**-0.5)
        self.v_pos = nn.Parameter(torch.randn((image_size // patch) ** 2 + 1, width) * width**-0.5)
        self.visual = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 3, 4 * width), 2)
        self.proj = nn.Parameter(torch.randn(width, embed_dim) * width**-0.5)
        self.token_embedding = nn.Embedding(vocab, width)
        self.positional_embedding = nn.Parameter(torch.empty(ctx, width).normal_(std=0.01))
        self.transformer = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 3, 4 * width), 2)
        self.ln_final = nn.LayerNorm(width)
        self.text_projection = nn.Parameter(torch.randn(width, embed_dim) * width**-0.5)
        self.logit_scale = nn.Parameter(torch.ones([]) * math.log(1 / 0.07))
        mask = torch.full((ctx, ctx), float("-inf")).triu_(1)
        self.register_buffer("attn_mask", mask, persistent=False)

    def encode_image(self, image):
        x = self.conv1(image)
        x = x.reshape(x.shape[0], x.shape[1], -1).permute(0, 2, 1)
        cls = self.class_embedding.to(x.dtype) + torch.zeros(x.shape[0], 1, x.shape[-1]).to(x)
        x = torch.cat([cls, x], dim=1) + self.v_pos
        x = self.visual(x.permute(1, 0, 2)).permute(1, 0, 2)
        return x[:, 0, :] @ self.proj

    def encode_text(self, text):
        x = self.token_embedding(text) + self.positional_embedding
        x = self.transformer(x.permute(1, 0, 2), mask=self.attn_mask).permute(1, 0, 2)
        x = self.ln_final(x)
        return x[torch.arange(x.shape[0]), text.argmax(dim=-1)] @ self.text_projection

    def forward(self, image, text):
        image_features, text_features = self.encode_image(image), self.encode_text(text)
        image_features = image_features / image_features.norm(dim=1, keepdim=True)
        text_features = text_features / text_features.norm(dim=1, keepdim=True)
        logits_per_image = self.logit_scale.exp() * image_features @ text_features.t()
        return logits_per_image, logits_per_image.t()


def clip_small() -> nn.Module:
    """CLIP with small towers (Radford et al. 2021)."""
    return CLIP()


class VQAModel(nn.Module):
    def __init__(self, embedding_tokens=15193, max_answers=3000):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv2d(3, 64, 7, 4, 3), nn.ReLU(), nn.Conv2d(64, 256, 3, 4, 1), nn.ReLU(),
            nn.Conv2d(256, 512, 3, 2, 1), nn.ReLU(),
        )  # fmt: skip
        self.embedding, self.lstm = (
            nn.Embedding(embedding_tokens, 300, padding_idx=0),
            nn.LSTM(300, 512),
        )
        self.v_conv, self.q_lin = nn.Conv2d(512, 256, 1, bias=False), nn.Linear(512, 256)
        self.x_conv = nn.Conv2d(256, 2, 1)
        self.classifier = nn.Sequential(
            nn.Linear(2 * 512 + 512, 512), nn.ReLU(), nn.Linear(512, max_answers)
        )

    def forward(self, v, q, q_len):
        emb = torch.tanh(self.embedding(q))
        packed = nn.utils.rnn.pack_padded_sequence(
            emb, q_len.cpu(), batch_first=True, enforce_sorted=False
        )
        _, (_, c) = self.lstm(packed)
        q = c.squeeze(0)
        v = self.cnn(v)
        v = v / (v.norm(p=2, dim=1, keepdim=True).expand_as(v) + 1e-8)
        tiled = self.q_lin(q).unsqueeze(-1).unsqueeze(-1).expand(-1, -1, *v.shape[-2:])
        a = self.x_conv(F.relu(self.v_conv(v) + tiled))
        n, g = a.size()[:2]
        a = F.softmax(a.view(n, g, -1), dim=-1)
        glimpse = torch.einsum("ngs,ncs->ngc", a, v.flatten(2)).reshape(n, -1)
        return self.classifier(torch.cat([glimpse, q], dim=1))


def vqa_show_ask_attend() -> nn.Module:
    """Show, ask, attend and answer (Kazemi and Elqursh 2017)."""
    return VQAModel()


class ShowAttendTell(nn.Module):
    def __init__(self, vocab_size=9490, emb=128, dec=256, enc=256, att=128):
        super().__init__()
        self.vocab_size = vocab_size
        self.encoder = nn.Sequential(
            nn.Conv2d(3, 64, 7, 4, 3), nn.ReLU(), nn.Conv2d(64, enc, 3, 4, 1), nn.ReLU(),
            nn.AdaptiveAvgPool2d((7, 7)),
        )  # fmt: skip
        self.enc_att, self.dec_att = nn.Linear(enc, att), nn.Linear(dec, att)
        self.full_att, self.embedding = nn.Linear(att, 1), nn.Embedding(vocab_size, emb)
        self.decode_step = nn.LSTMCell(emb + enc, dec)
        self.init_h, self.init_c = nn.Linear(enc, dec), nn.Linear(enc, dec)
        self.fc = nn.Linear(dec, vocab_size)

    def forward(self, images, encoded_captions, caption_lengths):
        feats = self.encoder(images).flatten(2).transpose(1, 2)
        batch_size = feats.size(0)
        caption_lengths, sort_ind = caption_lengths.sort(dim=0, descending=True)
        feats, encoded_captions = feats[sort_ind], encoded_captions[sort_ind]
        embeddings = self.embedding(encoded_captions)
        mean = feats.mean(dim=1)
        h, c = self.init_h(mean), self.init_c(mean)
        decode_lengths = (caption_lengths - 1).tolist()
        predictions = torch.zeros(batch_size, max(decode_lengths), self.vocab_size).to(feats.device)
        for t in range(max(decode_lengths)):
            b = sum([length > t for length in decode_lengths])
            e = self.full_att(F.relu(self.enc_att(feats[:b]) + self.dec_att(h[:b]).unsqueeze(1)))
            ctx = (feats[:b] * torch.softmax(e, dim=1)).sum(dim=1)
            h, c = self.decode_step(torch.cat([embeddings[:b, t, :], ctx], dim=1), (h[:b], c[:b]))
            predictions[:b, t, :] = self.fc(h)
        return predictions, encoded_captions, decode_lengths, sort_ind


def show_attend_tell() -> nn.Module:
    """Captions with visual attention, batch shrinking as captions end (Xu et al. 2015)."""
    return ShowAttendTell()


class MAE(nn.Module):
    def __init__(self, img_size=96, patch=16, dim=128, dec_dim=64, mask_ratio=0.75):
        super().__init__()
        self.p, self.mask_ratio = patch, mask_ratio
        n = (img_size // patch) ** 2
        self.embed, self.pos = nn.Conv2d(3, dim, patch, patch), nn.Parameter(torch.zeros(1, n, dim))

        def tr(d):
            layer = nn.TransformerEncoderLayer(d, 4, 4 * d, batch_first=True, norm_first=True)
            return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

        self.encoder, self.decoder = tr(dim), tr(dec_dim)
        self.enc_to_dec = nn.Linear(dim, dec_dim)
        self.mask_token = nn.Parameter(torch.zeros(1, 1, dec_dim))
        self.dec_pos = nn.Parameter(torch.zeros(1, n, dec_dim))
        self.pred = nn.Linear(dec_dim, patch**2 * 3)

    def patchify(self, imgs):
        h = w = imgs.shape[2] // self.p
        x = imgs.reshape(imgs.shape[0], 3, h, self.p, w, self.p)
        return torch.einsum("nchpwq->nhwpqc", x).reshape(imgs.shape[0], h * w, self.p**2 * 3)

    def forward(self, imgs):
        x = self.embed(imgs).flatten(2).transpose(1, 2) + self.pos
        N, L, D = x.shape
        len_keep = int(L * (1 - self.mask_ratio))
        ids_shuffle = torch.argsort(torch.rand(N, L, device=x.device), dim=1)
        ids_restore = torch.argsort(ids_shuffle, dim=1)
        keep = ids_shuffle[:, :len_keep]
        x = torch.gather(x, dim=1, index=keep.unsqueeze(-1).repeat(1, 1, D))
        mask = torch.ones([N, L], device=x.device)
        mask[:, :len_keep] = 0
        mask = torch.gather(mask, dim=1, index=ids_restore)
        x = self.enc_to_dec(self.encoder(x))
        tokens = torch.cat([x, self.mask_token.repeat(N, L - x.shape[1], 1)], dim=1)
        tokens = torch.gather(tokens, 1, ids_restore.unsqueeze(-1).repeat(1, 1, x.shape[2]))
        pred = self.pred(self.decoder(tokens + self.dec_pos))
        loss = ((pred - self.patchify(imgs)) ** 2).mean(dim=-1)
        return (loss * mask).sum() / mask.sum(), pred, mask


def masked_autoencoder() -> nn.Module:
    """Masked autoencoder with its loss (He et al. 2022)."""
    return MAE()
