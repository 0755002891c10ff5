"""Graphs, point clouds, molecules and proteins."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parameter import Parameter


class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.weight = Parameter(torch.empty(in_features, out_features))
        self.bias = Parameter(torch.empty(out_features))
        stdv = 1.0 / math.sqrt(self.weight.size(1))
        self.weight.data.uniform_(-stdv, stdv)
        self.bias.data.uniform_(-stdv, stdv)

    def forward(self, input, adj):
        support = torch.mm(input, self.weight)
        output = torch.spmm(adj, support)
        return output + self.bias


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout):
        super().__init__()
        self.gc1 = GraphConvolution(nfeat, nhid)
        self.gc2 = GraphConvolution(nhid, nclass)
        self.dropout = dropout

    def forward(self, x, adj):
        x = F.relu(self.gc1(x, adj))
        x = F.dropout(x, self.dropout, training=self.training)
        x = self.gc2(x, adj)
        return F.log_softmax(x, dim=1)


def gcn_cora() -> nn.Module:
    """GCN with an adjacency matrix (Kipf and Welling 2017)."""
    return GCN(nfeat=1433, nhid=16, nclass=7, dropout=0.5)


class GATLayer(nn.Module):
    def __init__(self, i, o, heads, concat=True):
        super().__init__()
        self.h, self.o, self.concat = heads, o, concat
        self.lin = nn.Linear(i, heads * o, bias=False)
        self.a_src = nn.Parameter(torch.randn(1, heads, o))
        self.a_dst = nn.Parameter(torch.randn(1, heads, o))

    def forward(self, x, edge_index):
        n = x.size(0)
        src, dst = edge_index
        h = self.lin(x).view(n, self.h, self.o)
        alpha = (h * self.a_src).sum(-1)[src] + (h * self.a_dst).sum(-1)[dst]
        alpha = F.leaky_relu(alpha, 0.2)
        amax = torch.full((n, self.h), -1e9, device=x.device).scatter_reduce(
            0, dst.unsqueeze(-1).expand_as(alpha), alpha, reduce="amax"
        )
        alpha = torch.exp(alpha - amax[dst])
        denom = torch.zeros(n, self.h, device=x.device).index_add_(0, dst, alpha)
        alpha = alpha / (denom[dst] + 1e-16)
        out = torch.zeros_like(h).index_add_(0, dst, h[src] * alpha.unsqueeze(-1))
        return out.flatten(1) if self.concat else out.mean(1)


class GAT(nn.Module):
    def __init__(self, num_features=500, num_classes=3):
        super().__init__()
        self.conv1 = GATLayer(num_features, 8, 8)
        self.conv2 = GATLayer(64, num_classes, 8, concat=False)

    def forward(self, x, edge_index):
        x = F.elu(self.conv1(x, edge_index))
        return F.log_softmax(self.conv2(x, edge_index), dim=-1)


def gat_pubmed() -> nn.Module:
    """GAT on an edge list (Velickovic et al. 2018)."""
    return GAT()


class MPNN(nn.Module):
    def __init__(self, num_features=11, edge_dim=4, dim=32, steps=3):
        super().__init__()
        self.steps, self.dim = steps, dim
        self.lin0 = nn.Linear(num_features, dim)
        self.edge_net = nn.Sequential(nn.Linear(edge_dim, 64), nn.ReLU(), nn.Linear(64, dim * dim))
        self.gru = nn.GRU(dim, dim)
        self.readout = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 1))

    def forward(self, data):
        out = F.relu(self.lin0(data.x))
        h = out.unsqueeze(0)
        row, col = data.edge_index[0], data.edge_index[1]
        w = self.edge_net(data.edge_attr).view(-1, self.dim, self.dim)
        for _ in range(self.steps):
            msg = torch.bmm(out[row].unsqueeze(1), w).squeeze(1)
            m = torch.zeros_like(out).index_add(0, col, msg)
            out, h = self.gru(F.relu(m).unsqueeze(0), h)
            out = out.squeeze(0)
        n_graphs = int(data.batch.max()) + 1
        pooled = out.new_zeros(n_graphs, self.dim).index_add(0, data.batch, out)
        return self.readout(pooled).view(-1)


def mpnn_qm9() -> nn.Module:
    """Message passing with edge networks on a data object (Gilmer et al. 2017)."""
    return MPNN()


class GINConv(nn.Module):
    def __init__(self, emb_dim):
        super().__init__()
        self.mlp = nn.Sequential(
            nn.Linear(emb_dim, 2 * emb_dim), nn.BatchNorm1d(2 * emb_dim), nn.ReLU(),
            nn.Linear(2 * emb_dim, emb_dim),
        )  # fmt: skip
        self.eps = nn.Parameter(torch.Tensor([0]))
        self.bond_encoder = nn.ModuleList(nn.Embedding(d, emb_dim) for d in (5, 6, 2))

    def forward(self, x, edge_index, edge_attr):
        e = 0
        for i in range(edge_attr.shape[1]):
            e = e + self.bond_encoder[i](edge_attr[:, i])
        msg = F.relu(x[edge_index[0]] + e)
        agg = torch.zeros_like(x).scatter_add_(0, edge_index[1].unsqueeze(1).expand_as(msg), msg)
        return self.mlp((1 + self.eps) * x + agg)


class GIN(nn.Module):
    def __init__(self, num_tasks=1, num_layer=3, emb_dim=64):
        super().__init__()
        dims = [119, 5, 12, 12, 10, 6, 6, 2, 2]
        self.atom_encoder = nn.ModuleList(nn.Embedding(d, emb_dim) for d in dims)
        self.convs = nn.ModuleList(GINConv(emb_dim) for _ in range(num_layer))
        self.norms = nn.ModuleList(nn.BatchNorm1d(emb_dim) for _ in range(num_layer))
        self.graph_pred_linear = nn.Linear(emb_dim, num_tasks)

    def forward(self, x, edge_index, edge_attr, batch):
        h = sum(enc(x[:, i]) for i, enc in enumerate(self.atom_encoder))
        for layer, (conv, bn) in enumerate(zip(self.convs, self.norms, strict=True)):
            h = bn(conv(h, edge_index, edge_attr))
            if layer < len(self.convs) - 1:
                h = F.relu(h)
        size = batch.max().item() + 1
        ones = torch.ones_like(h[:, :1])
        total = torch.zeros(size, h.shape[1], device=h.device).index_add_(0, batch, h)
        count = torch.zeros(size, 1, device=h.device).index_add_(0, batch, ones)
        return self.graph_pred_linear(total / count)


def gin_molhiv() -> nn.Module:
    """GIN with atom and bond encoders (Xu et al. 2019; Hu et al. 2020)."""
    return GIN()


class STN3d(nn.Module):
    def __init__(self, k=3):
        super().__init__()
        self.k = k
        self.conv1, self.conv2 = nn.Conv1d(k, 64, 1), nn.Conv1d(64, 128, 1)
        self.conv3 = nn.Conv1d(128, 1024, 1)
        self.fc1, self.fc2, self.fc3 = (
            nn.Linear(1024, 512),
            nn.Linear(512, 256),
            nn.Linear(256, k * k),
        )

    def forward(self, x):
        batchsize = x.size()[0]
        x = F.relu(self.conv3(F.relu(self.conv2(F.relu(self.conv1(x))))))
        x = torch.max(x, 2, keepdim=True)[0]
        x = x.view(-1, 1024)
        x = self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))
        iden = (
            torch.eye(self.k, dtype=x.dtype).flatten().view(1, self.k * self.k).repeat(batchsize, 1)
        )
        if x.is_cuda:
            iden = iden.cuda()
        x = x + iden
        return x.view(-1, self.k, self.k)


class PointNetCls(nn.Module):
    def __init__(self, k=40):
        super().__init__()
        self.stn, self.fstn = STN3d(3), STN3d(64)
        self.conv1, self.conv2, self.conv3 = (
            nn.Conv1d(3, 64, 1),
            nn.Conv1d(64, 128, 1),
            nn.Conv1d(128, 1024, 1),
        )
        self.bn1, self.bn2, self.bn3 = nn.BatchNorm1d(64), nn.BatchNorm1d(128), nn.BatchNorm1d(1024)
        self.fc = nn.Sequential(nn.Linear(1024, 256), nn.ReLU(), nn.Dropout(0.3), nn.Linear(256, k))

    def forward(self, x):
        trans = self.stn(x)
        x = x.transpose(2, 1)
        x = torch.bmm(x, trans)
        x = x.transpose(2, 1)
        x = F.relu(self.bn1(self.conv1(x)))
        trans_feat = self.fstn(x)
        x = torch.bmm(x.transpose(2, 1), trans_feat).transpose(2, 1)
        x = self.bn3(self.conv3(F.relu(self.bn2(self.conv2(x)))))
        x = torch.max(x, 2, keepdim=True)[0].view(-1, 1024)
        return F.log_softmax(self.fc(x), dim=1), trans, trans_feat


def pointnet_modelnet40() -> nn.Module:
    """PointNet with both alignment networks (Qi et al. 2017)."""
    return PointNetCls()


def _square_distance(src, dst):
    dist = -2 * torch.matmul(src, dst.permute(0, 2, 1))
    dist += torch.sum(src**2, -1).unsqueeze(-1)
    dist += torch.sum(dst**2, -1).unsqueeze(1)
    return dist


def _index_points(points, idx):
    device = points.device
    B = points.shape[0]
    view_shape = list(idx.shape)
    view_shape[1:] = [1] * (len(view_shape) - 1)
    repeat_shape = list(idx.shape)
    repeat_shape[0] = 1
    batch_indices = (
        torch.arange(B, dtype=torch.long).to(device).view(view_shape).repeat(repeat_shape)
    )
    return points[batch_indices, idx, :]


def _farthest_point_sample(xyz, npoint):
    device = xyz.device
    B, N, _C = xyz.shape
    centroids = torch.zeros(B, npoint, dtype=torch.long).to(device)
    distance = torch.ones(B, N).to(device) * 1e10
    farthest = torch.randint(0, N, (B,), dtype=torch.long).to(device)
    batch_indices = torch.arange(B, dtype=torch.long).to(device)
    for i in range(npoint):
        centroids[:, i] = farthest
        centroid = xyz[batch_indices, farthest, :].view(B, 1, 3)
        dist = torch.sum((xyz - centroid) ** 2, -1)
        mask = dist < distance
        distance[mask] = dist[mask]
        farthest = torch.max(distance, -1)[1]
    return centroids


class PointNetSetAbstraction(nn.Module):
    def __init__(self, npoint, radius, nsample, in_channel, mlp):
        super().__init__()
        self.npoint, self.radius, self.nsample = npoint, radius, nsample
        self.convs = nn.ModuleList()
        for o in mlp:
            self.convs.append(
                nn.Sequential(nn.Conv2d(in_channel, o, 1), nn.BatchNorm2d(o), nn.ReLU())
            )
            in_channel = o

    def query_ball(self, xyz, new_xyz):
        B, N, _ = xyz.shape
        S = new_xyz.shape[1]
        group_idx = torch.arange(N, dtype=torch.long).to(xyz.device).view(1, 1, N).repeat([B, S, 1])
        sqrdists = _square_distance(new_xyz, xyz)
        group_idx[sqrdists > self.radius**2] = N
        group_idx = group_idx.sort(dim=-1)[0][:, :, : self.nsample]
        group_first = group_idx[:, :, 0].view(B, S, 1).repeat([1, 1, self.nsample])
        mask = group_idx == N
        group_idx[mask] = group_first[mask]
        return group_idx

    def forward(self, xyz, points):
        xyz = xyz.permute(0, 2, 1)
        if points is not None:
            points = points.permute(0, 2, 1)
        if self.npoint is None:
            new_xyz = torch.zeros(xyz.shape[0], 1, 3).to(xyz.device)
            grouped = torch.cat([xyz, points], -1).unsqueeze(1)
        else:
            new_xyz = _index_points(xyz, _farthest_point_sample(xyz, self.npoint))
            idx = self.query_ball(xyz, new_xyz)
            grouped = _index_points(xyz, idx) - new_xyz.unsqueeze(2)
            if points is not None:
                grouped = torch.cat([grouped, _index_points(points, idx)], dim=-1)
        new_points = grouped.permute(0, 3, 2, 1)
        for conv in self.convs:
            new_points = conv(new_points)
        return new_xyz.permute(0, 2, 1), torch.max(new_points, 2)[0]


class PointNet2(nn.Module):
    def __init__(self, num_class, normal_channel=True):
        super().__init__()
        self.normal_channel = normal_channel
        in_channel = 6 if normal_channel else 3
        self.sa1 = PointNetSetAbstraction(64, 0.2, 16, in_channel, [32, 64])
        self.sa2 = PointNetSetAbstraction(16, 0.4, 16, 64 + 3, [64, 128])
        self.sa3 = PointNetSetAbstraction(None, None, None, 128 + 3, [128, 256])
        self.fc1, self.bn1, self.fc2 = (
            nn.Linear(256, 128),
            nn.BatchNorm1d(128),
            nn.Linear(128, num_class),
        )

    def forward(self, xyz):
        B, _, _ = xyz.shape
        if self.normal_channel:
            norm = xyz[:, 3:, :]
            xyz = xyz[:, :3, :]
        else:
            norm = None
        l1_xyz, l1_points = self.sa1(xyz, norm)
        l2_xyz, l2_points = self.sa2(l1_xyz, l1_points)
        _l3_xyz, l3_points = self.sa3(l2_xyz, l2_points)
        x = l3_points.view(B, 256)
        return F.log_softmax(self.fc2(F.relu(self.bn1(self.fc1(x)))), -1), l3_points


def pointnet2_ssg() -> nn.Module:
    """PointNet++ with single-scale grouping, points with normals (Qi et al. 2017)."""
    return PointNet2(40)


def _knn(x, k):
    inner = -2 * torch.matmul(x.transpose(2, 1), x)
    xx = torch.sum(x**2, dim=1, keepdim=True)
    pairwise_distance = -xx - inner - xx.transpose(2, 1)
    return pairwise_distance.topk(k=k, dim=-1)[1]


def _get_graph_feature(x, k=20, idx=None):
    batch_size = x.size(0)
    num_points = x.size(2)
    x = x.view(batch_size, -1, num_points)
    if idx is None:
        idx = _knn(x, k=k)
    idx_base = torch.arange(0, batch_size, device=x.device).view(-1, 1, 1) * num_points
    idx = (idx + idx_base).view(-1)
    _, num_dims, _ = x.size()
    x = x.transpose(2, 1).contiguous()
    feature = x.view(batch_size * num_points, -1)[idx, :]
    feature = feature.view(batch_size, num_points, k, num_dims)
    x = x.view(batch_size, num_points, 1, num_dims).repeat(1, 1, k, 1)
    return torch.cat((feature - x, x), dim=3).permute(0, 3, 1, 2).contiguous()


class DGCNN(nn.Module):
    def __init__(self, args, output_channels=40):
        super().__init__()
        self.k = args["k"]

        def conv(i, o):
            return nn.Sequential(
                nn.Conv2d(i, o, 1, bias=False), nn.BatchNorm2d(o), nn.LeakyReLU(0.2)
            )

        self.conv1, self.conv2, self.conv3 = conv(6, 64), conv(128, 64), conv(128, 128)
        self.conv5 = nn.Sequential(nn.Conv1d(256, args["emb_dims"], 1), nn.LeakyReLU(0.2))
        self.linear = nn.Linear(args["emb_dims"] * 2, output_channels)

    def forward(self, x):
        batch_size = x.size(0)
        x1 = self.conv1(_get_graph_feature(x, k=self.k)).max(dim=-1, keepdim=False)[0]
        x2 = self.conv2(_get_graph_feature(x1, k=self.k)).max(dim=-1, keepdim=False)[0]
        x3 = self.conv3(_get_graph_feature(x2, k=self.k)).max(dim=-1, keepdim=False)[0]
        x = self.conv5(torch.cat((x1, x2, x3), dim=1))
        p1 = F.adaptive_max_pool1d(x, 1).view(batch_size, -1)
        p2 = F.adaptive_avg_pool1d(x, 1).view(batch_size, -1)
        return self.linear(torch.cat((p1, p2), 1))


def dgcnn_modelnet40() -> nn.Module:
    """Dynamic graph CNN (Wang et al. 2019)."""
    return DGCNN({"k": 20, "emb_dims": 512})


class SchNet(nn.Module):
    def __init__(self, n_atom_basis=64, n_interactions=3, n_rbf=20, cutoff=5.0):
        super().__init__()
        self.cutoff = cutoff
        self.embedding = nn.Embedding(100, n_atom_basis, padding_idx=0)
        self.register_buffer("offsets", torch.linspace(0, cutoff, n_rbf))
        self.filters = nn.ModuleList(
            nn.Sequential(
                nn.Linear(n_rbf, n_atom_basis), nn.Softplus(), nn.Linear(n_atom_basis, n_atom_basis)
            )
            for _ in range(n_interactions)
        )
        self.in2f = nn.ModuleList(
            nn.Linear(n_atom_basis, n_atom_basis) for _ in range(n_interactions)
        )
        self.f2out = nn.ModuleList(
            nn.Linear(n_atom_basis, n_atom_basis) for _ in range(n_interactions)
        )
        self.out = nn.Sequential(nn.Linear(n_atom_basis, 32), nn.Softplus(), nn.Linear(32, 1))

    def forward(self, z: torch.Tensor, pos: torch.Tensor) -> dict[str, torch.Tensor]:
        # z [molecules, atoms] atomic numbers, 0 where there is none; pos in Angstrom
        mask = z > 0
        pair = mask[:, :, None] & mask[:, None, :]
        d = torch.sqrt(((pos[:, :, None] - pos[:, None]) ** 2).sum(-1) + 1e-8)
        rbf = torch.exp(-10.0 * (d.unsqueeze(-1) - self.offsets) ** 2)
        cut = 0.5 * (torch.cos(d * math.pi / self.cutoff) + 1.0) * (d < self.cutoff) * pair
        x = self.embedding(z)
        for f, i, o in zip(self.filters, self.in2f, self.f2out, strict=True):
            W = f(rbf) * cut.unsqueeze(-1)
            x = x + o(torch.einsum("bijf,bjf->bif", W, i(x)))
        atomic = self.out(x).squeeze(-1) * mask
        return {"energy": atomic.sum(-1), "atomic": atomic}


def schnet_energy() -> nn.Module:
    """SchNet on padded molecules (Schuett et al. 2017)."""
    return SchNet()


class E_GCL(nn.Module):
    def __init__(self, nf):
        super().__init__()
        self.edge_mlp = nn.Sequential(
            nn.Linear(2 * nf + 2, nf), nn.SiLU(), nn.Linear(nf, nf), nn.SiLU()
        )
        self.node_mlp = nn.Sequential(nn.Linear(2 * nf, nf), nn.SiLU(), nn.Linear(nf, nf))
        self.coord_mlp = nn.Sequential(nn.Linear(nf, nf), nn.SiLU(), nn.Linear(nf, 1, bias=False))

    def forward(self, h, edge_index, coord, edge_attr):
        row, col = edge_index
        diff = coord[row] - coord[col]
        radial = torch.sum(diff**2, 1).unsqueeze(1)
        m = self.edge_mlp(torch.cat([h[row], h[col], radial, edge_attr], dim=1))
        trans = diff * self.coord_mlp(m)
        coord = coord + torch.zeros_like(coord).index_add_(0, row, trans)
        agg = torch.zeros_like(h).index_add_(0, row, m)
        return h + self.node_mlp(torch.cat([h, agg], dim=1)), coord


class EGNN(nn.Module):
    def __init__(self, in_node_nf, hidden_nf, out_node_nf, n_layers=4):
        super().__init__()
        self.n_layers = n_layers
        self.embedding_in = nn.Linear(in_node_nf, hidden_nf)
        self.embedding_out = nn.Linear(hidden_nf, out_node_nf)
        for i in range(0, n_layers):
            self.add_module("gcl_%d" % i, E_GCL(hidden_nf))  # noqa: UP031

    def forward(self, h, x, edges, edge_attr):
        h = self.embedding_in(h)
        for i in range(0, self.n_layers):
            h, x = self._modules["gcl_%d" % i](h, edges, x, edge_attr=edge_attr)  # noqa: UP031
        return self.embedding_out(h), x


def egnn() -> nn.Module:
    """E(n) equivariant network, edges as a pair of lists (Satorras et al. 2021)."""
    return EGNN(in_node_nf=5, hidden_nf=32, out_node_nf=1)


class RotaryAttention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.hd = heads, d // heads
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        inv_freq = 1.0 / (10000 ** (torch.arange(0, self.hd, 2).float() / self.hd))
        self.register_buffer("inv_freq", inv_freq)
        self._seq_len_cached = None

    def _update_cos_sin(self, x):
        seq_len = x.shape[-2]
        if seq_len != self._seq_len_cached or self._cos_cached.device != x.device:
            self._seq_len_cached = seq_len
            t = torch.arange(seq_len, device=x.device).type_as(self.inv_freq)
            freqs = torch.einsum("i,j->ij", t, self.inv_freq)
            emb = torch.cat((freqs, freqs), dim=-1)
            self._cos_cached, self._sin_cached = emb.cos()[None, None], emb.sin()[None, None]
        return self._cos_cached, self._sin_cached

    def forward(self, x, mask):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, self.hd).permute(2, 0, 3, 1, 4)
        cos, sin = self._update_cos_sin(q)

        def rot(t):
            a, c = t.chunk(2, dim=-1)
            return t * cos + torch.cat((-c, a), dim=-1) * sin

        w = torch.matmul(rot(q), rot(k).transpose(-1, -2)) / self.hd**0.5
        w = w.masked_fill(mask[:, None, None, :], float("-inf")).softmax(-1)
        return self.out((w @ v).transpose(1, 2).reshape(b, n, d)), w


class ESM(nn.Module):
    def __init__(self, num_layers=3, embed_dim=128, heads=8, alphabet_size=33):
        super().__init__()
        self.padding_idx, self.mask_idx = 1, 32
        self.embed_tokens = nn.Embedding(alphabet_size, embed_dim, padding_idx=1)
        self.attn = nn.ModuleList(RotaryAttention(embed_dim, heads) for _ in range(num_layers))
        self.fc = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(embed_dim), nn.Linear(embed_dim, 4 * embed_dim), nn.GELU(),
                          nn.Linear(4 * embed_dim, embed_dim))
            for _ in range(num_layers)
        )  # fmt: skip
        self.ln = nn.LayerNorm(embed_dim)
        self.contact = nn.Linear(num_layers * heads, 1)
        self.lm_bias = nn.Parameter(torch.zeros(alphabet_size))

    def forward(self, tokens, repr_layers=(), need_head_weights=False, return_contacts=False):
        assert tokens.ndim == 2
        padding_mask = tokens.eq(self.padding_idx)
        x = self.embed_tokens(tokens)
        x.masked_fill_((tokens == self.mask_idx).unsqueeze(-1), 0.0)
        x = x * (1 - padding_mask.unsqueeze(-1).type_as(x))
        hidden, attns = {}, []
        for i, (attn, fc) in enumerate(zip(self.attn, self.fc, strict=True)):
            y, w = attn(x, padding_mask)
            x = x + y
            x = x + fc(x)
            attns.append(w)
            if i + 1 in repr_layers:
                hidden[i + 1] = x
        result = {"logits": F.linear(self.ln(x), self.embed_tokens.weight, self.lm_bias)}
        result["representations"] = hidden
        a = torch.cat(attns, 1)
        a = a + a.transpose(-1, -2)
        result["contacts"] = torch.sigmoid(self.contact(a.permute(0, 2, 3, 1)).squeeze(3))
        return result


def protein_language_model() -> nn.Module:
    """ESM-2-like protein language model (Lin et al. 2023)."""
    return ESM()


class SetTransformer(nn.Module):
    def __init__(self, dim_input=2, num_outputs=4, dim_output=5, num_inds=16, dim=64, heads=4):
        super().__init__()
        self.embed = nn.Linear(dim_input, dim)
        self.I = nn.Parameter(torch.empty(1, num_inds, dim))
        self.S = nn.Parameter(torch.empty(1, num_outputs, dim))
        nn.init.xavier_uniform_(self.I)
        nn.init.xavier_uniform_(self.S)
        self.mab = nn.ModuleList(
            nn.MultiheadAttention(dim, heads, batch_first=True) for _ in range(3)
        )
        self.fc = nn.ModuleList(nn.Linear(dim, dim) for _ in range(3))
        self.dec = nn.Linear(dim, dim_output)

    def forward(self, X):
        def mab(i, q, k):
            o = q + self.mab[i](q, k, k)[0]
            return o + F.relu(self.fc[i](o))

        X = self.embed(X)
        H = mab(0, self.I.repeat(X.size(0), 1, 1), X)
        X = mab(1, X, H)
        return self.dec(mab(2, self.S.repeat(X.size(0), 1, 1), X))


def set_transformer_gaussians() -> nn.Module:
    """Set transformer for mixtures of Gaussians (Lee et al. 2019)."""
    return SetTransformer()
