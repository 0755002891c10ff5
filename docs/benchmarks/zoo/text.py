"""Language: classifiers, language models, sequence to sequence."""

import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


class TextCNN(nn.Module):
    def __init__(self, vocab_size=20000, embed_dim=128, n_filters=100, filter_sizes=(3, 4, 5)):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim, padding_idx=1)
        self.convs = nn.ModuleList(
            [nn.Conv2d(1, n_filters, (fs, embed_dim)) for fs in filter_sizes]
        )
        self.fc = nn.Linear(len(filter_sizes) * n_filters, 2)
        self.dropout = nn.Dropout(0.5)

    def forward(self, text):
        # text = [batch size, sent len]
        embedded = self.embedding(text)
        embedded = embedded.unsqueeze(1)
        conved = [F.relu(conv(embedded)).squeeze(3) for conv in self.convs]
        pooled = [F.max_pool1d(conv, conv.shape[2]).squeeze(2) for conv in conved]
        return self.fc(self.dropout(torch.cat(pooled, dim=1)))


def text_cnn() -> nn.Module:
    """Convolutions for sentence classification (Kim 2014)."""
    return TextCNN()


class BiLSTMAttention(nn.Module):
    def __init__(self, vocab_size=10000, hidden_dim=128, n_layers=2, num_classes=5):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.word_embeddings = nn.Embedding(vocab_size, 100)
        self.lstm = nn.LSTM(100, hidden_dim, n_layers, bidirectional=True, batch_first=True)
        self.w_omega = nn.Parameter(torch.zeros(hidden_dim * 2, hidden_dim))
        self.u_omega = nn.Parameter(torch.zeros(hidden_dim, 1))
        self.decoder = nn.Linear(2 * hidden_dim, num_classes)

    def forward(self, X, mask=None):
        input = self.word_embeddings(X)
        h0 = torch.zeros(4, X.size(0), self.hidden_dim).to(input.device)
        c0 = torch.zeros(4, X.size(0), self.hidden_dim).to(input.device)
        output, (_final_hidden, _) = self.lstm(input, (h0, c0))
        u = torch.tanh(torch.matmul(output, self.w_omega))
        att = torch.matmul(u, self.u_omega)
        if mask is not None:
            att = att.masked_fill(mask.unsqueeze(-1) == 0, -1e9)
        att_score = F.softmax(att, dim=1)
        feat = torch.sum(output * att_score, dim=1)
        return self.decoder(feat), att_score


def bilstm_attention() -> nn.Module:
    """Bidirectional LSTM with word attention (Zhou et al. 2016)."""
    return BiLSTMAttention()


class HAN(nn.Module):
    def __init__(self, vocab_size=5000, emb=64, hid=50, n_class=5):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, emb)
        self.word_gru = nn.GRU(emb, hid, bidirectional=True, batch_first=True)
        self.word_fc, self.word_ctx = nn.Linear(2 * hid, 2 * hid), nn.Linear(2 * hid, 1, bias=False)
        self.sent_gru = nn.GRU(2 * hid, hid, bidirectional=True, batch_first=True)
        self.sent_fc, self.sent_ctx = nn.Linear(2 * hid, 2 * hid), nn.Linear(2 * hid, 1, bias=False)
        self.out = nn.Linear(2 * hid, n_class)

    def forward(self, docs):
        batch, n_sents, n_words = docs.size()
        w, _ = self.word_gru(self.emb(docs.view(batch * n_sents, n_words)))
        a = F.softmax(self.word_ctx(torch.tanh(self.word_fc(w))), 1)
        sents = (a * w).sum(1).view(batch, n_sents, -1)
        s, _ = self.sent_gru(sents)
        b = F.softmax(self.sent_ctx(torch.tanh(self.sent_fc(s))), 1)
        return self.out((b * s).sum(1))


def hierarchical_attention() -> nn.Module:
    """Hierarchical attention over documents (Yang et al. 2016)."""
    return HAN()


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout=0.1, max_len=5000):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        pe = pe.unsqueeze(0).transpose(0, 1)
        self.register_buffer("pe", pe)

    def forward(self, x):
        x = x + self.pe[: x.size(0), :]
        return self.dropout(x)


class TransformerModel(nn.Module):
    def __init__(self, ntoken, ninp, nhead, nhid, nlayers, dropout=0.5):
        super().__init__()
        self.src_mask = None
        self.pos_encoder = PositionalEncoding(ninp, dropout)
        encoder_layers = nn.TransformerEncoderLayer(ninp, nhead, nhid, dropout)
        self.transformer_encoder = nn.TransformerEncoder(encoder_layers, nlayers)
        self.input_emb = nn.Embedding(ntoken, ninp)
        self.ninp = ninp
        self.decoder = nn.Linear(ninp, ntoken)

    def _generate_square_subsequent_mask(self, sz):
        return torch.log(torch.tril(torch.ones(sz, sz)))

    def forward(self, src, has_mask=True):
        if has_mask:
            device = src.device
            if self.src_mask is None or self.src_mask.size(0) != len(src):
                mask = self._generate_square_subsequent_mask(len(src)).to(device)
                self.src_mask = mask
        else:
            self.src_mask = None
        src = self.input_emb(src) * math.sqrt(self.ninp)
        src = self.pos_encoder(src)
        output = self.transformer_encoder(src, mask=self.src_mask)
        output = self.decoder(output)
        return F.log_softmax(output, dim=-1)


def transformer_wikitext() -> nn.Module:
    """Transformer language model with a cached mask, as in the word_language_model example."""
    return TransformerModel(33278, 200, 2, 200, 2, 0.2)


class MultiHead(nn.Module):
    def __init__(self, d_model, h):
        super().__init__()
        self.d_k, self.h = d_model // h, h
        self.q_linear, self.v_linear = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.k_linear, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        bs = q.size(0)
        k = self.k_linear(k).view(bs, -1, self.h, self.d_k).transpose(1, 2)
        q = self.q_linear(q).view(bs, -1, self.h, self.d_k).transpose(1, 2)
        v = self.v_linear(v).view(bs, -1, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask.unsqueeze(1) == 0, -1e9)
        out = torch.matmul(F.softmax(scores, dim=-1), v)
        return self.out(out.transpose(1, 2).contiguous().view(bs, -1, self.h * self.d_k))


class EncDecLayer(nn.Module):
    def __init__(self, d, h, cross):
        super().__init__()
        self.self_attn, self.cross = MultiHead(d, h), MultiHead(d, h) if cross else None
        self.ff = nn.Sequential(
            nn.Linear(d, 4 * d), nn.ReLU(), nn.Dropout(0.1), nn.Linear(4 * d, d)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(3))

    def forward(self, x, mask, memory=None, memory_mask=None):
        x2 = self.norms[0](x)
        x = x + self.self_attn(x2, x2, x2, mask)
        if self.cross is not None:
            x = x + self.cross(self.norms[1](x), memory, memory, memory_mask)
        return x + self.ff(self.norms[2](x))


class Seq2SeqTransformer(nn.Module):
    def __init__(self, src_vocab, trg_vocab, src_pad_idx=0, trg_pad_idx=0, d=256, N=2, heads=8):
        super().__init__()
        self.src_pad_idx, self.trg_pad_idx = src_pad_idx, trg_pad_idx
        self.src_emb, self.trg_emb = nn.Embedding(src_vocab, d), nn.Embedding(trg_vocab, d)
        self.pos = nn.Embedding(512, d)
        self.encoder = nn.ModuleList(EncDecLayer(d, heads, False) for _ in range(N))
        self.decoder = nn.ModuleList(EncDecLayer(d, heads, True) for _ in range(N))
        self.out = nn.Linear(d, trg_vocab)

    def make_src_mask(self, src):
        return (src != self.src_pad_idx).unsqueeze(-2)

    def make_trg_mask(self, trg):
        n = trg.shape[1]
        sub = torch.tril(torch.ones((1, n, n), device=trg.device)).bool()
        return (trg != self.trg_pad_idx).unsqueeze(-2) & sub

    def forward(self, src, trg):
        src_mask, trg_mask = self.make_src_mask(src), self.make_trg_mask(trg)
        x = self.src_emb(src) + self.pos(torch.arange(src.shape[1], device=src.device))
        for layer in self.encoder:
            x = layer(x, src_mask)
        y = self.trg_emb(trg) + self.pos(torch.arange(trg.shape[1], device=trg.device))
        for layer in self.decoder:
            y = layer(y, trg_mask, x, src_mask)
        return self.out(y)


def transformer_translation() -> nn.Module:
    """Transformer for translation (Vaswani et al. 2017)."""
    return Seq2SeqTransformer(8000, 6000)


@dataclass
class GPTConfig:
    block_size: int = 256
    vocab_size: int = 50304
    n_layer: int = 3
    n_head: int = 6
    n_embd: int = 192
    dropout: float = 0.0
    bias: bool = True


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        assert config.n_embd % config.n_head == 0
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.bias)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd, bias=config.bias)
        self.n_head, self.n_embd = config.n_head, config.n_embd
        bias = torch.tril(torch.ones(config.block_size, config.block_size))
        self.register_buffer("bias", bias.view(1, 1, config.block_size, config.block_size))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class GPT(nn.Module):
    def __init__(self, config: GPTConfig):
        super().__init__()
        self.config = config
        d = config.n_embd
        self.transformer = nn.ModuleDict(
            dict(
                wte=nn.Embedding(config.vocab_size, d),
                wpe=nn.Embedding(config.block_size, d),
                ln=nn.ModuleList([nn.LayerNorm(d) for _ in range(2 * config.n_layer)]),
                attn=nn.ModuleList([CausalSelfAttention(config) for _ in range(config.n_layer)]),
                mlp=nn.ModuleList(
                    nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
                    for _ in range(config.n_layer)
                ),
                ln_f=nn.LayerNorm(d),
            )
        )
        self.lm_head = nn.Linear(d, config.vocab_size, bias=False)
        self.transformer.wte.weight = self.lm_head.weight

    def forward(self, idx, targets=None):
        _b, t = idx.size()
        assert t <= self.config.block_size, f"Cannot forward sequence of length {t}"
        pos = torch.arange(0, t, dtype=torch.long, device=idx.device)
        x = self.transformer.wte(idx) + self.transformer.wpe(pos)
        for i in range(self.config.n_layer):
            x = x + self.transformer.attn[i](self.transformer.ln[2 * i](x))
            x = x + self.transformer.mlp[i](self.transformer.ln[2 * i + 1](x))
        x = self.transformer.ln_f(x)
        if targets is not None:
            logits = self.lm_head(x)
            loss = F.cross_entropy(
                logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1
            )
        else:
            logits = self.lm_head(x[:, [-1], :])
            loss = None
        return logits, loss


def nano_gpt() -> nn.Module:
    """GPT-2 in the manner of nanoGPT (Radford et al. 2019)."""
    return GPT(GPTConfig())


class RMSNorm(nn.Module):
    def __init__(self, d, eps=1e-5):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.ones(d))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class MambaBlock(nn.Module):
    def __init__(self, d_model, d_state=16, expand=2, d_conv=4):
        super().__init__()
        self.d_inner, self.dt_rank, self.n = expand * d_model, math.ceil(d_model / 16), d_state
        self.in_proj = nn.Linear(d_model, self.d_inner * 2, bias=False)
        self.conv1d = nn.Conv1d(
            self.d_inner, self.d_inner, d_conv, groups=self.d_inner, padding=d_conv - 1
        )
        self.x_proj = nn.Linear(self.d_inner, self.dt_rank + d_state * 2, bias=False)
        self.dt_proj = nn.Linear(self.dt_rank, self.d_inner, bias=True)
        A = torch.arange(1, d_state + 1).float().repeat(self.d_inner, 1)
        self.A_log, self.D = nn.Parameter(torch.log(A)), nn.Parameter(torch.ones(self.d_inner))
        self.out_proj = nn.Linear(self.d_inner, d_model, bias=False)

    def forward(self, x):
        (b, n_tok, _d) = x.shape
        x, res = self.in_proj(x).split(split_size=[self.d_inner, self.d_inner], dim=-1)
        x = F.silu(self.conv1d(x.transpose(1, 2))[:, :, :n_tok].transpose(1, 2))
        A = -torch.exp(self.A_log.float())
        delta, B, C = self.x_proj(x).split([self.dt_rank, self.n, self.n], dim=-1)
        delta = F.softplus(self.dt_proj(delta))
        deltaA = torch.exp(torch.einsum("bld,dn->bldn", delta, A))
        deltaB_u = torch.einsum("bld,bln,bld->bldn", delta, B, x)
        h = torch.zeros((b, self.d_inner, self.n), device=deltaA.device)
        ys = []
        for i in range(n_tok):
            h = deltaA[:, i] * h + deltaB_u[:, i]
            ys.append(torch.einsum("bdn,bn->bd", h, C[:, i, :]))
        y = torch.stack(ys, dim=1) + x * self.D
        return self.out_proj(y * F.silu(res))


class Mamba(nn.Module):
    def __init__(self, d_model=128, n_layer=2, vocab_size=5000):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList([MambaBlock(d_model) for _ in range(n_layer)])
        self.norms = nn.ModuleList([RMSNorm(d_model) for _ in range(n_layer + 1)])
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, input_ids):
        x = self.embedding(input_ids)
        for norm, layer in zip(self.norms, self.layers, strict=False):
            x = x + layer(norm(x))
        return self.lm_head(self.norms[-1](x))


def mamba_minimal() -> nn.Module:
    """Mamba with a sequential scan (Gu and Dao 2023)."""
    return Mamba()


class RWKVBlock(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.mix = nn.ParameterDict(
            {n: nn.Parameter(torch.rand(1, 1, d)) for n in ("k", "v", "r", "c")}
        )
        self.time_decay, self.time_first = (
            nn.Parameter(torch.zeros(d)),
            nn.Parameter(torch.zeros(d)),
        )
        self.key, self.value = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)
        self.receptance, self.output = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)
        self.ffn_k, self.ffn_v = nn.Linear(d, 4 * d, bias=False), nn.Linear(4 * d, d, bias=False)
        self.time_shift = nn.ZeroPad2d((0, 0, 1, -1))

    def wkv(self, k, v):
        w, u = -torch.exp(self.time_decay), self.time_first
        num = torch.zeros_like(k[:, 0])
        den = torch.zeros_like(k[:, 0])
        out = torch.empty_like(v)
        for t in range(k.shape[1]):
            e = torch.exp(u + k[:, t])
            out[:, t] = (num + e * v[:, t]) / (den + e)
            num = torch.exp(w) * num + torch.exp(k[:, t]) * v[:, t]
            den = torch.exp(w) * den + torch.exp(k[:, t])
        return out

    def forward(self, x):
        h = self.ln1(x)
        hh = self.time_shift(h)
        k, v, r = (
            f(h * self.mix[n] + hh * (1 - self.mix[n]))
            for f, n in ((self.key, "k"), (self.value, "v"), (self.receptance, "r"))
        )
        x = x + self.output(torch.sigmoid(r) * self.wkv(k, v))
        h = self.ln2(x)
        h = h * self.mix["c"] + self.time_shift(h) * (1 - self.mix["c"])
        return x + self.ffn_v(torch.square(torch.relu(self.ffn_k(h))))


class RWKV(nn.Module):
    def __init__(self, vocab=6000, d=96, layers=2, ctx_len=128):
        super().__init__()
        self.ctx_len = ctx_len
        self.emb, self.ln0 = nn.Embedding(vocab, d), nn.LayerNorm(d)
        self.blocks = nn.ModuleList(RWKVBlock(d) for _ in range(layers))
        self.ln_out, self.head = nn.LayerNorm(d), nn.Linear(d, vocab, bias=False)

    def forward(self, idx, targets=None):
        _, T = idx.size()
        assert T <= self.ctx_len, "Cannot forward, because len(input) > model ctx_len."
        x = self.ln0(self.emb(idx))
        for block in self.blocks:
            x = block(x)
        x = self.head(self.ln_out(x))
        if targets is None:
            return x
        return F.cross_entropy(x.view(-1, x.size(-1)), targets.view(-1))


def rwkv_v4() -> nn.Module:
    """RWKV-4 as a recurrence (Peng et al. 2023)."""
    return RWKV()


class PointerNet(nn.Module):
    def __init__(self, embedding_dim=128, hidden_dim=256):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.embedding = nn.Linear(2, embedding_dim)
        self.encoder = nn.LSTM(embedding_dim, hidden_dim, batch_first=True)
        self.decoder = nn.LSTMCell(embedding_dim, hidden_dim)
        self.W1, self.W2 = nn.Linear(hidden_dim, hidden_dim), nn.Linear(hidden_dim, hidden_dim)
        self.V = nn.Parameter(torch.empty(hidden_dim).uniform_(-1, 1))
        self.decoder_input0 = nn.Parameter(torch.zeros(embedding_dim))

    def forward(self, inputs):
        batch_size, input_length, _ = inputs.size()
        embedded = self.embedding(inputs.view(batch_size * input_length, -1))
        embedded = embedded.view(batch_size, input_length, -1)
        enc, (h, c) = self.encoder(embedded)
        h, c = h[-1], c[-1]
        mask = torch.ones(batch_size, input_length).to(inputs.device)
        runner = (
            torch.arange(input_length).unsqueeze(0).expand(batch_size, -1).long().to(inputs.device)
        )
        x = self.decoder_input0.unsqueeze(0).expand(batch_size, -1)
        outputs, pointers = [], []
        for _ in range(input_length):
            h, c = self.decoder(x, (h, c))
            att = torch.tanh(self.W1(enc) + self.W2(h).unsqueeze(1)) @ self.V
            outs = torch.softmax(att.masked_fill(mask == 0, float("-inf")), dim=-1)
            _, indices = outs.max(1)
            one_hot = (runner == indices.unsqueeze(1).expand(-1, outs.size(1))).float()
            mask = mask * (1 - one_hot)
            sel = one_hot.unsqueeze(2).expand(-1, -1, embedded.size(2)).bool()
            x = embedded[sel].view(batch_size, -1)
            outputs.append(outs.unsqueeze(0))
            pointers.append(indices.unsqueeze(1))
        return torch.cat(outputs).permute(1, 0, 2), torch.cat(pointers, 1)


def pointer_network_tsp() -> nn.Module:
    """Pointer network on planar points (Vinyals et al. 2015)."""
    return PointerNet()


class Seq2Seq(nn.Module):
    def __init__(self, input_dim=7853, output_dim=5893, emb=128, hid=256, n_layers=2):
        super().__init__()
        self.output_dim = output_dim
        self.enc_emb, self.dec_emb = nn.Embedding(input_dim, emb), nn.Embedding(output_dim, emb)
        self.enc, self.dec = nn.LSTM(emb, hid, n_layers), nn.LSTM(emb, hid, n_layers)
        self.fc_out = nn.Linear(hid, output_dim)

    def forward(self, src, trg, teacher_forcing_ratio=0.5):
        # src = [src len, batch size], trg = [trg len, batch size]
        batch_size = trg.shape[1]
        trg_len = trg.shape[0]
        outputs = torch.zeros(trg_len, batch_size, self.output_dim).to(src.device)
        _, (hidden, cell) = self.enc(self.enc_emb(src))
        input = trg[0, :]
        for t in range(1, trg_len):
            out, (hidden, cell) = self.dec(self.dec_emb(input.unsqueeze(0)), (hidden, cell))
            output = self.fc_out(out.squeeze(0))
            outputs[t] = output
            teacher_force = bool(torch.rand(1, device="cpu") < teacher_forcing_ratio)
            top1 = output.argmax(1)
            input = trg[t] if teacher_force else top1
        return outputs


def seq2seq_teacher_forcing() -> nn.Module:
    """LSTM sequence to sequence (Sutskever et al. 2014)."""
    return Seq2Seq()


class MemN2N(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.max_hops = settings["max_hops"]
        for hop in range(self.max_hops + 1):
            C = nn.Embedding(settings["num_vocab"], settings["embedding_dim"], padding_idx=0)
            C.weight.data.normal_(0, 0.1)
            self.add_module(f"C_{hop}", C)

    def forward(self, query, story):
        # query: (batch, words), story: (batch, sentences, words)
        story_size = story.size()
        u = [torch.sum(self.C_0(query), 1)]
        for hop in range(self.max_hops):
            C, C_next = getattr(self, f"C_{hop}"), getattr(self, f"C_{hop + 1}")
            m_A = C(story.view(story.size(0), -1))
            m_A = torch.sum(m_A.view((*story_size, m_A.size(-1))), 2)
            u_temp = u[-1].unsqueeze(1).expand_as(m_A)
            prob = F.softmax(torch.sum(m_A * u_temp, 2), dim=-1)
            m_C = C_next(story.view(story.size(0), -1))
            m_C = torch.sum(m_C.view((*story_size, m_C.size(-1))), 2)
            o_k = torch.sum(m_C * prob.unsqueeze(2).expand_as(m_C), 1)
            u.append(u[-1] + o_k)
        a_hat = u[-1] @ getattr(self, f"C_{self.max_hops}").weight.transpose(0, 1)
        return a_hat, F.softmax(a_hat, dim=-1)


def end_to_end_memory_network() -> nn.Module:
    """End-to-end memory network for bAbI (Sukhbaatar et al. 2015)."""
    return MemN2N(dict(max_hops=3, num_vocab=180, embedding_dim=64))


class ESIM(nn.Module):
    def __init__(self, vocab=12000, emb=100, hidden=100, classes=3):
        super().__init__()
        self.word_emb, self.encoding = (
            nn.Embedding(vocab, emb),
            nn.LSTM(emb, hidden, batch_first=True, bidirectional=True),
        )
        self.projection = nn.Sequential(nn.Linear(8 * hidden, hidden), nn.ReLU())
        self.composition = nn.LSTM(hidden, hidden, batch_first=True, bidirectional=True)
        self.classifier = nn.Sequential(
            nn.Linear(8 * hidden, hidden), nn.Tanh(), nn.Linear(hidden, classes)
        )

    def forward(self, premises, premises_lengths, hypotheses, hypotheses_lengths):
        pm = torch.arange(premises.size(1), device=premises.device) < premises_lengths[:, None]
        hm = (
            torch.arange(hypotheses.size(1), device=hypotheses.device) < hypotheses_lengths[:, None]
        )
        p, _ = self.encoding(self.word_emb(premises))
        h, _ = self.encoding(self.word_emb(hypotheses))
        e = p.bmm(h.transpose(1, 2))
        p_att = F.softmax(e.masked_fill(~hm[:, None, :], -1e7), -1).bmm(h)
        h_att = F.softmax(e.masked_fill(~pm[:, :, None], -1e7), 1).transpose(1, 2).bmm(p)

        def compose(x, a, mask):
            v, _ = self.composition(self.projection(torch.cat([x, a, x - a, x * a], dim=-1)))
            mask = mask.unsqueeze(-1).float()
            avg = (v * mask).sum(1) / mask.sum(1)
            mx = (v * mask + (1 - mask) * -1e7).max(dim=1)[0]
            return [avg, mx]

        v = torch.cat(compose(p, p_att, pm) + compose(h, h_att, hm), dim=1)
        logits = self.classifier(v)
        return logits, F.softmax(logits, dim=-1)


def esim_nli() -> nn.Module:
    """ESIM for natural language inference (Chen et al. 2017)."""
    return ESIM()


class BertForPretraining(nn.Module):
    def __init__(self, vocab_size=30000, hidden=192, n_layers=2, heads=6, max_len=512):
        super().__init__()
        self.token, self.segment = (
            nn.Embedding(vocab_size, hidden, padding_idx=0),
            nn.Embedding(3, hidden),
        )
        self.position = nn.Embedding(max_len, hidden)
        layer = nn.TransformerEncoderLayer(
            hidden, heads, hidden * 4, activation="gelu", batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, n_layers, enable_nested_tensor=False)
        self.nsp, self.mlm = nn.Linear(hidden, 2), nn.Linear(hidden, vocab_size)

    def forward(self, batch):
        x, segment_label = batch["bert_input"], batch["segment_label"]
        pad = x == 0
        pos = torch.arange(x.size(1), device=x.device).unsqueeze(0)
        h = self.token(x) + self.position(pos) + self.segment(segment_label)
        h = self.encoder(h, src_key_padding_mask=pad)
        return {
            "nsp": self.nsp(h[:, 0]).log_softmax(-1),
            "mlm": self.mlm(h).log_softmax(-1),
        }


def bert_pretraining_batch() -> nn.Module:
    """BERT with both pre-training heads on a dict batch (Devlin et al. 2019)."""
    return BertForPretraining()
