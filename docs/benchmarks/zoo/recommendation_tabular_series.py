"""Recommendation, tables and time series."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class DLRM_Net(nn.Module):
    def create_mlp(self, ln, sigmoid_layer):
        layers = nn.ModuleList()
        for i in range(0, len(ln) - 1):
            layers.append(nn.Linear(int(ln[i]), int(ln[i + 1]), bias=True))
            layers.append(nn.Sigmoid() if i == sigmoid_layer else nn.ReLU())
        return torch.nn.Sequential(*layers)

    def create_emb(self, m, ln):
        return nn.ModuleList([nn.EmbeddingBag(n, m, mode="sum") for n in ln])

    def __init__(
        self, m_spa=16, ln_emb=(1000, 500, 200, 40), ln_bot=(13, 64, 16), ln_top=(26, 64, 1)
    ):
        super().__init__()
        self.emb_l = self.create_emb(m_spa, ln_emb)
        self.bot_l = self.create_mlp(ln_bot, -1)
        self.top_l = self.create_mlp(ln_top, len(ln_top) - 2)

    def apply_emb(self, lS_o, lS_i, emb_l):
        ly = []
        for k, sparse_index_group_batch in enumerate(lS_i):
            sparse_offset_group_batch = lS_o[k]
            V = emb_l[k](sparse_index_group_batch, sparse_offset_group_batch)
            ly.append(V)
        return ly

    def interact_features(self, x, ly):
        (batch_size, d) = x.shape
        T = torch.cat([x, *ly], dim=1).view((batch_size, -1, d))
        Z = torch.bmm(T, torch.transpose(T, 1, 2))
        _, ni, nj = Z.shape
        li = torch.tensor([i for i in range(ni) for j in range(i)])
        lj = torch.tensor([j for i in range(nj) for j in range(i)])
        Zflat = Z[:, li, lj]
        return torch.cat([x, Zflat], dim=1)

    def forward(self, dense_x, lS_o, lS_i):
        x = self.bot_l(dense_x)
        ly = self.apply_emb(lS_o, lS_i, self.emb_l)
        z = self.interact_features(x, ly)
        return self.top_l(z)


def dlrm() -> nn.Module:
    """DLRM with offsets and indices per table (Naumov et al. 2019)."""
    return DLRM_Net()


class NeuMF(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        nu, ni = config["num_users"], config["num_items"]
        self.embedding_user_mlp = nn.Embedding(nu, config["latent_dim_mlp"])
        self.embedding_item_mlp = nn.Embedding(ni, config["latent_dim_mlp"])
        self.embedding_user_mf = nn.Embedding(nu, config["latent_dim_mf"])
        self.embedding_item_mf = nn.Embedding(ni, config["latent_dim_mf"])
        self.fc_layers = nn.ModuleList()
        for i, o in zip(config["layers"][:-1], config["layers"][1:], strict=True):
            self.fc_layers.append(nn.Linear(i, o))
        self.affine_output = nn.Linear(config["layers"][-1] + config["latent_dim_mf"], 1)

    def forward(self, user_indices, item_indices):
        user_embedding_mlp = self.embedding_user_mlp(user_indices)
        item_embedding_mlp = self.embedding_item_mlp(item_indices)
        mlp_vector = torch.cat([user_embedding_mlp, item_embedding_mlp], dim=-1)
        mf_vector = torch.mul(
            self.embedding_user_mf(user_indices), self.embedding_item_mf(item_indices)
        )
        for idx, _ in enumerate(range(len(self.fc_layers))):
            mlp_vector = torch.nn.ReLU()(self.fc_layers[idx](mlp_vector))
        vector = torch.cat([mlp_vector, mf_vector], dim=-1)
        return torch.sigmoid(self.affine_output(vector))


def neural_collaborative_filtering() -> nn.Module:
    """NeuMF on MovieLens-1M (He et al. 2017)."""
    return NeuMF(
        {
            "num_users": 6040,
            "num_items": 3706,
            "latent_dim_mf": 8,
            "latent_dim_mlp": 8,
            "layers": [16, 64, 32, 16, 8],
        }
    )


class DeepFM(nn.Module):
    def __init__(self, field_dims, embed_dim, mlp_dims, dropout):
        super().__init__()
        self.offsets = [0]
        for d in field_dims[:-1]:
            self.offsets.append(self.offsets[-1] + d)
        self.fc = nn.Embedding(sum(field_dims), 1)
        self.bias = nn.Parameter(torch.zeros((1,)))
        self.embedding = nn.Embedding(sum(field_dims), embed_dim)
        self.embed_output_dim = len(field_dims) * embed_dim
        layers, i = [], self.embed_output_dim
        for m in mlp_dims:
            layers += [nn.Linear(i, m), nn.BatchNorm1d(m), nn.ReLU(), nn.Dropout(p=dropout)]
            i = m
        self.mlp = nn.Sequential(*layers, nn.Linear(i, 1))

    def forward(self, x):
        """x: Long tensor of size ``(batch_size, num_fields)``"""
        x = x + x.new_tensor(self.offsets).unsqueeze(0)
        embed_x = self.embedding(x)
        square_of_sum = torch.sum(embed_x, dim=1) ** 2
        sum_of_square = torch.sum(embed_x**2, dim=1)
        fm = 0.5 * torch.sum(square_of_sum - sum_of_square, dim=1, keepdim=True)
        linear = torch.sum(self.fc(x), dim=1) + self.bias
        y = linear + fm + self.mlp(embed_x.view(-1, self.embed_output_dim))
        return torch.sigmoid(y.squeeze(1))


def deep_fm() -> nn.Module:
    """DeepFM (Guo et al. 2017)."""
    return DeepFM([943, 1682, 21, 2, 61, 18, 7], 16, (64, 32), 0.2)


class TwoTower(nn.Module):
    def __init__(self, n_users=5000, n_items=8000, n_genres=20, d=32):
        super().__init__()
        self.user_emb, self.item_emb = nn.Embedding(n_users, d), nn.Embedding(n_items, d)
        self.genre_emb = nn.Embedding(n_genres, d)
        self.user_tower = nn.Sequential(nn.Linear(2 * d, 64), nn.ReLU(), nn.Linear(64, d))
        self.item_tower = nn.Sequential(nn.Linear(2 * d, 64), nn.ReLU(), nn.Linear(64, d))
        self.temperature = 0.05

    def forward(self, features: dict[str, torch.Tensor]) -> torch.Tensor:
        hist = self.item_emb(features["history"]).mean(dim=1)
        user = self.user_tower(torch.cat([self.user_emb(features["user_id"]), hist], dim=-1))
        g = self.genre_emb(features["genre"])
        item = self.item_tower(torch.cat([self.item_emb(features["item_id"]), g], dim=-1))
        return F.normalize(user, dim=-1) @ F.normalize(item, dim=-1).T / self.temperature


def two_tower_retrieval() -> nn.Module:
    """Two-tower retrieval with in-batch negatives, features in a dict (Yi et al. 2019)."""
    return TwoTower()


class SASRec(nn.Module):
    def __init__(self, user_num, item_num, args):
        super().__init__()
        self.item_emb = nn.Embedding(item_num + 1, args.hidden_units, padding_idx=0)
        self.pos_emb = nn.Embedding(args.maxlen, args.hidden_units)
        self.attention_layernorms, self.attention_layers = nn.ModuleList(), nn.ModuleList()
        self.forward_layernorms, self.forward_layers = nn.ModuleList(), nn.ModuleList()
        self.last_layernorm = nn.LayerNorm(args.hidden_units, eps=1e-8)
        h = args.hidden_units
        for _ in range(args.num_blocks):
            self.attention_layernorms.append(nn.LayerNorm(h, eps=1e-8))
            self.attention_layers.append(nn.MultiheadAttention(h, args.num_heads))
            self.forward_layernorms.append(nn.LayerNorm(h, eps=1e-8))
            self.forward_layers.append(nn.Sequential(nn.Linear(h, h), nn.ReLU(), nn.Linear(h, h)))

    def log2feats(self, log_seqs):
        seqs = self.item_emb(log_seqs)
        seqs *= self.item_emb.embedding_dim**0.5
        positions = torch.arange(log_seqs.shape[1], device=seqs.device).expand(log_seqs.shape)
        seqs = seqs + self.pos_emb(positions)
        timeline_mask = log_seqs == 0
        seqs *= ~timeline_mask.unsqueeze(-1)
        tl = seqs.shape[1]
        attention_mask = ~torch.tril(torch.ones((tl, tl), dtype=torch.bool, device=seqs.device))
        for i in range(len(self.attention_layers)):
            seqs = torch.transpose(seqs, 0, 1)
            Q = self.attention_layernorms[i](seqs)
            mha_outputs, _ = self.attention_layers[i](Q, seqs, seqs, attn_mask=attention_mask)
            seqs = torch.transpose(Q + mha_outputs, 0, 1)
            seqs = self.forward_layernorms[i](seqs)
            seqs = seqs + self.forward_layers[i](seqs)
            seqs = seqs * ~timeline_mask.unsqueeze(-1)
        return self.last_layernorm(seqs)

    def forward(self, user_ids, log_seqs, pos_seqs, neg_seqs):
        log_feats = self.log2feats(log_seqs)
        pos_logits = (log_feats * self.item_emb(pos_seqs)).sum(dim=-1)
        neg_logits = (log_feats * self.item_emb(neg_seqs)).sum(dim=-1)
        return pos_logits, neg_logits


class _SASRecArgs:
    hidden_units = 50
    maxlen = 50
    num_blocks = 2
    num_heads = 1


def sasrec() -> nn.Module:
    """Self-attentive sequential recommendation (Kang and McAuley 2018)."""
    return SASRec(6040, 3416, _SASRecArgs)


class MMoE(nn.Module):
    def __init__(self, feature_size=499, n_expert=8, expert_dim=32, tasks=("income", "married")):
        super().__init__()
        self.tasks = tasks
        self.experts = nn.ModuleList(nn.Linear(feature_size, expert_dim) for _ in range(n_expert))
        self.gates = nn.ModuleDict({t: nn.Linear(feature_size, n_expert) for t in tasks})
        self.towers = nn.ModuleDict(
            {
                t: nn.Sequential(nn.Linear(expert_dim, 16), nn.ReLU(), nn.Linear(16, 1))
                for t in tasks
            }
        )

    def forward(self, x):
        expert_out = torch.stack([F.relu(e(x)) for e in self.experts], dim=1)
        out = {}
        for t in self.tasks:
            g = F.softmax(self.gates[t](x), dim=-1).unsqueeze(-1)
            out[t] = torch.sigmoid(self.towers[t]((g * expert_out).sum(dim=1)))
        return out


def mmoe_census() -> nn.Module:
    """Multi-gate mixture of experts (Ma et al. 2018)."""
    return MMoE()


class TabNet(nn.Module):
    def __init__(self, input_dim=54, output_dim=7, n_d=16, n_a=16, n_steps=3, gamma=1.3):
        super().__init__()
        self.n_d, self.n_a, self.gamma = n_d, n_a, gamma
        self.initial_bn = nn.BatchNorm1d(input_dim)
        self.shared = nn.Linear(input_dim, 2 * (n_d + n_a), bias=False)
        self.splits = nn.ModuleList(
            nn.Sequential(
                nn.BatchNorm1d(2 * (n_d + n_a)),
                nn.GLU(),
                nn.Linear(n_d + n_a, 2 * (n_d + n_a)),
                nn.GLU(),
            )
            for _ in range(n_steps + 1)
        )
        self.att = nn.ModuleList(
            nn.Sequential(nn.Linear(n_a, input_dim, bias=False), nn.BatchNorm1d(input_dim))
            for _ in range(n_steps)
        )
        self.final_mapping = nn.Linear(n_d, output_dim, bias=False)

    @staticmethod
    def sparsemax(z):
        z = z - z.max(dim=-1, keepdim=True)[0]
        zs, _ = torch.sort(z, descending=True, dim=-1)
        rng = torch.arange(1, z.size(-1) + 1, device=z.device, dtype=z.dtype)
        cum = zs.cumsum(-1) - 1
        support = rng * zs > cum
        k = support.sum(dim=-1, keepdim=True)
        tau = cum.gather(-1, k - 1) / k.to(z.dtype)
        return torch.clamp(z - tau, min=0)

    def forward(self, x):
        x = self.initial_bn(x)
        prior = torch.ones(x.shape).to(x.device)
        M_loss, agg = 0, 0
        att = self.splits[0](self.shared(x))[:, self.n_d :]
        for step in range(len(self.att)):
            M = self.sparsemax(self.att[step](att) * prior)
            M_loss += torch.mean(torch.sum(torch.mul(M, torch.log(M + 1e-15)), dim=1))
            prior = torch.mul(self.gamma - M, prior)
            out = self.splits[step + 1](self.shared(torch.mul(M, x)))
            agg = agg + F.relu(out[:, : self.n_d])
            att = out[:, self.n_d :]
        return self.final_mapping(agg), M_loss / len(self.att)


def tabnet_covertype() -> nn.Module:
    """TabNet with sparsemax masks (Arik and Pfister 2021)."""
    return TabNet()


class FTTransformer(nn.Module):
    def __init__(self, n_num, cardinalities, d=64, depth=2, heads=4, n_out=2):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_num, d).uniform_(-0.1, 0.1))
        self.bias = nn.Parameter(torch.zeros(n_num + len(cardinalities), d))
        self.cat = nn.ModuleList(nn.Embedding(c, d) for c in cardinalities)
        self.cls = nn.Parameter(torch.zeros(1, 1, d))
        layer = nn.TransformerEncoderLayer(d, heads, 2 * d, norm_first=True, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.LayerNorm(d), nn.ReLU(), nn.Linear(d, n_out))

    def forward(self, x_num: torch.Tensor, x_cat: torch.Tensor | None = None) -> torch.Tensor:
        tokens = [x_num.unsqueeze(-1) * self.weight]
        if self.cat:
            assert x_cat is not None
            tokens.append(torch.stack([e(x_cat[:, i]) for i, e in enumerate(self.cat)], 1))
        x = torch.cat(tokens, 1) + self.bias
        x = torch.cat([self.cls.expand(x.size(0), -1, -1), x], dim=1)
        return self.head(self.blocks(x)[:, 0])


def ft_transformer_adult() -> nn.Module:
    """FT-Transformer on the Adult columns (Gorishniy et al. 2021)."""
    return FTTransformer(6, [9, 16, 7, 15, 6, 5, 2, 42])


class NBeatsBlock(nn.Module):
    def __init__(self, units, thetas_dim, backcast_length, forecast_length, kind):
        super().__init__()
        self.kind, self.b, self.f = kind, backcast_length, forecast_length
        self.fc = nn.Sequential(
            nn.Linear(backcast_length, units), nn.ReLU(), nn.Linear(units, units), nn.ReLU()
        )
        self.theta_b, self.theta_f = nn.Linear(units, thetas_dim), nn.Linear(units, thetas_dim)
        if kind == "generic":
            self.g_b, self.g_f = nn.Linear(thetas_dim, self.b), nn.Linear(thetas_dim, self.f)

    def basis(self, theta, t):
        p = theta.size(-1)
        if self.kind == "trend":
            T = torch.stack([t**i for i in range(p)])
        else:
            T = torch.stack(
                [torch.cos(2 * math.pi * i * t) for i in range(p // 2)]
                + [torch.sin(2 * math.pi * i * t) for i in range(p - p // 2)]
            )
        return theta.mm(T.to(theta.device))

    def forward(self, x):
        x = self.fc(x)
        if self.kind == "generic":
            return self.g_b(self.theta_b(x)), self.g_f(self.theta_f(x))
        tb = torch.linspace(0, 1, self.b, device=x.device)
        tf = torch.linspace(0, 1, self.f, device=x.device)
        return self.basis(self.theta_b(x), tb), self.basis(self.theta_f(x), tf)


class NBeatsNet(nn.Module):
    def __init__(self, backcast_length=50, forecast_length=10, units=128):
        super().__init__()
        self.backcast_length, self.forecast_length = backcast_length, forecast_length
        self.stacks = [
            [NBeatsBlock(units, dim, backcast_length, forecast_length, kind) for _ in range(2)]
            for kind, dim in (("trend", 3), ("seasonality", 8), ("generic", 8))
        ]
        self.params = nn.ModuleList(b for s in self.stacks for b in s)

    def forward(self, backcast):
        if len(backcast.shape) == 3 and backcast.shape[-1] == 1:
            backcast = backcast.squeeze(-1)
        forecast = torch.zeros(size=(backcast.size()[0], self.forecast_length))
        forecast = forecast.to(backcast.device)
        for stack in self.stacks:
            for block in stack:
                b, f = block(backcast)
                backcast = backcast - b
                forecast = forecast + f
        return backcast, forecast


def n_beats() -> nn.Module:
    """N-BEATS with interpretable and generic stacks (Oreshkin et al. 2020)."""
    return NBeatsNet()


class Chomp1d(nn.Module):
    def __init__(self, chomp_size):
        super().__init__()
        self.chomp_size = chomp_size

    def forward(self, x):
        return x[:, :, : -self.chomp_size].contiguous()


class TemporalBlock(nn.Module):
    def __init__(self, n_inputs, n_outputs, kernel_size, dilation):
        super().__init__()
        pad = (kernel_size - 1) * dilation
        self.net = nn.Sequential(
            nn.Conv1d(n_inputs, n_outputs, kernel_size, padding=pad, dilation=dilation),
            Chomp1d(pad), nn.ReLU(), nn.Dropout(0.2),
            nn.Conv1d(n_outputs, n_outputs, kernel_size, padding=pad, dilation=dilation),
            Chomp1d(pad), nn.ReLU(), nn.Dropout(0.2),
        )  # fmt: skip
        self.downsample = nn.Conv1d(n_inputs, n_outputs, 1) if n_inputs != n_outputs else None

    def forward(self, x):
        res = x if self.downsample is None else self.downsample(x)
        return F.relu(self.net(x) + res)


class TCN(nn.Module):
    def __init__(self, input_size, output_size, num_channels, kernel_size):
        super().__init__()
        chans = [input_size, *num_channels]
        self.tcn = nn.Sequential(
            *[
                TemporalBlock(chans[i], chans[i + 1], kernel_size, 2**i)
                for i in range(len(num_channels))
            ]
        )
        self.linear = nn.Linear(num_channels[-1], output_size)

    def forward(self, inputs):
        """Inputs have to have dimension (N, C_in, L_in)"""
        y1 = self.tcn(inputs)
        o = self.linear(y1[:, :, -1])
        return F.log_softmax(o, dim=1)


def tcn_sequential_mnist() -> nn.Module:
    """Temporal convolutional network on pixel sequences (Bai et al. 2018)."""
    return TCN(1, 10, [25] * 8, kernel_size=7)


class DataEmbedding(nn.Module):
    def __init__(self, c_in, d_model):
        super().__init__()
        self.value = nn.Conv1d(c_in, d_model, 3, padding=1, padding_mode="circular", bias=False)
        self.hour, self.weekday = nn.Embedding(24, d_model), nn.Embedding(7, d_model)
        self.day, self.month = nn.Embedding(32, d_model), nn.Embedding(13, d_model)

    def forward(self, x, x_mark):
        x_mark = x_mark.long()
        t = self.hour(x_mark[:, :, 3]) + self.weekday(x_mark[:, :, 2])
        t = t + self.day(x_mark[:, :, 1]) + self.month(x_mark[:, :, 0])
        return self.value(x.permute(0, 2, 1)).transpose(1, 2) + t


class ProbAttention(nn.Module):
    def __init__(self, d, heads, factor=5):
        super().__init__()
        self.h, self.factor = heads, factor
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.o = nn.Linear(d, d)

    def forward(self, queries, keys, values):
        B, L, D = queries.shape
        S = keys.shape[1]
        q = self.q(queries).view(B, L, self.h, -1).transpose(1, 2)
        k = self.k(keys).view(B, S, self.h, -1).transpose(1, 2)
        v = self.v(values).view(B, S, self.h, -1).transpose(1, 2)
        u = min(self.factor * math.ceil(math.log(S)), S)
        n = min(self.factor * math.ceil(math.log(L)), L)
        idx = torch.randint(S, (L, u), device=k.device)
        k_sample = k.unsqueeze(-3).expand(-1, -1, L, -1, -1)
        k_sample = k_sample[:, :, torch.arange(L, device=k.device).unsqueeze(1), idx, :]
        qk = torch.matmul(q.unsqueeze(-2), k_sample.transpose(-2, -1)).squeeze(-2)
        M = qk.max(-1)[0] - torch.div(qk.sum(-1), S)
        top = M.topk(n, sorted=False)[1]
        bi = torch.arange(B, device=q.device)[:, None, None]
        hi = torch.arange(self.h, device=q.device)[None, :, None]
        scores = torch.matmul(q[bi, hi, top, :], k.transpose(-2, -1)) / math.sqrt(D // self.h)
        ctx = v.mean(dim=-2).unsqueeze(-2).expand(B, self.h, L, v.shape[-1]).clone()
        ctx[bi, hi, top, :] = torch.matmul(torch.softmax(scores, -1), v)
        return self.o(ctx.transpose(1, 2).reshape(B, L, D))


class Informer(nn.Module):
    def __init__(self, enc_in=7, dec_in=7, c_out=7, out_len=24, d_model=64, n_heads=4):
        super().__init__()
        self.pred_len = out_len
        self.enc_embedding = DataEmbedding(enc_in, d_model)
        self.dec_embedding = DataEmbedding(dec_in, d_model)
        self.enc_attn = nn.ModuleList(ProbAttention(d_model, n_heads) for _ in range(2))
        self.distil = nn.Sequential(
            nn.Conv1d(d_model, d_model, 3, padding=1), nn.ELU(), nn.MaxPool1d(3, 2, 1)
        )
        self.dec_self, self.dec_cross = (
            ProbAttention(d_model, n_heads),
            ProbAttention(d_model, n_heads),
        )
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(4))
        self.projection = nn.Linear(d_model, c_out, bias=True)

    def forward(self, x_enc, x_mark_enc, x_dec, x_mark_dec, enc_self_mask=None, dec_self_mask=None):
        e = self.enc_embedding(x_enc, x_mark_enc)
        for i, attn in enumerate(self.enc_attn):
            e = self.norms[i](e + attn(e, e, e))
            if i == 0:
                e = self.distil(e.transpose(1, 2)).transpose(1, 2)
        d = self.dec_embedding(x_dec, x_mark_dec)
        d = self.norms[2](d + self.dec_self(d, d, d))
        d = self.norms[3](d + self.dec_cross(d, e, e))
        return self.projection(d)[:, -self.pred_len :, :]


def informer_etth1() -> nn.Module:
    """Informer with ProbSparse attention (Zhou et al. 2021)."""
    return Informer()


class PatchTST(nn.Module):
    def __init__(self, configs):
        super().__init__()
        self.patch_len, self.stride = configs.patch_len, configs.stride
        n = (configs.seq_len - configs.patch_len) // configs.stride + 2
        self.padding_patch_layer = nn.ReplicationPad1d((0, configs.stride))
        self.W_P, self.W_pos = nn.Linear(configs.patch_len, 128), nn.Parameter(torch.zeros(n, 128))
        layer = nn.TransformerEncoderLayer(128, 8, 256, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(128 * n, configs.pred_len)

    def forward(self, x):  # x: [Batch, Input length, Channel]
        mean = x.mean(1, keepdim=True).detach()
        std = torch.sqrt(torch.var(x, dim=1, keepdim=True, unbiased=False) + 1e-5).detach()
        z = ((x - mean) / std).permute(0, 2, 1)
        bs, nvars, _ = z.shape
        z = self.padding_patch_layer(z).unfold(dimension=-1, size=self.patch_len, step=self.stride)
        u = self.W_P(z).reshape(bs * nvars, z.shape[2], 128) + self.W_pos
        out = self.head(self.encoder(u).reshape(bs, nvars, -1)).permute(0, 2, 1)
        return out * std + mean


class _PatchTSTConfigs:
    seq_len = 336
    pred_len = 96
    patch_len = 16
    stride = 8


def patch_tst() -> nn.Module:
    """PatchTST, channels independent (Nie et al. 2023)."""
    return PatchTST(_PatchTSTConfigs())


class LSTNet(nn.Module):
    def __init__(self, P=168, m=8, hidR=100, hidC=100, hidS=5, Ck=6, skip=24, hw=24):
        super().__init__()
        self.P, self.m, self.hidR, self.hidC, self.hidS = P, m, hidR, hidC, hidS
        self.Ck, self.skip, self.hw, self.pt = Ck, skip, hw, (P - Ck) // skip
        self.conv1 = nn.Conv2d(1, hidC, kernel_size=(Ck, m))
        self.GRU1, self.GRUskip = nn.GRU(hidC, hidR), nn.GRU(hidC, hidS)
        self.linear1 = nn.Linear(hidR + skip * hidS, m)
        self.highway = nn.Linear(hw, 1)

    def forward(self, x):
        batch_size = x.size(0)
        c = x.view(-1, 1, self.P, self.m)
        c = F.relu(self.conv1(c))
        c = torch.squeeze(c, 3)
        r = c.permute(2, 0, 1).contiguous()
        _, r = self.GRU1(r)
        r = torch.squeeze(r, 0)
        s = c[:, :, int(-self.pt * self.skip) :].contiguous()
        s = s.view(batch_size, self.hidC, self.pt, self.skip)
        s = s.permute(2, 0, 3, 1).contiguous()
        s = s.view(self.pt, batch_size * self.skip, self.hidC)
        _, s = self.GRUskip(s)
        s = s.view(batch_size, self.skip * self.hidS)
        res = self.linear1(torch.cat((r, s), 1))
        z = x[:, -self.hw :, :].permute(0, 2, 1).contiguous().view(-1, self.hw)
        return res + self.highway(z).view(-1, self.m)


def lstnet_exchange_rate() -> nn.Module:
    """LSTNet (Lai et al. 2018)."""
    return LSTNet()


class STGCNBlock(nn.Module):
    def __init__(self, cin, spatial, cout, num_nodes):
        super().__init__()
        self.temporal1 = nn.Conv2d(cin, 2 * cout, (1, 3))
        self.Theta1 = nn.Parameter(torch.randn(cout, spatial))
        self.temporal2 = nn.Conv2d(spatial, 2 * cout, (1, 3))
        self.batch_norm = nn.BatchNorm2d(num_nodes)

    def forward(self, X, A_hat):
        def tconv(m, x):
            return F.glu(m(x.permute(0, 3, 1, 2)), 1).permute(0, 2, 3, 1)

        t = tconv(self.temporal1, X)
        lfs = torch.einsum("ij,jklm->kilm", [A_hat, t.permute(1, 0, 2, 3)])
        t2 = F.relu(torch.matmul(lfs, self.Theta1))
        return self.batch_norm(tconv(self.temporal2, t2))


class STGCN(nn.Module):
    def __init__(self, num_nodes, num_features, num_timesteps_input, num_timesteps_output):
        super().__init__()
        self.block1 = STGCNBlock(num_features, 16, 64, num_nodes)
        self.block2 = STGCNBlock(64, 16, 64, num_nodes)
        self.fully = nn.Linear((num_timesteps_input - 8) * 64, num_timesteps_output)

    def forward(self, A_hat, X):
        out = self.block2(self.block1(X, A_hat), A_hat)
        return self.fully(out.reshape((out.shape[0], out.shape[1], -1)))


def stgcn_metr_la() -> nn.Module:
    """Spatio-temporal graph convolution for traffic (Yu et al. 2018)."""
    return STGCN(207, 2, 12, 3)
