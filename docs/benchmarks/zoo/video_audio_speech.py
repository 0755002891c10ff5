"""Video, audio, speech and text-line recognition."""

import math
from itertools import pairwise

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class C3D(nn.Module):
    def __init__(self, num_classes=101):
        super().__init__()
        self.conv1 = nn.Conv3d(3, 64, kernel_size=(3, 3, 3), padding=(1, 1, 1))
        self.pool1 = nn.MaxPool3d(kernel_size=(1, 2, 2), stride=(1, 2, 2))
        self.conv2 = nn.Conv3d(64, 128, kernel_size=(3, 3, 3), padding=(1, 1, 1))
        self.pool2 = nn.MaxPool3d(kernel_size=(2, 2, 2), stride=(2, 2, 2))
        self.conv3a = nn.Conv3d(128, 256, kernel_size=(3, 3, 3), padding=(1, 1, 1))
        self.conv3b = nn.Conv3d(256, 256, kernel_size=(3, 3, 3), padding=(1, 1, 1))
        self.pool3 = nn.MaxPool3d(kernel_size=(2, 2, 2), stride=(2, 2, 2))
        self.conv4a = nn.Conv3d(256, 512, kernel_size=(3, 3, 3), padding=(1, 1, 1))
        self.conv4b = nn.Conv3d(512, 512, kernel_size=(3, 3, 3), padding=(1, 1, 1))
        self.pool4 = nn.MaxPool3d(kernel_size=(2, 2, 2), stride=(2, 2, 2))
        self.conv5a = nn.Conv3d(512, 512, kernel_size=(3, 3, 3), padding=(1, 1, 1))
        self.conv5b = nn.Conv3d(512, 512, kernel_size=(3, 3, 3), padding=(1, 1, 1))
        self.pool5 = nn.MaxPool3d(kernel_size=(2, 2, 2), stride=(2, 2, 2), padding=(0, 1, 1))
        self.fc6 = nn.Linear(8192, 4096)
        self.fc7 = nn.Linear(4096, 4096)
        self.fc8 = nn.Linear(4096, num_classes)
        self.dropout = nn.Dropout(p=0.5)
        self.relu = nn.ReLU()

    def forward(self, x):
        x = self.relu(self.conv1(x))
        x = self.pool1(x)
        x = self.relu(self.conv2(x))
        x = self.pool2(x)
        x = self.relu(self.conv3a(x))
        x = self.relu(self.conv3b(x))
        x = self.pool3(x)
        x = self.relu(self.conv4a(x))
        x = self.relu(self.conv4b(x))
        x = self.pool4(x)
        x = self.relu(self.conv5a(x))
        x = self.relu(self.conv5b(x))
        x = self.pool5(x)
        x = x.view(-1, 8192)
        x = self.relu(self.fc6(x))
        x = self.dropout(x)
        x = self.relu(self.fc7(x))
        x = self.dropout(x)
        return self.fc8(x)


def c3d_ucf101() -> nn.Module:
    """C3D, 16 frames of 112 pixels (Tran et al. 2015)."""
    return C3D()


class Conv2Plus1D(nn.Sequential):
    def __init__(self, i, o, stride=1):
        mid = (i * o * 27) // (i * 9 + 3 * o)
        super().__init__(
            nn.Conv3d(i, mid, (1, 3, 3), (1, stride, stride), (0, 1, 1), bias=False),
            nn.BatchNorm3d(mid),
            nn.ReLU(inplace=True),
            nn.Conv3d(mid, o, (3, 1, 1), (stride, 1, 1), (1, 0, 0), bias=False),
        )


class R2Plus1DBlock(nn.Module):
    def __init__(self, i, o, stride=1):
        super().__init__()
        self.conv1 = nn.Sequential(Conv2Plus1D(i, o, stride), nn.BatchNorm3d(o), nn.ReLU(True))
        self.conv2 = nn.Sequential(Conv2Plus1D(o, o), nn.BatchNorm3d(o))
        self.down = None
        if stride != 1 or i != o:
            self.down = nn.Sequential(nn.Conv3d(i, o, 1, stride), nn.BatchNorm3d(o))

    def forward(self, x):
        identity = x if self.down is None else self.down(x)
        return F.relu(self.conv2(self.conv1(x)) + identity, inplace=True)


class R2Plus1D(nn.Module):
    def __init__(self, num_classes=400, widths=(32, 64, 128)):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv3d(3, 45, (1, 7, 7), (1, 2, 2), (0, 3, 3)), nn.ReLU(True),
            nn.Conv3d(45, widths[0], (3, 1, 1), 1, (1, 0, 0)), nn.ReLU(True),
        )  # fmt: skip
        blocks, c = [], widths[0]
        for w in widths:
            blocks += [R2Plus1DBlock(c, w, 1 if c == w else 2), R2Plus1DBlock(w, w)]
            c = w
        self.layers = nn.Sequential(*blocks)
        self.pool, self.fc = nn.AdaptiveAvgPool3d((1, 1, 1)), nn.Linear(c, num_classes)

    def forward(self, clip: torch.Tensor) -> torch.Tensor:
        return self.fc(self.pool(self.layers(self.stem(clip))).flatten(1))


def r2plus1d() -> nn.Module:
    """R(2+1)D with three stages (Tran et al. 2018)."""
    return R2Plus1D()


class TSN_TSM(nn.Module):
    def __init__(self, num_class, num_segments=8, shift_div=8):
        super().__init__()
        self.num_segments, self.fold_div = num_segments, shift_div
        self.convs, c = nn.ModuleList(), 3
        for o in (32, 64, 128):
            self.convs.append(nn.Sequential(nn.Conv2d(c, o, 3, 2, 1), nn.BatchNorm2d(o), nn.ReLU()))
            c = o
        self.new_fc = nn.Linear(c, num_class)

    def shift(self, x, n_segment):
        nt, c, h, w = x.size()
        n_batch = nt // n_segment
        x = x.view(n_batch, n_segment, c, h, w)
        fold = c // self.fold_div
        out = torch.zeros_like(x)
        out[:, :-1, :fold] = x[:, 1:, :fold]  # shift left
        out[:, 1:, fold : 2 * fold] = x[:, :-1, fold : 2 * fold]  # shift right
        out[:, :, 2 * fold :] = x[:, :, 2 * fold :]  # not shift
        return out.view(nt, c, h, w)

    def forward(self, input):
        # N, T * C, H, W as the loader stacks frames along channels
        x = input.view((-1, 3, *input.size()[-2:]))
        for i, conv in enumerate(self.convs):
            if i > 0:
                x = self.shift(x, self.num_segments)
            x = conv(x)
        base_out = self.new_fc(x.mean([2, 3]))
        base_out = base_out.view((-1, self.num_segments, *base_out.size()[1:]))
        return base_out.mean(dim=1)


def temporal_shift_module() -> nn.Module:
    """TSM with frames stacked along the channels (Lin et al. 2019)."""
    return TSN_TSM(174)


class ConvLSTMCell(nn.Module):
    def __init__(self, input_dim, hidden_dim, kernel_size, bias):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.conv = nn.Conv2d(
            in_channels=input_dim + hidden_dim,
            out_channels=4 * hidden_dim,
            kernel_size=kernel_size,
            padding=(kernel_size[0] // 2, kernel_size[1] // 2),
            bias=bias,
        )

    def forward(self, input_tensor, cur_state):
        h_cur, c_cur = cur_state
        combined_conv = self.conv(torch.cat([input_tensor, h_cur], dim=1))
        cc_i, cc_f, cc_o, cc_g = torch.split(combined_conv, self.hidden_dim, dim=1)
        c_next = torch.sigmoid(cc_f) * c_cur + torch.sigmoid(cc_i) * torch.tanh(cc_g)
        return torch.sigmoid(cc_o) * torch.tanh(c_next), c_next

    def init_hidden(self, batch_size, image_size):
        height, width = image_size
        dev = self.conv.weight.device
        return (
            torch.zeros(batch_size, self.hidden_dim, height, width, device=dev),
            torch.zeros(batch_size, self.hidden_dim, height, width, device=dev),
        )


class ConvLSTM(nn.Module):
    def __init__(self, input_dim=1, hidden_dim=(32, 32), batch_first=False):
        super().__init__()
        self.batch_first = batch_first
        dims = [input_dim, *hidden_dim]
        self.cell_list = nn.ModuleList(ConvLSTMCell(a, b, (3, 3), True) for a, b in pairwise(dims))
        self.to_frame = nn.Conv2d(hidden_dim[-1], input_dim, 1)

    def forward(self, input_tensor, hidden_state=None):
        """input_tensor: 5-D tensor, (t, b, c, h, w) or (b, t, c, h, w)"""
        if not self.batch_first:
            input_tensor = input_tensor.permute(1, 0, 2, 3, 4)
        b, seq_len, _, h, w = input_tensor.size()
        if hidden_state is not None:
            raise NotImplementedError()
        states = [cell.init_hidden(b, (h, w)) for cell in self.cell_list]
        cur = input_tensor
        for i, cell in enumerate(self.cell_list):
            hh, c = states[i]
            inner = []
            for t in range(seq_len):
                hh, c = cell(input_tensor=cur[:, t, :, :, :], cur_state=[hh, c])
                inner.append(hh)
            cur = torch.stack(inner, dim=1)
            states[i] = (hh, c)
        return self.to_frame(cur[:, -1]), states


def conv_lstm_moving_mnist() -> nn.Module:
    """ConvLSTM next-frame prediction (Shi et al. 2015)."""
    return ConvLSTM(batch_first=True)


class TimeSformer(nn.Module):
    def __init__(self, dim=128, num_frames=8, image_size=96, patch=16, classes=10, depth=2):
        super().__init__()
        self.patch = patch
        n = (image_size // patch) ** 2
        self.to_patch_embedding = nn.Linear(3 * patch**2, dim)
        self.pos_emb = nn.Embedding(num_frames * n + 1, dim)
        self.cls_token = nn.Parameter(torch.randn(1, dim))
        self.layers = nn.ModuleList(
            nn.ModuleList(
                [
                    nn.MultiheadAttention(dim, 4, batch_first=True),
                    nn.MultiheadAttention(dim, 4, batch_first=True),
                    nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim)),
                ]
            )
            for _ in range(depth)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(3 * depth))
        self.to_out = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, classes))

    def forward(self, video, frame_mask=None):
        b, f, c, h, w = video.shape
        p = self.patch
        assert h % p == 0 and w % p == 0
        n = (h // p) * (w // p)
        v = video.view(b, f, c, h // p, p, w // p, p).permute(0, 1, 3, 5, 4, 6, 2)
        x = self.to_patch_embedding(v.reshape(b, f * n, p * p * c))
        x = x + self.pos_emb(torch.arange(f * n, device=video.device))
        d = x.shape[-1]
        for i, (time, space, ff) in enumerate(self.layers):
            t = self.norms[3 * i](x).view(b, f, n, d).transpose(1, 2).reshape(b * n, f, d)
            t = time(t, t, t)[0].view(b, n, f, d).transpose(1, 2).reshape(b, f * n, d)
            x = x + t
            s = self.norms[3 * i + 1](x).view(b * f, n, d)
            x = x + space(s, s, s)[0].reshape(b, f * n, d)
            x = x + ff(self.norms[3 * i + 2](x))
        return self.to_out(x.mean(1) + self.cls_token)


def timesformer() -> nn.Module:
    """TimeSformer with divided attention (Bertasius et al. 2021)."""
    return TimeSformer()


class WaveNet(nn.Module):
    def __init__(self, layers=5, blocks=2, residual=32, dilation_ch=32, skip=64, classes=256):
        super().__init__()
        self.classes = classes
        self.start_conv = nn.Conv1d(classes, residual, 1)
        self.filter_convs, self.gate_convs = nn.ModuleList(), nn.ModuleList()
        self.residual_convs, self.skip_convs = nn.ModuleList(), nn.ModuleList()
        for _ in range(blocks):
            for i in range(layers):
                self.filter_convs.append(nn.Conv1d(residual, dilation_ch, 2, dilation=2**i))
                self.gate_convs.append(nn.Conv1d(residual, dilation_ch, 2, dilation=2**i))
                self.residual_convs.append(nn.Conv1d(dilation_ch, residual, 1))
                self.skip_convs.append(nn.Conv1d(dilation_ch, skip, 1))
        self.end_conv_1, self.end_conv_2 = nn.Conv1d(skip, 256, 1), nn.Conv1d(256, classes, 1)
        self.receptive_field = blocks * (2**layers - 1) + 1

    def forward(self, input):
        x = self.start_conv(input)
        skip = 0
        for i in range(len(self.filter_convs)):
            filter = torch.tanh(self.filter_convs[i](x))
            gate = torch.sigmoid(self.gate_convs[i](x))
            y = filter * gate
            s = self.skip_convs[i](y)
            try:
                skip = skip[:, :, -s.size(2) :]
            except TypeError:
                skip = 0
            skip = s + skip
            x = self.residual_convs[i](y) + x[:, :, -y.size(2) :]
        x = F.relu(self.end_conv_1(F.relu(skip)))
        x = self.end_conv_2(x)
        n, c, length = x.size()
        return x.transpose(1, 2).contiguous().view(n * length, c)


def wavenet_mu_law() -> nn.Module:
    """WaveNet on one-hot mu-law samples (van den Oord et al. 2016)."""
    return WaveNet()


class GlobalLayerNorm(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.gamma, self.beta = (
            nn.Parameter(torch.ones(1, c, 1)),
            nn.Parameter(torch.zeros(1, c, 1)),
        )

    def forward(self, y):
        mean = y.mean(dim=1, keepdim=True).mean(dim=2, keepdim=True)
        var = (torch.pow(y - mean, 2)).mean(dim=1, keepdim=True).mean(dim=2, keepdim=True)
        return self.gamma * (y - mean) / torch.pow(var + 1e-8, 0.5) + self.beta


class ConvTasNet(nn.Module):
    def __init__(self, N=128, L=16, B=64, H=128, P=3, X=4, R=2, C=2):
        super().__init__()
        self.N, self.L, self.C = N, L, C
        self.encoder = nn.Conv1d(1, N, kernel_size=L, stride=L // 2, bias=False)
        self.decoder = nn.ConvTranspose1d(N, 1, kernel_size=L, stride=L // 2, bias=False)
        self.norm, self.bottleneck = GlobalLayerNorm(N), nn.Conv1d(N, B, 1)
        self.tcn = nn.ModuleList()
        for _ in range(R):
            for x in range(X):
                self.tcn.append(
                    nn.Sequential(
                        nn.Conv1d(B, H, 1),
                        nn.PReLU(),
                        GlobalLayerNorm(H),
                        nn.Conv1d(H, H, P, padding=2**x, dilation=2**x, groups=H),
                        nn.PReLU(),
                        GlobalLayerNorm(H),
                        nn.Conv1d(H, B, 1),
                    )
                )
        self.mask_conv = nn.Conv1d(B, C * N, 1)

    def forward(self, mixture):
        """mixture: [M, T], M is batch size, T is #samples"""
        mixture_w = F.relu(self.encoder(torch.unsqueeze(mixture, 1)))
        M, N, K = mixture_w.size()
        score = self.bottleneck(self.norm(mixture_w))
        for block in self.tcn:
            score = score + block(score)
        est_mask = F.relu(self.mask_conv(score).view(M, self.C, N, K))
        source = mixture_w.unsqueeze(1) * est_mask
        est = self.decoder(source.view(M * self.C, N, K)).view(M, self.C, -1)
        return F.pad(est, (0, mixture.size(-1) - est.size(-1)))


def conv_tasnet() -> nn.Module:
    """Conv-TasNet for two speakers (Luo and Mesgarani 2019)."""
    return ConvTasNet()


class KeywordNet(nn.Module):
    def __init__(self, config):
        super().__init__()
        n_maps = config["n_feature_maps"]
        self.conv0 = nn.Conv2d(1, n_maps, (3, 3), padding=(1, 1), bias=False)
        self.n_layers = n_layers = config["n_layers"]
        self.pool = nn.AvgPool2d(config["res_pool"])
        self.convs = [nn.Conv2d(n_maps, n_maps, 3, padding=1, bias=False) for _ in range(n_layers)]
        for i, conv in enumerate(self.convs):
            self.add_module(f"bn{i + 1}", nn.BatchNorm2d(n_maps, affine=False))
            self.add_module(f"conv{i + 1}", conv)
        self.output = nn.Linear(n_maps, config["n_labels"])

    def forward(self, x):
        x = x.unsqueeze(1)
        for i in range(self.n_layers + 1):
            y = F.relu(getattr(self, f"conv{i}")(x))
            if i == 0:
                y = self.pool(y)
                old_x = y
            if i > 0 and i % 2 == 0:
                x = y + old_x
                old_x = x
            else:
                x = y
            if i > 0:
                x = getattr(self, f"bn{i}")(x)
        x = x.view(x.size(0), x.size(1), -1)
        return self.output(torch.mean(x, 2))


def keyword_spotting_res8() -> nn.Module:
    """res8 on MFCC maps (Tang and Lin 2018)."""
    return KeywordNet(dict(n_labels=12, n_layers=6, n_feature_maps=45, res_pool=(4, 3)))


class M5(nn.Module):
    def __init__(self, n_input=1, n_output=35, stride=16, n_channel=32):
        super().__init__()
        self.conv1, self.bn1 = (
            nn.Conv1d(n_input, n_channel, 80, stride=stride),
            nn.BatchNorm1d(n_channel),
        )
        self.conv2, self.bn2 = nn.Conv1d(n_channel, n_channel, 3), nn.BatchNorm1d(n_channel)
        self.conv3, self.bn3 = nn.Conv1d(n_channel, 2 * n_channel, 3), nn.BatchNorm1d(2 * n_channel)
        self.conv4, self.bn4 = (
            nn.Conv1d(2 * n_channel, 2 * n_channel, 3),
            nn.BatchNorm1d(2 * n_channel),
        )
        self.pool = nn.MaxPool1d(4)
        self.fc1 = nn.Linear(2 * n_channel, n_output)

    def forward(self, x):
        x = self.pool(F.relu(self.bn1(self.conv1(x))))
        x = self.pool(F.relu(self.bn2(self.conv2(x))))
        x = self.pool(F.relu(self.bn3(self.conv3(x))))
        x = self.pool(F.relu(self.bn4(self.conv4(x))))
        x = F.avg_pool1d(x, x.shape[-1])
        x = x.permute(0, 2, 1)
        return F.log_softmax(self.fc1(x), dim=2)


def m5_raw_waveform() -> nn.Module:
    """M5 on raw waveforms (Dai et al. 2017)."""
    return M5()


class DeepSpeech2(nn.Module):
    def __init__(self, vocab=29, n_mels=80, hidden=256, layers=3):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 32, (41, 11), (2, 2), (20, 5)), nn.BatchNorm2d(32), nn.Hardtanh(0, 20),
            nn.Conv2d(32, 32, (21, 11), (2, 1), (10, 5)), nn.BatchNorm2d(32), nn.Hardtanh(0, 20),
        )  # fmt: skip
        self.rnns = nn.ModuleList(
            nn.GRU(32 * (n_mels // 4) if i == 0 else hidden, hidden, bidirectional=True)
            for i in range(layers)
        )
        self.fc = nn.Sequential(nn.LayerNorm(hidden), nn.Linear(hidden, vocab, bias=False))

    def get_seq_lens(self, input_length):
        seq_len = input_length
        for m in self.conv.modules():
            if type(m) is nn.Conv2d:
                seq_len = (seq_len + 2 * m.padding[1] - m.kernel_size[1]) // m.stride[1] + 1
        return seq_len.int()

    def forward(self, x, lengths):
        lengths = lengths.cpu().int()
        output_lengths = self.get_seq_lens(lengths)
        x = self.conv(x)
        sizes = x.size()
        x = x.view(sizes[0], sizes[1] * sizes[2], sizes[3])
        x = x.transpose(1, 2).transpose(0, 1).contiguous()  # TxNxH
        for rnn in self.rnns:
            x = pack_padded_sequence(x, output_lengths, enforce_sorted=False)
            x, _ = rnn(x)
            x, _ = pad_packed_sequence(x)
            x = x.view(x.size(0), x.size(1), 2, -1).sum(2).view(x.size(0), x.size(1), -1)
        return self.fc(x).transpose(0, 1).log_softmax(-1), output_lengths


def deepspeech2() -> nn.Module:
    """Deep Speech 2 with packed sequences (Amodei et al. 2016)."""
    return DeepSpeech2()


class ConformerBlock(nn.Module):
    def __init__(self, d, heads, k=31):
        super().__init__()

        def ff():
            return nn.Sequential(
                nn.LayerNorm(d),
                nn.Linear(d, 4 * d),
                nn.SiLU(),
                nn.Dropout(0.1),
                nn.Linear(4 * d, d),
            )

        self.ff1, self.ff2 = ff(), ff()
        self.attn_norm, self.attn = (
            nn.LayerNorm(d),
            nn.MultiheadAttention(d, heads, batch_first=True),
        )
        self.conv_norm = nn.LayerNorm(d)
        self.conv = nn.Sequential(
            nn.Conv1d(d, 2 * d, 1), nn.GLU(dim=1), nn.Conv1d(d, d, k, padding=k // 2, groups=d),
            nn.BatchNorm1d(d), nn.SiLU(), nn.Conv1d(d, d, 1),
        )  # fmt: skip
        self.norm = nn.LayerNorm(d)

    def forward(self, x, key_padding_mask):
        x = x + 0.5 * self.ff1(x)
        h = self.attn_norm(x)
        x = x + self.attn(h, h, h, key_padding_mask=key_padding_mask, need_weights=False)[0]
        x = x + self.conv(self.conv_norm(x).transpose(1, 2)).transpose(1, 2)
        return self.norm(x + 0.5 * self.ff2(x))


class ConformerEncoder(nn.Module):
    def __init__(self, input_dim=80, d=144, heads=4, num_layers=2, num_classes=32):
        super().__init__()
        self.subsample = nn.Sequential(
            nn.Conv2d(1, d, 3, stride=2), nn.ReLU(), nn.Conv2d(d, d, 3, stride=2), nn.ReLU()
        )
        self.input_projection = nn.Linear(d * (((input_dim - 1) // 2 - 1) // 2), d)
        self.layers = nn.ModuleList(ConformerBlock(d, heads) for _ in range(num_layers))
        self.fc = nn.Linear(d, num_classes)

    def forward(self, inputs: torch.Tensor, input_lengths: torch.Tensor):
        x = self.subsample(inputs.unsqueeze(1))
        b, c, t, f = x.size()
        x = self.input_projection(x.permute(0, 2, 1, 3).contiguous().view(b, t, c * f))
        lengths = ((input_lengths - 1) // 2 - 1) // 2
        mask = torch.arange(t, device=x.device)[None, :] >= lengths[:, None]
        for layer in self.layers:
            x = layer(x, mask)
        return F.log_softmax(self.fc(x), dim=-1), lengths


def conformer_ctc() -> nn.Module:
    """Conformer encoder with CTC head (Gulati et al. 2020)."""
    return ConformerEncoder()


class Tacotron2Decoder(nn.Module):
    def __init__(self, n_mels=80, enc_dim=256, prenet=128, rnn=256, att=128):
        super().__init__()
        self.n_mels, self.rnn_dim = n_mels, rnn
        self.embedding = nn.Embedding(148, enc_dim)
        self.encoder = nn.LSTM(enc_dim, enc_dim // 2, batch_first=True, bidirectional=True)
        self.prenet = nn.Sequential(nn.Linear(n_mels, prenet), nn.ReLU(), nn.Linear(prenet, prenet))
        self.attention_rnn = nn.LSTMCell(prenet + enc_dim, rnn)
        self.query, self.memory_layer = nn.Linear(rnn, att, bias=False), nn.Linear(enc_dim, att)
        self.v = nn.Linear(att, 1, bias=False)
        self.linear_projection = nn.Linear(rnn + enc_dim, n_mels)
        self.gate_layer = nn.Linear(rnn + enc_dim, 1)

    def forward(self, text, mel_target):
        memory, _ = self.encoder(self.embedding(text))
        B, T = mel_target.size(0), mel_target.size(2)
        processed = self.memory_layer(memory)
        go = mel_target.new_zeros(B, 1, self.n_mels)
        frames = self.prenet(torch.cat([go, mel_target.transpose(1, 2)[:, :-1]], dim=1))
        h = memory.new_zeros(B, self.rnn_dim)
        c = memory.new_zeros(B, self.rnn_dim)
        context = memory.new_zeros(B, memory.size(2))
        mels, gates = [], []
        while len(mels) < T:
            h, c = self.attention_rnn(torch.cat((frames[:, len(mels)], context), -1), (h, c))
            energies = self.v(torch.tanh(self.query(h).unsqueeze(1) + processed)).squeeze(-1)
            context = torch.bmm(F.softmax(energies, dim=1).unsqueeze(1), memory).squeeze(1)
            hc = torch.cat((h, context), dim=1)
            mels += [self.linear_projection(hc)]
            gates += [self.gate_layer(hc)]
        return torch.stack(mels, dim=2), torch.cat(gates, dim=1)


def tacotron2_decoder() -> nn.Module:
    """Tacotron 2's attention decoder, teacher forced (Shen et al. 2018)."""
    return Tacotron2Decoder()


class CRNN(nn.Module):
    def __init__(self, imgH=32, nc=1, nclass=37, nh=256):
        super().__init__()
        assert imgH % 16 == 0, "imgH has to be a multiple of 16"
        ks, ps, nm = (
            [3, 3, 3, 3, 3, 3, 2],
            [1, 1, 1, 1, 1, 1, 0],
            [64, 128, 256, 256, 512, 512, 512],
        )
        cnn = nn.Sequential()

        def convRelu(i, batchNormalization=False):
            nIn = nc if i == 0 else nm[i - 1]
            cnn.add_module(f"conv{i}", nn.Conv2d(nIn, nm[i], ks[i], 1, ps[i]))
            if batchNormalization:
                cnn.add_module(f"batchnorm{i}", nn.BatchNorm2d(nm[i]))
            cnn.add_module(f"relu{i}", nn.ReLU(True))

        convRelu(0)
        cnn.add_module("pooling0", nn.MaxPool2d(2, 2))
        convRelu(1)
        cnn.add_module("pooling1", nn.MaxPool2d(2, 2))
        convRelu(2, True)
        convRelu(3)
        cnn.add_module("pooling2", nn.MaxPool2d((2, 2), (2, 1), (0, 1)))
        convRelu(4, True)
        convRelu(5)
        cnn.add_module("pooling3", nn.MaxPool2d((2, 2), (2, 1), (0, 1)))
        convRelu(6, True)
        self.cnn = cnn
        self.rnn = nn.LSTM(512, nh, num_layers=2, bidirectional=True)
        self.embedding = nn.Linear(nh * 2, nclass)

    def forward(self, input):
        conv = self.cnn(input)
        _, _, h, _ = conv.size()
        assert h == 1, "the height of conv must be 1"
        conv = conv.squeeze(2).permute(2, 0, 1)  # [w, b, c]
        recurrent, _ = self.rnn(conv)
        T, b, h = recurrent.size()
        return self.embedding(recurrent.view(T * b, h)).view(T, b, -1)


def crnn_text_line() -> nn.Module:
    """CRNN for text lines (Shi et al. 2017)."""
    return CRNN()


class HiFiGenerator(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.num_kernels = len(h["resblock_kernel_sizes"])
        ch = h["upsample_initial_channel"]
        self.conv_pre = nn.Conv1d(80, ch, 7, 1, padding=3)
        self.ups, self.resblocks = nn.ModuleList(), nn.ModuleList()
        for u, k in zip(h["upsample_rates"], h["upsample_kernel_sizes"], strict=True):
            self.ups.append(nn.ConvTranspose1d(ch, ch // 2, k, u, padding=(k - u) // 2))
            ch //= 2
            for ks in h["resblock_kernel_sizes"]:
                self.resblocks.append(
                    nn.ModuleList(
                        nn.Conv1d(ch, ch, ks, dilation=d, padding=(ks * d - d) // 2) for d in (1, 3)
                    )
                )
        self.conv_post = nn.Conv1d(ch, 1, 7, 1, padding=3)

    def forward(self, x):
        x = self.conv_pre(x)
        for i, up in enumerate(self.ups):
            x = up(F.leaky_relu(x, 0.1))
            xs = None
            for j in range(self.num_kernels):
                y = x
                for c in self.resblocks[i * self.num_kernels + j]:
                    y = y + c(F.leaky_relu(y, 0.1))
                if xs is None:
                    xs = y
                else:
                    xs += y
            x = xs / self.num_kernels
        return torch.tanh(self.conv_post(F.leaky_relu(x)))


def hifigan_generator() -> nn.Module:
    """HiFi-GAN vocoder on mel spectrograms (Kong et al. 2020)."""
    return HiFiGenerator(
        {
            "resblock_kernel_sizes": [3, 7],
            "upsample_rates": [8, 8, 4],
            "upsample_kernel_sizes": [16, 16, 8],
            "upsample_initial_channel": 128,
        }
    )


class SincConv(nn.Module):
    def __init__(self, out_channels=40, kernel_size=101, sample_rate=16000):
        super().__init__()
        self.kernel_size = kernel_size
        mel = torch.linspace(30, 2595 * math.log10(1 + 8000 / 700), out_channels + 1)
        hz = 700 * (10 ** (mel / 2595) - 1) / sample_rate
        self.low_hz_ = nn.Parameter(hz[:-1].view(-1, 1))
        self.band_hz_ = nn.Parameter((hz[1:] - hz[:-1]).view(-1, 1))
        n = torch.arange(-(kernel_size // 2), kernel_size // 2 + 1).float()
        self.register_buffer("n_", n.view(1, -1))
        self.register_buffer("window_", 0.54 - 0.46 * torch.cos(2 * math.pi * n / kernel_size))

    def forward(self, waveforms):
        low = self.low_hz_.abs()
        high = torch.clamp(low + self.band_hz_.abs(), max=0.5)
        band = 2 * high * torch.sinc(2 * high * self.n_) - 2 * low * torch.sinc(2 * low * self.n_)
        band = band * self.window_ / band.amax(dim=1, keepdim=True)
        return F.conv1d(waveforms, band.unsqueeze(1), stride=10, padding=self.kernel_size // 2)


def sincnet_speaker() -> nn.Module:
    """SincNet front end with statistics pooling (Ravanelli and Bengio 2018)."""

    class SpeakerNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.sinc, self.norm = SincConv(), nn.InstanceNorm1d(40, affine=True)
            self.tdnn = nn.Sequential(
                nn.Conv1d(40, 64, 5, dilation=1), nn.ReLU(), nn.BatchNorm1d(64),
                nn.Conv1d(64, 64, 3, dilation=2), nn.ReLU(), nn.BatchNorm1d(64),
            )  # fmt: skip
            self.fc = nn.Linear(128, 251)

        def forward(self, wav):
            if wav.dim() == 2:
                wav = wav.unsqueeze(1)
            h = self.tdnn(self.norm(torch.abs(self.sinc(wav))))
            stats = torch.cat((h.mean(dim=2), h.std(dim=2)), dim=1)
            return self.fc(stats)

    return SpeakerNet()
